"""
Asks the model's endpoint one small question before any shard does.

The evaluator scores every answer of a dead endpoint or a wrong key as 0 and ends well, after minutes of retries; so
it is found out first, and said.
"""

import http.client
import json
import socket
import ssl
import time
from collections.abc import Callable, Iterable
from functools import partial
from urllib.parse import urlsplit

from .failure import RunFailure, last_line
from .key import Keys
from .redaction import redact
from .request import RunRequest

TIMEOUT_S = 60.0
"""A model that is loaded at its first question takes its time."""

PAUSES_S = (1.0, 2.0)
"""Before a second and a third try, when the server says that the fault is its own."""

NOT_ASKED = "No question was asked."


def endpoint_checks(request: RunRequest, keys: Keys) -> list[Callable[[], None]]:
    """
    The checks of what the run asks: the model's endpoint, unless it only scores, and the judge's, when there is one.
    Each may be done again and again.
    """
    checks: list[Callable[[], None]] = []
    if request.task == "ask":
        checks.append(partial(check_endpoint, request.model_url, request.model_id, keys.model))
    if request.judge:
        judge = request.judge
        checks.append(partial(_check_judge, judge.url, judge.model_id, keys.judge))
    return checks


def check_all(checks: Iterable[Callable[[], None]]) -> None:
    """Does them one after the other: the first that fails says why nothing is asked."""
    for check in checks:
        check()


def _check_judge(url: str, model_id: str, key: str | None) -> None:
    try:
        check_endpoint(url, model_id, key)
    except RunFailure as failure:
        raise RunFailure(failure.reason, f"The judge cannot be asked. {failure.message}") from failure


def check_endpoint(model_url: str, model_id: str, key: str | None, timeout: float = TIMEOUT_S) -> None:
    """
    Returns when the endpoint gives a chat completion (or is merely busy).

    :raises RunFailure: reason `endpoint`, with what is wrong and what to do.
    """
    question: dict[str, object] = {
        "model": model_id,
        "messages": [{"role": "user", "content": "Reply with the word ready."}],
        "temperature": 0.0,
    }
    status, said = _ask(model_url, key, {**question, "max_tokens": 1}, timeout)
    if status == 400:
        # Some models refuse `max_tokens`. The benchmark's questions carry none, so neither must decide this.
        status, said = _ask(model_url, key, question, timeout)
    for pause in PAUSES_S:
        if status < 500:
            break
        time.sleep(pause)
        status, said = _ask(model_url, key, question, timeout)
    _judge(model_url, model_id, key, status, said)


def _ask(model_url: str, key: str | None, question: dict[str, object], timeout: float) -> tuple[int, str]:
    parts = urlsplit(model_url)
    # http.client and not urllib: like the evaluator's client it goes directly, whatever proxy the environment names.
    connect = http.client.HTTPSConnection if parts.scheme == "https" else http.client.HTTPConnection
    connection = connect(parts.hostname or "", parts.port, timeout=timeout)
    headers = {"Content-Type": "application/json"} | ({"Authorization": f"Bearer {key}"} if key else {})
    try:
        connection.request("POST", _chat_path(model_url), json.dumps(question), headers)
        response = connection.getresponse()
        return response.status, response.read().decode("utf-8", "replace")
    except (OSError, http.client.HTTPException) as error:
        raise RunFailure("endpoint", _unreachable(model_url, error, timeout)) from error
    finally:
        connection.close()


def _chat_path(model_url: str) -> str:
    path = urlsplit(model_url.rstrip("/").removesuffix("/chat/completions")).path
    return f"{path}/chat/completions"


def _unreachable(model_url: str, error: Exception, timeout: float) -> str:
    match error:
        case ConnectionRefusedError():
            what = f"Nothing listens at the endpoint {model_url} (connection refused)"
            next_step = "Start the model's server or correct the address"
        case socket.gaierror():
            what = f"The host of the endpoint {model_url} is not known on the machine of the cluster"
            next_step = "Correct the address"
        case TimeoutError():
            what = f"The endpoint {model_url} did not answer within {timeout:g} seconds"
            next_step = "Check the model's server"
        case ssl.SSLError():
            what = f"The endpoint {model_url} could not be reached safely ({error.reason or 'TLS error'})"
            next_step = "Check its certificate, or whether the address begins with http instead of https"
        case _:
            what = f"The endpoint {model_url} could not be reached ({last_line(error)})"
            next_step = "Check the address and the network"
    return f"{what}. {NOT_ASKED} {next_step} and try again."


def _judge(model_url: str, model_id: str, key: str | None, status: int, said: str) -> None:
    if status == 429:
        # Busy, not broken: the evaluator waits and asks again.
        return
    if status == 200 and _is_completion(said):
        return
    match status:
        case 200:
            what = "answered, but not with a chat completion"
            next_step = "Give the address of an OpenAI-compatible API, which ends in /v1,"
        case 401 | 403 if key:
            what, next_step = f"refused the key (HTTP {status})", "Check the key"
        case 401 | 403:
            what, next_step = f"wants a key (HTTP {status})", "Give a key"
        case 404:
            what = f"does not know the model {model_id}, or has no chat completions there (HTTP 404)"
            next_step = "Check the model's name and that the address ends in /v1"
        case _ if 300 <= status < 400:
            what, next_step = f"sends the question elsewhere (HTTP {status})", "Give the address it sends to"
        case _ if status >= 500:
            what, next_step = f"failed (HTTP {status})", "Check the model's server"
        case _:
            what, next_step = f"refused the question (HTTP {status})", "Check the model's name and the address"
    # A server that refuses a key may quote it.
    detail = "" if status in (200, 401, 403) else _server_message(said)
    raise RunFailure("endpoint", f"The endpoint {model_url} {what}{detail}. {NOT_ASKED} {next_step} and try again.")


def _is_completion(said: str) -> bool:
    try:
        raw = json.loads(said)
    except ValueError:
        return False
    return isinstance(raw, dict) and isinstance(raw.get("choices"), list) and len(raw["choices"]) > 0


def _server_message(said: str) -> str:
    try:
        raw = json.loads(said)
    except ValueError:
        return ""
    error = raw.get("error", raw) if isinstance(raw, dict) else None
    message = error.get("message") if isinstance(error, dict) else error
    if not isinstance(message, str) or not message.strip():
        return ""
    plain = " ".join(redact(message).split())[:200].rstrip(".")
    return f": {plain}"

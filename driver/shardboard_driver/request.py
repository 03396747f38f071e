"""Reads `request.json`: what is to be run. The other side is `src/protocol/runRequest.ts`; the two change together."""

import json
import math
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Literal
from urllib.parse import urlsplit

from .failure import RunFailure

VERSION = 2


@dataclass(frozen=True)
class KeySource:
    """Where a key is found. Never the key itself."""

    source: Literal["none", "file", "environment"]
    place: str = ""
    """A path for `file`, which is made for this run and goes with it; the name of a variable for `environment`."""


NO_KEY = KeySource("none")


@dataclass(frozen=True)
class Generation:
    """How the model is to answer; None leaves it to the endpoint. The stock launcher sends temperature 0 alone."""

    temperature: float | None = 0.0
    top_p: float | None = None
    max_tokens: int | None = None
    seed: int | None = None
    stop: tuple[str, ...] = ()
    frequency_penalty: float | None = None
    presence_penalty: float | None = None


@dataclass(frozen=True)
class Judge:
    """The model that judges, for benchmarks that leave the score to one."""

    url: str
    model_id: str
    key: KeySource


@dataclass(frozen=True)
class Prices:
    """In the user's currency, for a million tokens."""

    prompt_tokens: float
    completion_tokens: float


@dataclass(frozen=True)
class Budget:
    """Where the run ends as a partial one that can be taken up again; None is no limit. Counted is what it asks."""

    answers: int | None = None
    tokens: int | None = None
    money: float | None = None


@dataclass(frozen=True)
class RunRequest:
    """One run, as it was asked for."""

    benchmark: str
    shards: int
    repeats: int
    max_problems: int | None
    model_url: str
    model_id: str
    key: KeySource
    shuffle_seed: int | None
    requests_in_flight: int
    """Of all shards together."""
    output_folder: str
    output_place: Literal["folder", "session"] = "folder"
    """
    `folder`: `output_folder` is an absolute path on the machine that runs the driver.
    `session`: it is a name, of a folder below the logs of Ray's session, which the dashboard can hand out.
    """
    task: Literal["ask", "score_again"] = "ask"
    system_prompt: str | None = None
    generation: Generation = field(default_factory=Generation)
    judge: Judge | None = None
    dataset_key: KeySource = NO_KEY
    requests_in_flight_per_shard: int | None = None
    cpus_per_shard: float = 1.0
    memory_per_shard: int | None = None
    """In bytes."""
    processes_at_most: int | None = None
    request_timeout_s: float = 120.0
    attempts: int = 12
    """How often a question is tried before its answer is given up as an endpoint error."""
    prices: Prices | None = None
    budget: Budget = field(default_factory=Budget)
    git_commit: str | None = None
    git_dirty: bool | None = None
    tags: tuple[str, ...] = ()
    suite_id: str | None = None
    baseline_id: str | None = None


def parse_request(text: str) -> RunRequest:
    """
    The request in a JSON text.

    :raises RunFailure: reason `request`, when a field is missing or does not fit.
    """
    try:
        raw = json.loads(text)
    except ValueError as error:
        raise RunFailure("request", "The request of this run is not JSON. Submit the run again.") from error
    if not isinstance(raw, dict) or raw.get("version") != VERSION:
        raise RunFailure("request", f"The request of this run is not of version {VERSION}. Submit the run again.")
    budget = _part(raw, "budget")
    prices = _part(raw, "prices")
    if budget.get("money") is not None and not prices:
        raise RunFailure("request", "The request has a budget in money and no price. Set the prices of the model.")
    return RunRequest(
        task=_one_of(raw, "task", ("ask", "score_again")),
        benchmark=_text(raw, "benchmark"),
        shards=_count(raw, "shards"),
        repeats=_count(raw, "repeats"),
        max_problems=_optional(_count, raw, "maxProblems"),
        model_url=_url(raw, "modelUrl"),
        model_id=_text(raw, "modelId"),
        key=_key(raw, "key"),
        system_prompt=_optional(_text, raw, "systemPrompt"),
        generation=_generation(_part(raw, "generation")),
        judge=_judge(_part(raw, "judge")),
        dataset_key=_key(raw, "datasetKey") if "datasetKey" in raw else NO_KEY,
        shuffle_seed=_optional(_integer, raw, "shuffleSeed"),
        requests_in_flight=_count(raw, "requestsInFlight"),
        requests_in_flight_per_shard=_optional(_count, raw, "requestsInFlightPerShard"),
        cpus_per_shard=_number(raw, "cpusPerShard") if "cpusPerShard" in raw else 1.0,
        memory_per_shard=_optional(_count, raw, "memoryPerShard"),
        processes_at_most=_optional(_count, raw, "processesAtMost"),
        request_timeout_s=_number(raw, "requestTimeoutS") if "requestTimeoutS" in raw else 120.0,
        attempts=_count(raw, "attempts") if "attempts" in raw else 12,
        prices=Prices(_number(prices, "promptTokens"), _number(prices, "completionTokens")) if prices else None,
        budget=Budget(
            answers=_optional(_count, budget, "answers"),
            tokens=_optional(_count, budget, "tokens"),
            money=_optional(_number, budget, "money"),
        ),
        output_place=_one_of(raw, "outputPlace", ("folder", "session")),
        output_folder=_text(raw, "outputFolder"),
        git_commit=_optional(_text, raw, "gitCommit"),
        git_dirty=_optional(_truth, raw, "gitDirty"),
        tags=_texts(raw, "tags"),
        suite_id=_optional(_text, raw, "suiteId"),
        baseline_id=_optional(_text, raw, "baselineId"),
    )


def _optional[T](read: Callable[[dict[str, Any], str], T], raw: dict[str, Any], name: str) -> T | None:
    return None if raw.get(name) is None else read(raw, name)


def _part(raw: dict[str, Any], name: str) -> dict[str, Any]:
    part = raw.get(name) or {}
    if not isinstance(part, dict):
        raise RunFailure("request", f"`{name}` of the request must be an object.")
    return part


def _generation(raw: dict[str, Any]) -> Generation:
    return Generation(
        temperature=_optional(_number, raw, "temperature") if "temperature" in raw else 0.0,
        top_p=_optional(_number, raw, "topP"),
        max_tokens=_optional(_count, raw, "maxTokens"),
        seed=_optional(_integer, raw, "seed"),
        stop=_texts(raw, "stop"),
        frequency_penalty=_optional(_signed, raw, "frequencyPenalty"),
        presence_penalty=_optional(_signed, raw, "presencePenalty"),
    )


def _judge(raw: dict[str, Any]) -> Judge | None:
    return Judge(_url(raw, "url"), _text(raw, "modelId"), _key(raw, "key")) if raw else None


def _text(raw: dict[str, Any], name: str) -> str:
    value = raw.get(name)
    if not isinstance(value, str) or not value:
        raise RunFailure("request", f"`{name}` of the request must be a text that is not empty.")
    return value


def _texts(raw: dict[str, Any], name: str) -> tuple[str, ...]:
    value = raw.get(name, [])
    if not isinstance(value, list) or not all(isinstance(each, str) and each for each in value):
        raise RunFailure("request", f"`{name}` of the request must be a list of texts that are not empty.")
    return tuple(value)


def _one_of[T: str](raw: dict[str, Any], name: str, choices: tuple[T, ...]) -> T:
    """The first is the default."""
    value = raw.get(name, choices[0])
    for choice in choices:
        if value == choice:
            return choice
    raise RunFailure("request", f"`{name}` of the request must be one of {', '.join(choices)}.")


def _truth(raw: dict[str, Any], name: str) -> bool:
    value = raw.get(name)
    if not isinstance(value, bool):
        raise RunFailure("request", f"`{name}` of the request must be true or false.")
    return value


def _signed(raw: dict[str, Any], name: str) -> float:
    value = raw.get(name)
    # True is a number to Python.
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
        raise RunFailure("request", f"`{name}` of the request must be a number.")
    return float(value)


def _number(raw: dict[str, Any], name: str) -> float:
    value = _signed(raw, name)
    if value < 0:
        raise RunFailure("request", f"`{name}` of the request must be 0 or more.")
    return value


def _integer(raw: dict[str, Any], name: str) -> int:
    value = raw.get(name)
    # In JSON 42.0 is the same number as 42; True is none, though Python counts it among the integers.
    if isinstance(value, bool) or not isinstance(value, int | float) or value != int(value):
        raise RunFailure("request", f"`{name}` of the request must be a whole number.")
    return int(value)


def _count(raw: dict[str, Any], name: str) -> int:
    value = _integer(raw, name)
    if value < 1:
        raise RunFailure("request", f"`{name}` of the request must be 1 or more.")
    return value


def _url(raw: dict[str, Any], name: str) -> str:
    url = _text(raw, name)
    parts = urlsplit(url)
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise RunFailure("request", f"The endpoint {url} is no http or https address. Correct it and try again.")
    if parts.username or parts.password:
        # It would be written into results and messages.
        raise RunFailure("request", "The endpoint's address holds a user name or a password. Give them as the key.")
    return url


def _key(raw: dict[str, Any], name: str) -> KeySource:
    match raw.get(name):
        case {"source": "none"}:
            return NO_KEY
        case {"source": "file", "path": str(path)}:
            return KeySource("file", path)
        case {"source": "environment", "name": str(variable)}:
            return KeySource("environment", variable)
    raise RunFailure("request", f"`{name}` of the request does not say where the key is.")

"""Reads `request.json`: what is to be run. The other side is `src/protocol/runRequest.ts`; the two change together."""

import json
from dataclasses import dataclass
from typing import Any, Literal
from urllib.parse import urlsplit

from .failure import RunFailure

VERSION = 1


@dataclass(frozen=True)
class KeySource:
    """Where the model's key is found. Never the key itself."""

    source: Literal["none", "file", "environment"]
    place: str = ""
    """A path for `file`, which is made for this run and goes with it; the name of a variable for `environment`."""


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
    output_folder: str


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
    return RunRequest(
        benchmark=_text(raw, "benchmark"),
        shards=_count(raw, "shards"),
        repeats=_count(raw, "repeats"),
        max_problems=None if raw.get("maxProblems") is None else _count(raw, "maxProblems"),
        model_url=_model_url(raw),
        model_id=_text(raw, "modelId"),
        key=_key(raw.get("key")),
        shuffle_seed=None if raw.get("shuffleSeed") is None else _integer(raw, "shuffleSeed"),
        requests_in_flight=_count(raw, "requestsInFlight"),
        output_folder=_text(raw, "outputFolder"),
    )


def _text(raw: dict[str, Any], name: str) -> str:
    value = raw.get(name)
    if not isinstance(value, str) or not value:
        raise RunFailure("request", f"`{name}` of the request must be a text that is not empty.")
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


def _model_url(raw: dict[str, Any]) -> str:
    url = _text(raw, "modelUrl")
    parts = urlsplit(url)
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise RunFailure("request", f"The endpoint {url} is no http or https address. Correct it and try again.")
    if parts.username or parts.password:
        # It would be written into results and messages.
        raise RunFailure("request", "The endpoint's address holds a user name or a password. Give them as the key.")
    return url


def _key(raw: object) -> KeySource:
    match raw:
        case {"source": "none"}:
            return KeySource("none")
        case {"source": "file", "path": str(path)}:
            return KeySource("file", path)
        case {"source": "environment", "name": str(name)}:
            return KeySource("environment", name)
    raise RunFailure("request", "`key` of the request does not say where the model's key is.")

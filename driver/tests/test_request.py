import json
from typing import Any

import pytest

from shardboard_driver.failure import RunFailure
from shardboard_driver.request import KeySource, RunRequest, parse_request

GOOD: dict[str, Any] = {
    "version": 2,
    "benchmark": "benchmark/word_problems.py:word_problems",
    "shards": 8,
    "repeats": 2,
    "maxProblems": None,
    "modelUrl": "http://127.0.0.1:8000/v1",
    "modelId": "practice",
    "key": {"source": "none"},
    "shuffleSeed": 42,
    "requestsInFlight": 64,
    "outputFolder": "/results/run",
}


def test_reads_what_the_extension_sends() -> None:
    assert parse_request(json.dumps(GOOD)) == RunRequest(
        benchmark="benchmark/word_problems.py:word_problems",
        shards=8,
        repeats=2,
        max_problems=None,
        model_url="http://127.0.0.1:8000/v1",
        model_id="practice",
        key=KeySource("none"),
        shuffle_seed=42,
        requests_in_flight=64,
        output_folder="/results/run",
    )


@pytest.mark.parametrize(
    ("key", "expected"),
    [
        ({"source": "file", "path": "/keys/one"}, KeySource("file", "/keys/one")),
        ({"source": "environment", "name": "MODEL_KEY"}, KeySource("environment", "MODEL_KEY")),
    ],
)
def test_says_where_the_key_is(key: dict[str, str], expected: KeySource) -> None:
    assert parse_request(json.dumps(GOOD | {"key": key})).key == expected


def test_the_order_may_be_that_of_the_dataset() -> None:
    assert parse_request(json.dumps(GOOD | {"shuffleSeed": None})).shuffle_seed is None


@pytest.mark.parametrize(
    ("change", "named"),
    [
        ({"version": 1}, "version"),
        ({"shards": 0}, "shards"),
        ({"shards": True}, "shards"),
        ({"repeats": 1.5}, "repeats"),
        ({"maxProblems": 0}, "maxProblems"),
        ({"benchmark": ""}, "benchmark"),
        ({"modelUrl": "ftp://host/v1"}, "ftp://host/v1"),
        ({"modelUrl": "http://me:secret@host/v1"}, "key"),
        ({"key": {"source": "elsewhere"}}, "key"),
        ({"outputFolder": None}, "outputFolder"),
    ],
)
def test_refuses_what_does_not_fit(change: dict[str, Any], named: str) -> None:
    with pytest.raises(RunFailure, match=named) as caught:
        parse_request(json.dumps(GOOD | change))
    assert caught.value.reason == "request"
    assert "secret" not in caught.value.message


def test_refuses_what_is_no_json() -> None:
    with pytest.raises(RunFailure, match="not JSON"):
        parse_request("{")

import json
from typing import Any

import pytest

from shardboard_driver.failure import RunFailure
from shardboard_driver.request import Budget, Generation, Judge, KeySource, Prices, RunRequest, parse_request

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


def test_reads_all_that_may_be_asked_for() -> None:
    everything = GOOD | {
        "task": "score_again",
        "systemPrompt": "Be brief.",
        "generation": {"temperature": None, "topP": 0.9, "maxTokens": 100, "seed": 7, "stop": ["END"]},
        "judge": {"url": "http://judge:1/v1", "modelId": "judge", "key": {"source": "environment", "name": "JUDGE"}},
        "datasetKey": {"source": "file", "path": "/keys/hf"},
        "requestsInFlightPerShard": 8,
        "cpusPerShard": 0.5,
        "memoryPerShard": 1_000_000,
        "processesAtMost": 3,
        "requestTimeoutS": 30,
        "attempts": 5,
        "prices": {"promptTokens": 1, "completionTokens": 2.5},
        "budget": {"answers": 10, "tokens": None, "money": 1.5},
        "outputPlace": "session",
        "gitCommit": "abc",
        "gitDirty": True,
        "tags": ["nightly"],
        "suiteId": "suite",
        "baselineId": "run",
    }
    request = parse_request(json.dumps(everything))
    assert request.generation == Generation(None, 0.9, 100, 7, ("END",))
    assert request.judge == Judge("http://judge:1/v1", "judge", KeySource("environment", "JUDGE"))
    assert request.dataset_key == KeySource("file", "/keys/hf")
    assert (request.prices, request.budget) == (Prices(1, 2.5), Budget(answers=10, money=1.5))
    assert (request.task, request.system_prompt, request.output_place) == ("score_again", "Be brief.", "session")
    assert (request.cpus_per_shard, request.memory_per_shard, request.processes_at_most) == (0.5, 1_000_000, 3)
    assert (request.git_commit, request.git_dirty, request.tags) == ("abc", True, ("nightly",))


@pytest.mark.parametrize(
    "change",
    [
        {"task": "dance"},
        {"generation": {"temperature": -1}},
        {"generation": {"temperature": True}},
        {"generation": {"stop": "END"}},
        {"judge": {"url": "judge", "modelId": "judge", "key": {"source": "none"}}},
        {"judge": {"url": "http://judge/v1", "modelId": "", "key": {"source": "none"}}},
        {"datasetKey": {"source": "post"}},
        {"attempts": 0},
        {"prices": {"promptTokens": 1}},
        {"budget": {"money": 1}},
        {"gitDirty": "yes"},
        {"tags": [1]},
        {"outputPlace": "moon"},
    ],
)
def test_refuses_what_does_not_fit_in_what_may_be_left_out(change: dict[str, Any]) -> None:
    with pytest.raises(RunFailure) as caught:
        parse_request(json.dumps(GOOD | change))
    assert caught.value.reason == "request"

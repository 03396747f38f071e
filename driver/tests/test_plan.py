from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from shardboard_driver.benchmark import Benchmark
from shardboard_driver.failure import RunFailure
from shardboard_driver.plan import make_plan, problem_order
from shardboard_driver.request import NO_KEY, Generation, Judge

from .support import make_request

WORD_PROBLEMS = Benchmark("benchmark/word_problems.py:word_problems", "word_problems", 1319)


def test_ranges_are_the_evaluators(tmp_path: Path) -> None:
    plan = make_plan(make_request(tmp_path, shards=8), WORD_PROBLEMS)
    assert plan.ranges[0] == (0, 165)
    assert plan.ranges[6:] == [(990, 1155), (1155, 1319)]
    assert [end for _, end in plan.ranges[:-1]] == [start for start, _ in plan.ranges[1:]]


def test_order_is_the_evaluators() -> None:
    # As the stock launcher asks a benchmark of 1,319 problems with its default seed.
    assert problem_order(1319, 42, None)[:4] == [588, 1214, 57, 906]
    assert sorted(problem_order(1319, 42, None)) == list(range(1319))


def test_fewer_problems_are_the_first_of_the_order() -> None:
    assert problem_order(1319, 42, 10) == problem_order(1319, 42, None)[:10]
    assert problem_order(5, None, 3) == [0, 1, 2]
    assert problem_order(5, None, 9) == [0, 1, 2, 3, 4]


def test_more_shards_than_problems_are_refused(tmp_path: Path) -> None:
    with pytest.raises(RunFailure, match="at most 5 shards") as caught:
        make_plan(make_request(tmp_path, shards=8, max_problems=5), WORD_PROBLEMS)
    assert caught.value.reason == "request"


def test_as_many_shards_as_problems_are_fine(tmp_path: Path) -> None:
    plan = make_plan(make_request(tmp_path, shards=5, max_problems=5), WORD_PROBLEMS)
    assert plan.ranges == [(0, 1), (1, 2), (2, 3), (3, 4), (4, 5)]


def test_another_file_beside_the_benchmark_is_another_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    request = make_request(tmp_path)
    file = tmp_path / "benchmark" / "data.jsonl"
    file.parent.mkdir()
    file.write_text("1")
    first = make_plan(request, WORD_PROBLEMS).fingerprint
    file.write_text("2")
    assert make_plan(request, WORD_PROBLEMS).fingerprint != first
    file.write_text("1")
    bytecode = file.parent / "__pycache__" / "x.pyc"
    bytecode.parent.mkdir()
    bytecode.write_text("")
    assert make_plan(request, WORD_PROBLEMS).fingerprint == first


def test_a_pilot_and_the_whole_are_one_run_whatever_the_shards(tmp_path: Path) -> None:
    pilot = make_plan(make_request(tmp_path, shards=2, max_problems=50), WORD_PROBLEMS)
    whole = make_plan(make_request(tmp_path, shards=8, repeats=3, requests_in_flight=99), WORD_PROBLEMS)
    assert pilot.fingerprint == whole.fingerprint
    in_whole = dict(key for shard in range(8) for key in ((key, position) for position, key in whole.keys(shard)))
    for shard in range(2):
        for position, key in pilot.keys(shard):
            assert in_whole[key] == position


@pytest.mark.parametrize(
    ("change", "name"),
    [
        ({"model_id": "other"}, "model"),
        ({"shuffle_seed": 7}, "shuffle seed"),
        ({"system_prompt": "Be brief."}, "system prompt"),
        ({"generation": Generation(temperature=1.0)}, "generation settings"),
        ({"judge": Judge("http://127.0.0.1:1/v1", "judge", NO_KEY)}, "judge"),
    ],
)
def test_what_would_mix_two_runs_is_in_the_fingerprint(tmp_path: Path, change: dict[str, Any], name: str) -> None:
    one = make_plan(make_request(tmp_path), WORD_PROBLEMS).fingerprint
    other = make_plan(make_request(tmp_path, **change), WORD_PROBLEMS).fingerprint
    assert {key for key in one if one[key] != other[key]} == {name}


def test_another_dataset_is_another_run(tmp_path: Path) -> None:
    one = make_plan(make_request(tmp_path), replace(WORD_PROBLEMS, dataset="1")).fingerprint
    other = make_plan(make_request(tmp_path), replace(WORD_PROBLEMS, dataset="2")).fingerprint
    assert {key for key in one if one[key] != other[key]} == {"dataset"}

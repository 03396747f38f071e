"""What becomes of shards that fail. Ray is played by a table of results."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest
import ray
from ray.exceptions import RayTaskError, WorkerCrashedError

from shardboard_driver import shards
from shardboard_driver.benchmark import Benchmark
from shardboard_driver.failure import RunFailure
from shardboard_driver.plan import make_plan
from shardboard_driver.rows import Row
from shardboard_driver.shard import ShardAnswers, ShardStopped
from shardboard_driver.shards import Missing, run_shards

from .support import events_in, make_request

type Result = ShardAnswers | ShardStopped | Exception

GOOD = ShardAnswers(rows=[], seconds=1.0)
NO_ENDPOINT = ShardStopped("endpoint", "The endpoint failed 8 times in a row.")


class FakeRay:
    """Gives the results of each shard's attempts, in the order in which they were submitted."""

    exceptions = ray.exceptions

    def __init__(self, results: dict[int, list[Result]]) -> None:
        self._results = results
        self.submitted: list[tuple[int, int]] = []
        self.cancelled: list[tuple[int, int]] = []

    def submit(self, _request: object, _plan: object, shard: int, attempt: int) -> tuple[int, int]:
        self.submitted.append((shard, attempt))
        return shard, attempt

    def wait(self, refs: Sequence[tuple[int, int]], **_: object) -> tuple[list[tuple[int, int]], list[object]]:
        return [refs[0]], []

    def get(self, ref: tuple[int, int]) -> ShardAnswers | ShardStopped:
        result = self._results[ref[0]][ref[1]]
        if isinstance(result, Exception):
            raise result
        return result

    def cancel(self, ref: tuple[int, int], *, force: bool) -> None:
        self.cancelled.append(ref)


type Runner = Callable[..., tuple[dict[int, list[Row]], dict[int, Missing], FakeRay]]


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Runner:
    def run(results: dict[int, list[Result]], *, endpoint_lives: bool = True) -> Any:
        fake = FakeRay(results)
        monkeypatch.setattr(shards, "ray", fake)
        monkeypatch.setattr(shards, "_submit", fake.submit)
        request = make_request(tmp_path, shards=len(results))
        plan = make_plan(request, Benchmark("sums", "sums", 10))
        done: dict[int, list[Row]] = {}
        missing = run_shards(request, plan, done, lambda: endpoint_lives, lambda: None)
        return done, missing, fake

    return run


def test_all_good(run: Runner) -> None:
    done, missing, _ = run({0: [GOOD], 1: [GOOD]})
    assert (set(done), missing) == ({0, 1}, {})


def test_a_lost_shard_is_tried_again(run: Runner, capsys: pytest.CaptureFixture[str]) -> None:
    done, missing, fake = run({0: [WorkerCrashedError(), GOOD], 1: [GOOD]})
    assert (set(done), missing) == ({0, 1}, {})
    assert fake.submitted == [(0, 0), (1, 0), (0, 1)]
    failed = next(event for event in events_in(capsys) if event.get("state") == "failed")
    assert failed["message"] == "Its process died."


def test_three_times_lost_is_missing_and_the_others_go_on(run: Runner) -> None:
    lost = WorkerCrashedError()
    done, missing, fake = run({0: [lost, lost, lost], 1: [GOOD]})
    assert set(done) == {1}
    assert missing[0].kind == "lost"
    assert fake.submitted.count((0, 2)) == 1


def test_a_broken_scorer_is_not_tried_again(run: Runner) -> None:
    done, missing, fake = run({0: [ShardStopped("scorer", "The scorer failed.")], 1: [GOOD]})
    assert (set(done), set(missing)) == ({1}, {0})
    assert fake.submitted == [(0, 0), (1, 0)]


def test_a_dead_endpoint_ends_all_shards(run: Runner, capsys: pytest.CaptureFixture[str]) -> None:
    done, missing, fake = run({0: [NO_ENDPOINT], 1: [GOOD], 2: [GOOD]}, endpoint_lives=False)
    assert done == {}
    assert {shard.kind for shard in missing.values()} == {"endpoint"}
    assert fake.cancelled == [(1, 0), (2, 0)]
    # Only the first has asked in vain; perhaps the others have asked nothing.
    why = "Given up because another shard found the endpoint failing."
    told = [event["message"] for event in events_in(capsys) if event.get("state") == "failed"]
    assert told == [shard.message for shard in missing.values()] == [NO_ENDPOINT.message, why, why]


def test_an_endpoint_that_is_back_is_asked_again(run: Runner) -> None:
    done, missing, _ = run({0: [NO_ENDPOINT, GOOD], 1: [GOOD]})
    assert (set(done), missing) == ({0, 1}, {})


def test_a_full_disk_ends_all_shards(run: Runner) -> None:
    full = RayTaskError("run_shard", "", RunFailure("disk", "No space left on device."))  # type: ignore[no-untyped-call]
    done, missing, _ = run({0: [full], 1: [GOOD]})
    assert (done, set(missing)) == ({}, {0, 1})
    assert missing[0] == Missing("disk", "No space left on device.")
    assert missing[1] == Missing("disk", "Given up because another shard could not keep its answers.")


def test_a_benchmark_that_needs_a_judge_ends_all_shards(run: Runner) -> None:
    done, missing, fake = run({0: [ShardStopped("judge", "It needs a judge.")], 1: [GOOD]})
    assert (done, set(missing)) == ({}, {0, 1})
    assert fake.cancelled == [(1, 0)]

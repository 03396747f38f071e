"""What is said when a run has no whole score."""

import errno
from pathlib import Path
from typing import Any

import pytest

from shardboard_driver.events import Outcome
from shardboard_driver.failure import RunFailure
from shardboard_driver.run import COMPLETE, PARTIAL, STOPPED, _refuse_without_score, _tell_end, _unwritten
from shardboard_driver.shards import ENDED, Missing
from shardboard_driver.tally import Tally

from .support import events_in, make_request


def make_tally(folder: Path, outcomes: list[Outcome]) -> Tally:
    """A tally of a run of eight questions, some of them answered."""
    tally = Tally(make_request(folder, shards=4), expected=8)
    for problem, outcome in enumerate(outcomes):
        tally.take((problem, problem, 0, 1.0, 50.0, 10, outcome), "{}")
    return tally


def end_of(tally: Tally, missing: dict[int, Missing], capsys: pytest.CaptureFixture[str]) -> tuple[int, dict[str, Any]]:
    code = _tell_end(tally, missing)
    return code, events_in(capsys)[-1]


def test_complete(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    tally = make_tally(tmp_path, ["ok", "truncated"] * 4)
    code, end = end_of(tally, {}, capsys)
    assert code == COMPLETE
    assert (end["outcome"], end["answered"], end["expected"], end["endpointErrors"]) == ("complete", 8, 8, 0)
    assert "reason" not in end


def test_answers_that_failed_at_the_endpoint_are_told(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    outcomes: list[Outcome] = ["endpoint_error", "ok", "ok", "ok", "ok", "ok", "ok", "ok"]
    tally = make_tally(tmp_path, outcomes)
    _refuse_without_score(tally, {})
    code, end = end_of(tally, {}, capsys)
    assert code == PARTIAL
    assert (end["outcome"], end["reason"], end["endpointErrors"]) == ("partial", "endpoint", 1)
    assert "1 of 8 answers failed at the endpoint and count as 0" in end["message"]


def test_missing_shards_are_told(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    tally = make_tally(tmp_path, ["ok"] * 4)
    missing = {3: Missing("lost", "Its process died."), 2: Missing("lost", "Its process died.")}
    _refuse_without_score(tally, missing)
    code, end = end_of(tally, missing, capsys)
    assert code == PARTIAL
    assert (end["reason"], end["missingShards"], end["answered"]) == ("shards", [2, 3], 4)
    assert "2 shards are not whole (3, 4). 4 of 8 answers are missing, and the score is of the others" in end["message"]
    assert "Its process died." in end["message"]


def test_what_weakens_the_score_is_counted(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    tally = make_tally(tmp_path, ["ok", "truncated", "truncated", "empty", "judge_error", "ok", "ok", "ok"])
    code, end = end_of(tally, {}, capsys)
    assert (code, end["reason"]) == (PARTIAL, "benchmark")
    assert (end["truncated"], end["empty"], end["judgeErrors"], end["endpointErrors"]) == (2, 1, 1, 0)
    assert end["message"] == "1 of 8 answers could not be judged and count as 0 in the score."


def test_a_stopped_run_says_what_is_kept(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    missing = {2: ENDED["stopped"], 3: ENDED["stopped"]}
    code, end = end_of(make_tally(tmp_path, ["ok"] * 4), missing, capsys)
    assert (code, end["outcome"], end["missingShards"]) == (STOPPED, "stopped", [2, 3])
    assert end["message"] == "The run was stopped. 4 of 8 answers are kept."


def test_a_budget_that_is_used_up_is_a_partial_run(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, end = end_of(make_tally(tmp_path, ["ok"] * 6), {3: ENDED["budget"]}, capsys)
    assert (code, end["outcome"], end["reason"]) == (PARTIAL, "partial", "budget")
    assert "The budget was used up before it was done." in end["message"]


def test_an_endpoint_that_answered_nothing_is_no_score_of_0(tmp_path: Path) -> None:
    tally = make_tally(tmp_path, ["endpoint_error"] * 8)
    with pytest.raises(RunFailure, match="not one of 8 questions") as caught:
        _refuse_without_score(tally, {})
    assert caught.value.reason == "endpoint"


@pytest.mark.parametrize(
    ("kinds", "reason"),
    [
        (["lost", "endpoint"], "endpoint"),
        (["lost", "scorer"], "benchmark"),
        (["lost", "lost"], "shards"),
        (["endpoint", "judge"], "benchmark"),
    ],
)
def test_no_shard_finished(tmp_path: Path, kinds: list[Any], reason: str) -> None:
    missing = {shard: Missing(kind, f"It was {kind}.") for shard, kind in enumerate(kinds)}
    with pytest.raises(RunFailure, match="It was") as caught:
        _refuse_without_score(make_tally(tmp_path, []), missing)
    assert caught.value.reason == reason


def test_a_dead_endpoint_is_said_once_and_with_the_next_step(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    missing = {
        2: Missing("endpoint", "The endpoint failed 8 times in a row, last: HTTP 500"),
        0: Missing("endpoint", "Given up because another shard found the endpoint failing."),
    }
    why = "The endpoint failed 8 times in a row, last: HTTP 500. Check the model's server and run again."
    with pytest.raises(RunFailure) as caught:
        _refuse_without_score(make_tally(tmp_path, []), missing)
    assert caught.value.message == why
    _, end = end_of(make_tally(tmp_path, ["ok"] * 2), missing, capsys)
    assert end["message"].endswith(f"the score is of the others only. {why}")


def test_a_score_that_cannot_be_written(tmp_path: Path) -> None:
    tally = make_tally(tmp_path, ["ok"] * 2)
    error = PermissionError(errno.EACCES, "Permission denied")
    assert _unwritten(tally, error).message == (
        f"The results cannot be written to {tmp_path}: Permission denied. Check the folder and run again."
    )
    (tmp_path / "answers").mkdir()
    kept = _unwritten(tally, OSError(errno.ENOSPC, "No space left on device"))
    assert kept.reason == "disk"
    assert kept.message.endswith("Make room and run again. The answers are kept there.")

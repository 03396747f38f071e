from pathlib import Path

from shardboard_driver.events import CompactAnswer, Outcome
from shardboard_driver.tally import Tally

from .support import make_request


def answer(problem: int, outcome: Outcome = "ok") -> CompactAnswer:
    return (problem, problem, 0, 1.0, 50.0, 10, outcome)


def test_counts_each_answer_once_with_what_it_became(tmp_path: Path) -> None:
    tally = Tally(make_request(tmp_path), expected=3)
    tally.take(answer(0, "endpoint_error"), "first\n")
    tally.take(answer(1, "truncated"), "other\n")
    tally.take(answer(0), "second\n")
    assert tally.outcomes() == {"ok": 1, "truncated": 1}
    assert tally.unanswered([(0, (0, 0)), (1, (1, 0)), (2, (2, 0))]) == [(2, (2, 0))]


def test_a_run_ends_when_somebody_has_asked_for_it(tmp_path: Path) -> None:
    tally = Tally(make_request(tmp_path))
    assert tally.should_end() is None
    tally.is_stopped = True
    assert tally.should_end() == "stopped"

import io
import os
import threading
import time
from pathlib import Path

import pytest

from shardboard_driver import events
from shardboard_driver.redaction import hide

from .support import events_in

LINES = Path(__file__).parent / "event_lines.txt"


def tell_one_of_each() -> None:
    events.stage("connecting")
    events.start(
        benchmark="word_problems",
        problems=3,
        repeats=2,
        ranges=[(0, 2), (2, 3)],
        folder="/results/run-1",
        versions={"evaluator": "0.3.0", "ray": "2.60.0", "python": "3.12.1"},
    )
    events.shard(0, 0, "queued")
    events.shard(0, 0, "running", node="worker-7")
    events.shard(0, 0, "failed", "Its process died.")
    events.answers(0, 1, [(0, 2, 0, 1.0, 51.3, 80, "ok"), (1, 0, 1, 0.0, 0.0, 0, "endpoint_error")])
    events.answers(1, 0, [(2, 1, 0, 0.5, 49.9, 12, "truncated"), (2, 1, 1, 0.0, 50.0, 9, "empty")])
    events.shard_done(1, 0, 1.23456)
    events.merged(
        complete=False,
        scores={"pass@1": {"value": 0.5, "ci_lower": 0.4, "ci_upper": 0.6, "bootstrap_ci_lower": 0.3}},
        categories={"travel": {"mean_reward": 0.5, "n": 4}},
        bundle="/results/partial-eval-1.json",
    )
    events.files("4f2a", "shardboard/run-1", [{"name": "results.jsonl", "size": 7, "sha256": "0" * 64}])
    events.end("complete", "All 6 answers are scored.", answered=6, expected=6)
    events.end(
        "partial",
        "One is missing.",
        reason="endpoint",
        expected=6,
        endpoint_errors=1,
        judge_errors=1,
        missing_shards=[1],
    )


def test_lines_are_those_that_the_extension_is_tested_with(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    # The extension's own test reads the same file with the extension's own parser.
    monkeypatch.setattr(time, "time", lambda: 1.5)
    tell_one_of_each()
    assert capsys.readouterr().out == LINES.read_text(encoding="utf-8")


def test_many_answers_become_several_lines(capsys: pytest.CaptureFixture[str]) -> None:
    answer: events.CompactAnswer = (0, 0, 0, 1.0, 1.0, 1, "ok")
    events.answers(0, 0, [answer] * 2000)
    lines = capsys.readouterr().out.splitlines()
    assert sum(line.count('"ok"') for line in lines) == 2000
    assert max(len(line) for line in lines) < 32_768


def test_messages_do_not_hold_the_key(capsys: pytest.CaptureFixture[str]) -> None:
    hide("sk-secret")
    events.shard(0, 0, "failed", "Refused sk-secret.")
    events.end("failed", "Refused sk-secret.", reason="endpoint")
    assert [event["message"] for event in events_in(capsys)] == ["Refused <key>."] * 2


def test_no_answers_are_no_line(capsys: pytest.CaptureFixture[str]) -> None:
    events.answers(0, 0, [])
    assert capsys.readouterr().out == ""


def test_lines_of_two_threads_do_not_mix(tmp_path: Path) -> None:
    path = tmp_path / "out"
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT)
    out = events.WholeLines(descriptor)
    out.write("begun ")
    other = threading.Thread(target=print, args=("a whole line of another thread",), kwargs={"file": out})
    other.start()
    other.join()
    out.write("and ended\nnext")
    os.close(descriptor)
    assert path.read_text() == "a whole line of another thread\nbegun and ended\n"


def test_a_long_line_is_written_whole(tmp_path: Path) -> None:
    path = tmp_path / "out"
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT)
    out: io.TextIOBase = events.WholeLines(descriptor)
    out.write("x" * 1_000_000 + "\n")
    os.close(descriptor)
    assert path.stat().st_size == 1_000_001

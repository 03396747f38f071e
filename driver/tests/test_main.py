"""The driver as a process, as far as it gets without Ray."""

import json
import logging
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Literal

import pytest

from shardboard_driver import entry
from shardboard_driver.events import MARKER
from shardboard_driver.request import KeySource
from shardboard_driver.tally import Tally

from .support import events_in, make_request
from .test_request import GOOD

DRIVER = Path(__file__).resolve().parents[1]


def run_driver(folder: Path, request: str) -> tuple[int, dict[str, Any], str]:
    file = folder / "request.json"
    file.write_text(request)
    command = [sys.executable, "-u", "-m", "shardboard_driver", str(file)]
    result = subprocess.run(command, cwd=DRIVER, capture_output=True, text=True, timeout=60, check=False)
    events = [json.loads(line.removeprefix(MARKER)) for line in result.stdout.splitlines() if line.startswith(MARKER)]
    assert result.stderr == ""
    return result.returncode, events[-1], result.stdout


@pytest.mark.parametrize(
    ("change", "code", "reason"),
    [
        ({"shards": 0}, 2, "request"),
        ({"outputFolder": "relative"}, 4, "disk"),
        ({"key": {"source": "file", "path": "/no/such/key"}}, 2, "request"),
    ],
)
def test_a_bad_request_ends_with_one_sentence(tmp_path: Path, change: dict[str, Any], code: int, reason: str) -> None:
    request = GOOD | {"outputFolder": str(tmp_path / "out")} | change
    returned, end, output = run_driver(tmp_path, json.dumps(request))
    assert returned == code
    assert (end["type"], end["outcome"], end["reason"]) == ("end", "failed", reason)
    assert len(output.splitlines()) == 1


def test_what_is_no_request_ends_with_one_sentence(tmp_path: Path) -> None:
    code, end, _ = run_driver(tmp_path, "nonsense")
    assert (code, end["reason"]) == (2, "request")


def test_the_key_file_goes_with_the_driver(tmp_path: Path) -> None:
    key = tmp_path / "key"
    key.write_text("sk-secret")
    change = {"outputFolder": "relative", "key": {"source": "file", "path": str(key)}}
    _, end, _ = run_driver(tmp_path, json.dumps(GOOD | change))
    assert end["reason"] == "disk"
    assert not key.exists()


def test_a_bug_is_one_sentence_and_its_traceback_does_not_hold_the_key(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def fail(*_: object) -> int:
        raise ValueError("Bearer sk-secret")

    monkeypatch.setattr(entry, "_end_when_stopped", lambda _tally: None)
    monkeypatch.setattr(entry, "check_all", lambda *_: None)
    monkeypatch.setattr(entry, "_run_on_ray", fail)
    monkeypatch.setattr(logging.root, "handlers", [])
    monkeypatch.setenv("MODEL_KEY", "sk-secret")
    file = tmp_path / "request.json"
    key = {"source": "environment", "name": "MODEL_KEY"}
    file.write_text(json.dumps(GOOD | {"outputFolder": str(tmp_path / "out"), "key": key}))
    assert entry.main(str(file)) == 4
    captured = capsys.readouterr()
    assert "Traceback" in captured.err
    assert "ValueError: Bearer <key>. Its log has more." in captured.out
    assert "sk-secret" not in captured.out + captured.err


@pytest.fixture
def stop(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[tuple[Tally, list[int]]]:
    """A tally whose run is stopped by a signal, and the codes with which the process would have ended."""
    codes: list[int] = []
    monkeypatch.setattr(entry, "_leave", codes.append)
    key = tmp_path / "key"
    key.touch()
    tally = Tally(make_request(tmp_path, shards=2, key=KeySource("file", str(key))), expected=10)
    before = signal.getsignal(signal.SIGTERM), signal.getsignal(signal.SIGINT)
    entry._end_when_stopped(tally)
    yield tally, codes
    signal.signal(signal.SIGTERM, before[0])
    signal.signal(signal.SIGINT, before[1])


def test_a_run_that_is_stopped_before_it_asks_ends_at_once(
    stop: tuple[Tally, list[int]], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    _, codes = stop
    signal.raise_signal(signal.SIGTERM)
    end = events_in(capsys)[-1]
    assert (end["outcome"], end["message"]) == ("stopped", "The run was stopped. Nothing was asked.")
    assert codes == [143]
    assert not (tmp_path / "key").exists()


@pytest.mark.parametrize("phase", ["asking", "merging"])
def test_a_run_that_is_stopped_later_ends_when_it_has_kept_what_there_is(
    stop: tuple[Tally, list[int]], phase: Literal["asking", "merging"]
) -> None:
    tally, codes = stop
    tally.phase = phase
    signal.raise_signal(signal.SIGTERM)
    assert (codes, tally.should_end()) == ([], "stopped")

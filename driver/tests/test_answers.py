from pathlib import Path
from typing import Any

import pytest

from shardboard_driver.answers import FILE, AnswerLog, count_answers, shard_folder
from shardboard_driver.failure import RunFailure

from .support import FINGERPRINT


def row(problem: int, repeat: int = 0, outcome: str = "ok") -> dict[str, Any]:
    return {"problem_idx": problem, "repeat": repeat, "shardboard": {"outcome": outcome}}


def test_answers_are_there_again(tmp_path: Path) -> None:
    with AnswerLog(tmp_path, FINGERPRINT) as log:
        log.append(row(3))
        log.append(row(3, repeat=1))
    with AnswerLog(tmp_path, FINGERPRINT) as log:
        assert log.rows == {(3, 0): row(3), (3, 1): row(3, repeat=1)}


def test_an_answer_is_in_the_file_at_once(tmp_path: Path) -> None:
    with AnswerLog(tmp_path, FINGERPRINT) as log:
        log.append(row(3))
        assert len((tmp_path / FILE).read_text().splitlines()) == 2


def test_a_torn_last_line_is_dropped_and_does_not_spoil_the_next(tmp_path: Path) -> None:
    with AnswerLog(tmp_path, FINGERPRINT) as log:
        log.append(row(1))
    with (tmp_path / FILE).open("a") as file:
        file.write('{"problem_idx": 2, "rep')
    with AnswerLog(tmp_path, FINGERPRINT) as log:
        assert list(log.rows) == [(1, 0)]
        log.append(row(2))
    with AnswerLog(tmp_path, FINGERPRINT) as log:
        assert list(log.rows) == [(1, 0), (2, 0)]


def test_a_torn_first_line_is_a_new_file(tmp_path: Path) -> None:
    (tmp_path / FILE).write_text('{"version": 1, "ru')
    with AnswerLog(tmp_path, FINGERPRINT) as log:
        log.append(row(1))
    with AnswerLog(tmp_path, FINGERPRINT) as log:
        assert list(log.rows) == [(1, 0)]


def test_answers_of_another_run_are_refused_and_kept(tmp_path: Path) -> None:
    folder = shard_folder(tmp_path, 3)
    with AnswerLog(folder, FINGERPRINT) as log:
        log.append(row(1))
    before = (folder / FILE).read_bytes()
    with pytest.raises(RunFailure, match="other shards") as caught:
        AnswerLog(folder, FINGERPRINT | {"shards": 2})
    assert caught.value.reason == "request"
    assert str(tmp_path) in caught.value.message
    assert (folder / FILE).read_bytes() == before


def test_an_answer_that_failed_at_the_endpoint_is_asked_again(tmp_path: Path) -> None:
    with AnswerLog(tmp_path, FINGERPRINT) as log:
        log.append(row(1, outcome="endpoint_error"))
    with AnswerLog(tmp_path, FINGERPRINT) as log:
        assert log.rows == {}
        log.append(row(1))
    with AnswerLog(tmp_path, FINGERPRINT) as log:
        assert log.rows == {(1, 0): row(1)}


def test_an_answer_that_cannot_be_kept_ends_the_shard(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    class Full:
        def write(self, _data: bytes) -> int:
            raise OSError(28, "No space left on device")

    with AnswerLog(tmp_path, FINGERPRINT) as log:
        with monkeypatch.context() as patch, pytest.raises(RunFailure, match="No space left") as caught:
            patch.setattr(log, "_file", Full())
            log.append(row(1))
        assert log.rows == {}
    assert caught.value.reason == "disk"
    assert "Make room" in caught.value.message


def test_counts_the_answers_on_disk(tmp_path: Path) -> None:
    assert count_answers(tmp_path, 0) == 0
    with AnswerLog(shard_folder(tmp_path, 0), FINGERPRINT) as log:
        assert count_answers(tmp_path, 0) == 0
        log.append(row(1))
        assert count_answers(tmp_path, 0) == 1


def test_a_log_that_cannot_be_read_has_no_answers(tmp_path: Path) -> None:
    (shard_folder(tmp_path, 0) / FILE).mkdir(parents=True)
    assert count_answers(tmp_path, 0) == 0

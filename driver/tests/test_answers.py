import json
from pathlib import Path
from typing import Any

import pytest

from shardboard_driver.answers import AnswerLog, Edition, has_answers, log_path, read_answers, read_log, write_edition
from shardboard_driver.failure import RunFailure
from shardboard_driver.rows import Row, to_line

from .support import FINGERPRINT


def row(problem: int, repeat: int = 0, outcome: str = "ok", **more: Any) -> Row:
    return {"problem_idx": problem, "repeat": repeat, "shardboard": {"outcome": outcome}, **more}


def keep(folder: Path, name: str, *rows: Row, edition: int = 0) -> Path:
    path = log_path(folder, name)
    with AnswerLog(path, Edition(FINGERPRINT, edition)) as log:
        for each in rows:
            log.write(to_line(each))
    return path


def test_the_answers_of_all_processes_are_there_again(tmp_path: Path) -> None:
    keep(tmp_path, "1-000", row(3), row(3, repeat=1))
    keep(tmp_path, "1-001", row(4))
    stored = read_answers(tmp_path, FINGERPRINT)
    assert stored.rows == {(3, 0): row(3), (3, 1): row(3, repeat=1), (4, 0): row(4)}
    assert has_answers(tmp_path)


def test_a_new_folder_has_none(tmp_path: Path) -> None:
    assert read_answers(tmp_path, FINGERPRINT).rows == {}
    assert not has_answers(tmp_path)
    assert read_log(log_path(tmp_path, "1-000")) == {}


def test_an_answer_is_in_the_file_at_once(tmp_path: Path) -> None:
    path = log_path(tmp_path, "1-000")
    with AnswerLog(path, Edition(FINGERPRINT)) as log:
        log.write(to_line(row(3)))
        assert len(path.read_text().splitlines()) == 2


def test_what_a_dying_process_left_of_a_line_is_no_answer(tmp_path: Path) -> None:
    path = keep(tmp_path, "1-000", row(1))
    with path.open("a") as file:
        file.write('{"problem_idx": 2, "rep')
    stored = read_answers(tmp_path, FINGERPRINT)
    assert (list(stored.rows), stored.broken) == ([(1, 0)], 0)
    # And it is left as it is: the process that wrote it may be on another machine, and alive.
    assert path.read_text().endswith('"rep')


def test_a_log_without_a_whole_first_line_has_no_answers(tmp_path: Path) -> None:
    path = log_path(tmp_path, "1-000")
    path.parent.mkdir()
    path.write_text('{"version": 2, "ru')
    assert read_answers(tmp_path, FINGERPRINT).rows == {}


@pytest.mark.parametrize("damage", ["not JSON\n", "[]\n", '{"problem_idx": 7}\n'])
def test_a_damaged_line_in_the_middle_costs_one_answer(tmp_path: Path, damage: str) -> None:
    path = keep(tmp_path, "1-000", row(1))
    with path.open("a") as file:
        file.write(damage + to_line(row(2)))
    stored = read_answers(tmp_path, FINGERPRINT)
    assert (list(stored.rows), stored.broken) == ([(1, 0), (2, 0)], 1)


@pytest.mark.parametrize("header", [{"version": 1, "run": FINGERPRINT}, {"something": "else"}, [1]])
def test_a_log_of_another_version_is_another_run(tmp_path: Path, header: object) -> None:
    path = log_path(tmp_path, "1-000")
    path.parent.mkdir()
    path.write_text(json.dumps(header) + "\n")
    with pytest.raises(RunFailure, match="another run"):
        read_answers(tmp_path, FINGERPRINT)


def test_answers_of_another_run_are_refused_and_kept(tmp_path: Path) -> None:
    path = keep(tmp_path, "1-000", row(1))
    before = path.read_bytes()
    with pytest.raises(RunFailure, match=r"\(other model\)") as caught:
        read_answers(tmp_path, FINGERPRINT | {"model": "another"})
    assert caught.value.reason == "request"
    assert str(tmp_path) in caught.value.message
    assert path.read_bytes() == before
    assert read_answers(tmp_path, FINGERPRINT | {"model": "another"}, but=frozenset(["model"])).rows


def test_a_judge_may_be_chosen_where_none_was_and_not_changed(tmp_path: Path) -> None:
    keep(tmp_path, "1-000", row(1, outcome="unscored"))
    with_judge = FINGERPRINT | {"judge": "a judge"}
    assert read_answers(tmp_path, with_judge).rows
    with AnswerLog(log_path(tmp_path, "2-000"), Edition(with_judge)):
        pass
    with pytest.raises(RunFailure, match=r"\(other judge\)"):
        read_answers(tmp_path, FINGERPRINT | {"judge": "another"})


def test_a_failed_answer_never_hides_a_good_one(tmp_path: Path) -> None:
    failed, good = row(1, outcome="endpoint_error"), row(1)
    keep(tmp_path, "1-000", failed, row(2))
    keep(tmp_path, "2-000", good, row(2, outcome="endpoint_error"))
    assert read_answers(tmp_path, FINGERPRINT).rows == {(1, 0): good, (2, 0): row(2)}


def test_a_new_edition_takes_the_place_of_the_one_before(tmp_path: Path) -> None:
    keep(tmp_path, "1-000", row(1, reward=0.0), row(2, reward=0.0))
    write_edition(tmp_path, "2", Edition(FINGERPRINT, 1), [row(1, reward=1.0)])
    stored = read_answers(tmp_path, FINGERPRINT)
    assert (stored.edition, stored.rows) == (1, {(1, 0): row(1, reward=1.0)})
    # What is asked afterwards belongs to it.
    keep(tmp_path, "3-000", row(2, reward=1.0), edition=1)
    assert len(read_answers(tmp_path, FINGERPRINT).rows) == 2


def test_only_the_newest_edition_must_fit(tmp_path: Path) -> None:
    keep(tmp_path, "1-000", row(1))
    changed = FINGERPRINT | {"benchmark files": "changed"}
    write_edition(tmp_path, "2", Edition(changed, 1), [row(1)])
    assert read_answers(tmp_path, changed).rows
    with pytest.raises(RunFailure, match="other benchmark files"):
        read_answers(tmp_path, FINGERPRINT | {"benchmark files": "changed again"})


def test_an_edition_that_was_not_finished_does_not_count(tmp_path: Path) -> None:
    keep(tmp_path, "1-000", row(1, reward=0.0))
    unfinished = log_path(tmp_path, "2").with_suffix(".unfinished")
    unfinished.write_text('{"version": 2, "edition": 1')
    assert read_answers(tmp_path, FINGERPRINT).rows == {(1, 0): row(1, reward=0.0)}
    write_edition(tmp_path, "2", Edition(FINGERPRINT, 1), [row(1, reward=1.0)])
    assert read_answers(tmp_path, FINGERPRINT).rows == {(1, 0): row(1, reward=1.0)}
    assert not unfinished.exists()


def test_an_answer_that_cannot_be_kept_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    class Full:
        def write(self, _data: bytes) -> int:
            raise OSError(28, "No space left on device")

    log = AnswerLog(log_path(tmp_path, "1-000"), Edition(FINGERPRINT))
    with log, monkeypatch.context() as patch, pytest.raises(RunFailure, match="No space left") as caught:
        patch.setattr(log, "_file", Full())
        log.write(to_line(row(1)))
    assert caught.value.reason == "disk"
    assert "Make room" in caught.value.message


def test_a_log_is_never_written_over(tmp_path: Path) -> None:
    keep(tmp_path, "1-000", row(1))
    with pytest.raises(RunFailure, match="File exists"):
        AnswerLog(log_path(tmp_path, "1-000"), Edition(FINGERPRINT))

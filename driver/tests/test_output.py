import json
from pathlib import Path

import pytest

from shardboard_driver.answers import AnswerLog, shard_folder
from shardboard_driver.failure import RunFailure
from shardboard_driver.output import prepare_folder, refuse_other_results

from .support import FINGERPRINT


def test_makes_the_folder(tmp_path: Path) -> None:
    folder = prepare_folder(str(tmp_path / "new" / "run"))
    assert folder.is_dir()
    assert list(folder.iterdir()) == []


def test_a_relative_folder_is_refused() -> None:
    with pytest.raises(RunFailure, match="absolute") as caught:
        prepare_folder("results/run")
    assert caught.value.reason == "disk"


def test_a_folder_that_cannot_be_is_refused(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(RunFailure, match="Choose another") as caught:
        prepare_folder(str(tmp_path / "file" / "run"))
    assert caught.value.reason == "disk"


def test_a_new_folder_and_one_of_the_same_run_are_fine(tmp_path: Path) -> None:
    refuse_other_results(tmp_path, FINGERPRINT)
    AnswerLog(shard_folder(tmp_path, 0), FINGERPRINT).__exit__()
    (tmp_path / "eval-1.json").write_text(json.dumps({}))
    refuse_other_results(tmp_path, FINGERPRINT)


def test_a_folder_of_another_run_is_refused(tmp_path: Path) -> None:
    AnswerLog(shard_folder(tmp_path, 0), FINGERPRINT).__exit__()
    with pytest.raises(RunFailure, match="another run"):
        refuse_other_results(tmp_path, {**FINGERPRINT, "benchmark": "other"})


@pytest.mark.parametrize("name", ["results.jsonl", "eval-20260101T000000Z-mmlu.json"])
def test_results_of_another_program_are_refused(tmp_path: Path, name: str) -> None:
    (tmp_path / name).touch()
    with pytest.raises(RunFailure, match="something else"):
        refuse_other_results(tmp_path, FINGERPRINT)

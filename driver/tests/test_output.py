import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from shardboard_driver.failure import RunFailure
from shardboard_driver.output import check_room, marked, prepare_folder, refuse_other_results, take_folder

from .test_answers import keep, row


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


def test_a_disk_without_room_is_refused_before_anything_is_asked(tmp_path: Path) -> None:
    check_room(tmp_path, 1000)
    free = shutil.disk_usage(tmp_path).free
    with pytest.raises(RunFailure, match=r"No question was asked\. Make room") as caught:
        check_room(tmp_path, free // 100)
    assert caught.value.reason == "disk"


HOLD = """
import sys
from pathlib import Path
from shardboard_driver.output import take_folder
take_folder(Path(sys.argv[1]))
print("taken", flush=True)
sys.stdin.read()
"""


def test_two_runs_do_not_write_into_one_folder(tmp_path: Path) -> None:
    command = [sys.executable, "-c", HOLD, str(tmp_path)]
    driver = Path(__file__).resolve().parents[1]
    with subprocess.Popen(command, cwd=driver, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as other:
        assert other.stdout and other.stdout.readline() == "taken\n"
        with pytest.raises(RunFailure, match="Another run is writing") as caught:
            take_folder(tmp_path)
        assert caught.value.reason == "request"
        # However it ends, the folder is free then.
        other.kill()
        other.wait()
    take_folder(tmp_path)


def test_the_mark_is_there_for_a_while(tmp_path: Path) -> None:
    with marked(tmp_path) as name:
        assert [path.name for path in tmp_path.iterdir()] == [name]
    assert list(tmp_path.iterdir()) == []


def test_a_new_folder_and_one_with_answers_are_fine(tmp_path: Path) -> None:
    refuse_other_results(tmp_path)
    keep(tmp_path, "1-000", row(1))
    (tmp_path / "eval-1.json").touch()
    refuse_other_results(tmp_path)


@pytest.mark.parametrize("name", ["results.jsonl", "eval-20260101T000000Z-mmlu.json"])
def test_results_of_another_program_are_refused(tmp_path: Path, name: str) -> None:
    (tmp_path / name).touch()
    with pytest.raises(RunFailure, match="something else"):
        refuse_other_results(tmp_path)

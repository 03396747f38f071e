"""Results that are fetched through the dashboard."""

import hashlib
from pathlib import Path

import pytest

from shardboard_driver.failure import RunFailure
from shardboard_driver.handover import bring_earlier_answers, resolve_output_folder, tell_files

from .support import events_in, make_request
from .test_answers import keep, row


@pytest.fixture
def session(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder of a session of Ray's, in which a job works in a copy of its package."""
    session = tmp_path / "session_2026"
    package = session / "runtime_resources" / "working_dir_files" / "_ray_pkg_1"
    package.mkdir(parents=True)
    (session / "logs").mkdir()
    monkeypatch.chdir(package)
    return session


def test_a_name_becomes_a_folder_for_its_owner_alone(session: Path) -> None:
    request = make_request(Path("run-1"), output_place="session")
    folder = Path(resolve_output_folder(request).output_folder)
    assert folder == session / "logs" / "shardboard" / "run-1"
    assert (folder.stat().st_mode & 0o077, folder.parent.stat().st_mode & 0o077) == (0, 0)
    # A run that is taken up again finds it.
    assert resolve_output_folder(request).output_folder == str(folder)


def test_a_folder_stays_what_it_is(tmp_path: Path) -> None:
    request = make_request(tmp_path)
    assert resolve_output_folder(request) is request


@pytest.mark.usefixtures("session")
@pytest.mark.parametrize("name", ["../run", "/run", "a/b", ".."])
def test_a_name_leads_nowhere_else(name: str) -> None:
    with pytest.raises(RunFailure, match="no plain name"):
        resolve_output_folder(make_request(Path("x"), output_place="session", output_folder=name))


def test_outside_of_a_session_there_is_no_place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(RunFailure, match="Ray session") as caught:
        resolve_output_folder(make_request(Path("run-1"), output_place="session"))
    assert caught.value.reason == "environment"


def test_every_file_is_told_with_how_to_know_it(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = tmp_path / "run-1"
    keep(folder, "1-000", row(1))
    (folder / "results.jsonl").write_bytes("ü\n".encode())
    (folder / ".lock").touch()
    tell_files(folder, "4f2a")
    [event] = events_in(capsys)
    assert (event["node"], event["folder"]) == ("4f2a", "shardboard/run-1")
    assert [file["name"] for file in event["files"]] == ["answers/1-000.jsonl", "results.jsonl"]
    assert event["files"][1] == {
        "name": "results.jsonl",
        "size": 3,
        "sha256": hashlib.sha256("ü\n".encode()).hexdigest(),
    }


def test_answers_that_came_along_are_used_where_there_are_none(session: Path) -> None:
    keep(Path.cwd() / "earlier", "1-000", row(1))
    folder = session / "logs" / "run-1"
    folder.mkdir()
    bring_earlier_answers(folder)
    assert [path.name for path in (folder / "answers").iterdir()] == ["1-000.jsonl"]
    # There are some now, perhaps more than came along.
    keep(Path.cwd() / "earlier", "2-000", row(2))
    bring_earlier_answers(folder)
    assert len(list((folder / "answers").iterdir())) == 1

from pathlib import Path

import pytest

from shardboard_driver.failure import RunFailure
from shardboard_driver.key import read_key, remove_key_file
from shardboard_driver.redaction import redact
from shardboard_driver.request import KeySource


def test_no_key_is_none() -> None:
    assert read_key(KeySource("none")) is None


def test_a_file_may_end_in_a_line_break(tmp_path: Path) -> None:
    file = tmp_path / "key"
    file.write_text("sk-secret\n")
    assert read_key(KeySource("file", str(file))) == "sk-secret"


def test_a_key_that_was_read_is_hidden(tmp_path: Path) -> None:
    file = tmp_path / "key"
    file.write_text("sk-secret")
    read_key(KeySource("file", str(file)))
    assert redact("Bearer sk-secret") == "Bearer <key>"


def test_the_file_is_removed(tmp_path: Path) -> None:
    file = tmp_path / "key"
    file.write_text("sk-secret")
    remove_key_file(KeySource("file", str(file)))
    assert not file.exists()
    # The extension may have been quicker, or it is not to be had.
    remove_key_file(KeySource("file", str(file)))
    remove_key_file(KeySource("file", str(tmp_path)))
    remove_key_file(KeySource("none"))
    remove_key_file(KeySource("environment", "MODEL_KEY"))


def test_an_environment_variable(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MODEL_KEY", "sk-secret")
    assert read_key(KeySource("environment", "MODEL_KEY")) == "sk-secret"


@pytest.mark.parametrize("content", ["", "  \n", "sk-secret\nsecond line", "sk-sécret"])
def test_what_cannot_be_a_key_is_refused_unseen(tmp_path: Path, content: str) -> None:
    file = tmp_path / "key"
    file.write_text(content)
    with pytest.raises(RunFailure) as caught:
        read_key(KeySource("file", str(file)))
    assert caught.value.reason == "request"
    assert "sk-" not in caught.value.message


def test_a_key_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(RunFailure, match="missing-key"):
        read_key(KeySource("file", str(tmp_path / "missing-key")))
    with pytest.raises(RunFailure, match="NO_SUCH_KEY"):
        read_key(KeySource("environment", "NO_SUCH_KEY"))

import os
from pathlib import Path

import pytest

from shardboard_driver.failure import RunFailure
from shardboard_driver.key import give_dataset_key, read_key, remove_key_files
from shardboard_driver.redaction import redact
from shardboard_driver.request import NO_KEY, Judge, KeySource

from .support import make_request


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


def test_the_files_with_keys_go_with_the_run(tmp_path: Path) -> None:
    files = [tmp_path / name for name in ("model", "judge", "dataset")]
    for file in files:
        file.write_text("sk-secret")
    model, judge, dataset = (KeySource("file", str(file)) for file in files)
    request = make_request(tmp_path, key=model, judge=Judge("http://judge/v1", "judge", judge), dataset_key=dataset)
    remove_key_files(request)
    assert not any(file.exists() for file in files)
    # Gone already, or not to be removed: nobody minds.
    remove_key_files(request)
    remove_key_files(make_request(tmp_path, key=KeySource("file", str(tmp_path))))
    remove_key_files(make_request(tmp_path, key=KeySource("environment", "MODEL_KEY")))


def test_the_key_of_a_dataset_is_where_those_look_who_load_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("HF_TOKEN", raising=False)
    give_dataset_key(NO_KEY)
    assert "HF_TOKEN" not in os.environ
    file = tmp_path / "key"
    file.write_text("hf_secret\n")
    give_dataset_key(KeySource("file", str(file)))
    assert os.environ["HF_TOKEN"] == "hf_secret"
    assert redact("hf_secret") == "<key>"
    monkeypatch.delenv("HF_TOKEN")


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

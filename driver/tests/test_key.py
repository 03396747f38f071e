import os
from pathlib import Path

import pytest

from shardboard_driver.failure import RunFailure
from shardboard_driver.key import Keys, read_key, remove_key_files, take_keys
from shardboard_driver.redaction import redact
from shardboard_driver.request import Judge, KeySource

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


def test_the_keys_are_taken_and_their_files_go(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("HF_TOKEN", raising=False)
    monkeypatch.setenv("JUDGE_KEY", "sk-judge")
    for name in ("model", "dataset"):
        (tmp_path / name).write_text(f"sk-{name}\n")
    request = make_request(
        tmp_path,
        key=KeySource("file", str(tmp_path / "model")),
        judge=Judge("http://judge/v1", "judge", KeySource("environment", "JUDGE_KEY")),
        dataset_key=KeySource("file", str(tmp_path / "dataset")),
    )
    keys = take_keys(request)
    assert (keys.model, keys.judge, keys.dataset) == ("sk-model", "sk-judge", "sk-dataset")
    assert list(tmp_path.iterdir()) == []
    # Where those look who load gated datasets.
    assert os.environ["HF_TOKEN"] == "sk-dataset"
    assert redact("sk-model sk-judge sk-dataset") == "<key> <key> <key>"
    assert "sk-" not in repr(keys)
    monkeypatch.delenv("HF_TOKEN")


def test_a_file_goes_also_when_another_key_is_not_there(tmp_path: Path) -> None:
    (tmp_path / "model").write_text("sk-model")
    gone = KeySource("file", str(tmp_path / "gone"))
    request = make_request(tmp_path, key=KeySource("file", str(tmp_path / "model")), dataset_key=gone)
    with pytest.raises(RunFailure):
        take_keys(request)
    assert list(tmp_path.iterdir()) == []


def test_a_run_without_keys_has_none(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("HF_TOKEN", raising=False)
    assert take_keys(make_request(tmp_path)) == Keys()
    assert "HF_TOKEN" not in os.environ

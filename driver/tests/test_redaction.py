"""The key must be in nothing that is printed or kept, also when the endpoint says it."""

import io
import logging
from pathlib import Path

import pytest

from shardboard_driver.answers import FOLDER
from shardboard_driver.asker import ShardWork
from shardboard_driver.failure import last_line
from shardboard_driver.key import take_keys
from shardboard_driver.redaction import hide, redact
from shardboard_driver.request import KeySource

from .model_server import Behaviour, Reply, serve
from .support import make_request, make_setup, number_in
from .test_pool import Process, questions, right

KEY = "sk-CANARY-0123456789"


def test_a_text() -> None:
    assert redact(f"boom Bearer {KEY}") == f"boom Bearer {KEY}"
    hide(KEY)
    assert redact(f"boom Bearer {KEY}, {KEY}") == "boom Bearer <key>, <key>"


def test_an_empty_key_redacts_nothing() -> None:
    hide("")
    assert redact("boom") == "boom"


def test_a_log_record_and_its_traceback(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    without_handlers(monkeypatch)
    hide(KEY)
    try:
        raise ValueError(f"Bearer {KEY}")
    except ValueError:
        logging.getLogger("somebody").exception("refused: %s", KEY)
    logging.getLogger("somebody").info("not worth a line")
    printed = capsys.readouterr().err
    assert "refused: <key>\nTraceback" in printed
    assert printed.endswith("ValueError: Bearer <key>\n")
    assert "not worth" not in printed


def test_a_key_that_is_cut_off(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    without_handlers(monkeypatch)
    hide(KEY)
    logging.getLogger("somebody").warning("body: %.12s", f"Bearer {KEY}")
    assert capsys.readouterr().err == "body: Bearer <key>\n"
    assert "sk-" not in last_line(ValueError("x" * 290 + KEY))


def test_a_handler_that_is_there_prints_once_and_in_its_own_way(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    without_handlers(monkeypatch)
    out = io.StringIO()
    handler = logging.StreamHandler(out)
    handler.setFormatter(logging.Formatter("%(levelname)s %(message)s"))
    logging.root.addHandler(handler)
    # Every attempt of a shard reads the key, perhaps in a process that has read it before.
    hide(KEY)
    hide(KEY)
    logging.getLogger("somebody").warning("refused: %s", KEY)
    assert out.getvalue() == "WARNING refused: <key>\n"
    assert capsys.readouterr().err == ""


@pytest.mark.parametrize("always", [True, False])
def test_an_endpoint_that_says_the_key(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], always: bool
) -> None:
    without_handlers(monkeypatch)
    # Refused twice, it is an answer that failed: the row says why.
    echo = Reply(401, {"error": f"boom Bearer {KEY}"}, f"boom Bearer {KEY}")
    key_file = tmp_path / "key"
    key_file.write_text(KEY)

    def behaviour(prompt: str, times: int) -> Reply:
        return echo if always or number_in(prompt) == 3 else right(prompt, times)

    said = ask_with_key(tmp_path / "out", key_file, behaviour, monkeypatch)
    captured = capsys.readouterr()
    [log] = (tmp_path / "out" / FOLDER).iterdir()
    kept = log.read_text()
    assert "boom Bearer <key>" in captured.err
    assert "boom Bearer <key>" in (said if always else kept)
    assert KEY not in said + captured.out + captured.err + kept


def without_handlers(monkeypatch: pytest.MonkeyPatch) -> None:
    """As in a process of the driver. No fixture: pytest adds handlers of its own right before each test."""
    monkeypatch.setattr(logging.root, "handlers", [])


def ask_with_key(folder: Path, key_file: Path, behaviour: Behaviour, monkeypatch: pytest.MonkeyPatch) -> str:
    """Gives what the shard says when it stops."""
    with serve(behaviour) as model:
        request = make_request(folder, model.url, key=KeySource("file", str(key_file)))
        keys = take_keys(request)
        [stop] = Process(make_setup(request), monkeypatch, keys).run([ShardWork(0, questions(range(10)))])
        assert model.authorization == {f"Bearer {KEY}"}
        return stop[1] if stop else ""

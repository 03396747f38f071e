"""A Python that cannot run the driver must be able to say so."""

import ast
import json
from pathlib import Path

import pytest

from shardboard_driver import __main__ as guard
from shardboard_driver import events

from .support import events_in

PACKAGE = Path(guard.__file__).parent


@pytest.mark.parametrize("name", ["__init__.py", "__main__.py"])
def test_an_old_python_can_read_it(name: str) -> None:
    ast.parse((PACKAGE / name).read_text(encoding="utf-8"), feature_version=(3, 7))


@pytest.mark.parametrize("version", [(3, 12, 0), (3, 12, 1), (3, 13, 9)])
def test_a_python_that_fits(version: tuple[int, int, int]) -> None:
    assert guard.refusal(version) is None


@pytest.mark.parametrize("version", [(3, 6, 15), (3, 11, 7), (3, 14, 0), (4, 0, 0)])
def test_a_python_that_does_not_fit(version: tuple[int, int, int], capsys: pytest.CaptureFixture[str]) -> None:
    refused = guard.refusal(version) or ""
    events.end("failed", "", reason="environment")
    told = json.loads(refused.removeprefix(events.MARKER))
    # Word for word the event that the driver proper would have written.
    assert told == events_in(capsys)[0] | {"t": told["t"], "message": told["message"]}
    assert list(told)[:3] == ["v", "t", "type"]
    assert told["message"] == (
        f"The cluster's `python` is {'.'.join(map(str, version))}, and the benchmark needs 3.12 or 3.13. "
        "Start the cluster from an environment that has it."
    )

import pytest

from shardboard_driver import redaction


@pytest.fixture(autouse=True)
def nothing_hidden(monkeypatch: pytest.MonkeyPatch) -> None:
    """A key that one test reads is no secret to the next."""
    monkeypatch.setattr(redaction, "_keys", set())

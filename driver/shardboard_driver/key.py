"""Gets the model's key from where the request says it is. A key is never printed, not even in an error."""

import os
from contextlib import suppress
from pathlib import Path

from .failure import RunFailure
from .redaction import hide
from .request import KeySource


def read_key(source: KeySource) -> str | None:
    """
    The key, or None when the model needs none. What this process prints does not hold it from now on.

    :raises RunFailure: reason `request`, when it is not there or cannot be a key.
    """
    match source.source:
        case "none":
            return None
        case "file":
            where = f"the file {source.place}"
            try:
                key = Path(source.place).read_text(encoding="utf-8").strip()
            except (OSError, UnicodeDecodeError) as error:
                raise RunFailure(
                    "request",
                    f"The key of the model cannot be read from {where} on the machine of the cluster. "
                    "Set the key again and submit once more.",
                ) from error
        case "environment":
            where = f"the environment variable {source.place}"
            key = os.environ.get(source.place, "").strip()
    if not key:
        raise RunFailure("request", f"There is no key in {where} on the machine of the cluster. Set it and try again.")
    if not (key.isascii() and key.isprintable()):
        # An HTTP library would refuse it with an error that quotes the whole key.
        raise RunFailure("request", f"What is in {where} cannot be a key: it has characters that no header may hold.")
    hide(key)
    return key


def remove_key_file(source: KeySource) -> None:
    """Removes the file of the key, if it is in one. Only at the very end: every attempt of a shard reads it again."""
    if source.source == "file":
        with suppress(OSError):
            Path(source.place).unlink()

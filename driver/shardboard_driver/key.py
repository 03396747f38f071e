"""Gets the keys from where the request says they are. A key is never printed, not even in an error."""

import os
from contextlib import suppress
from pathlib import Path

from .failure import RunFailure
from .redaction import hide
from .request import KeySource, RunRequest


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
                    f"A key of the run cannot be read from {where} on the machine of the cluster. "
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


def give_dataset_key(source: KeySource) -> None:
    """
    Lets the libraries that load gated datasets find their key.

    :raises RunFailure: reason `request`, when it is not there or cannot be a key.
    """
    key = read_key(source)
    if key is not None:
        os.environ["HF_TOKEN"] = key


def key_sources(request: RunRequest) -> list[KeySource]:
    """Where all the keys of a run are: the model's, the judge's, and that of its dataset."""
    return [request.key, request.dataset_key, *([request.judge.key] if request.judge else [])]


def remove_key_files(request: RunRequest) -> None:
    """Removes the files with keys. Only at the very end: every attempt of a shard reads them again."""
    for source in key_sources(request):
        if source.source == "file":
            with suppress(OSError):
                Path(source.place).unlink()

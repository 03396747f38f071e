"""Gets the keys from where the request says they are. A key is never printed, not even in an error."""

import os
from contextlib import suppress
from dataclasses import dataclass, field
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


@dataclass(frozen=True)
class Keys:
    """The keys of a run. They travel to its processes in calls, which Ray keeps nowhere, and are never printed."""

    model: str | None = field(default=None, repr=False)
    judge: str | None = field(default=None, repr=False)
    dataset: str | None = field(default=None, repr=False)

    def settle(self) -> None:
        """Hides them from what this process prints, and lets the libraries that load gated datasets find theirs."""
        for key in (self.model, self.judge, self.dataset):
            hide(key or "")
        if self.dataset is not None:
            os.environ["HF_TOKEN"] = self.dataset


def take_keys(request: RunRequest) -> Keys:
    """
    Reads the keys and removes the files that were made to hand them over.

    :raises RunFailure: reason `request`, when one is not there or cannot be a key.
    """
    try:
        keys = Keys(
            model=read_key(request.key),
            judge=read_key(request.judge.key) if request.judge else None,
            dataset=read_key(request.dataset_key),
        )
    finally:
        remove_key_files(request)
    keys.settle()
    return keys


def key_sources(request: RunRequest) -> list[KeySource]:
    """Where all the keys of a run are: the model's, the judge's, and that of its dataset."""
    return [request.key, request.dataset_key, *([request.judge.key] if request.judge else [])]


def remove_key_files(request: RunRequest) -> None:
    """Removes the files with keys: they were made for this run, and from now on it has them in memory."""
    for source in key_sources(request):
        if source.source == "file":
            with suppress(OSError):
                Path(source.place).unlink()

"""The output folder: whether it can be used, and that one run at a time does."""

import fcntl
import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from uuid import uuid4

from .answers import has_answers
from .failure import RunFailure

FEWEST_BYTES = 500
"""Of an answer on disk: the row without its texts. Most take some thousands."""

MEGABYTE = 1_000_000


def prepare_folder(output_folder: str) -> Path:
    """
    Makes the folder and tries to write into it.

    :raises RunFailure: reason `disk`.
    """
    folder = Path(output_folder)
    if not folder.is_absolute():
        # It would lie inside Ray's copy of the package, and vanish with it.
        raise RunFailure("disk", f"The output folder {folder} is no absolute path. Give one that begins with /.")
    try:
        folder.mkdir(parents=True, exist_ok=True)
        probe = folder / ".writable"
        probe.write_bytes(b"\0")
        probe.unlink()
    except OSError as error:
        raise RunFailure(
            "disk",
            f"The output folder {folder} cannot be written on the machine of the cluster ({error.strerror}). "
            "No question was asked. Choose another one.",
        ) from error
    return folder


def check_room(folder: Path, answers: int) -> None:
    """
    :raises RunFailure: reason `disk`, when so many answers cannot find room, be they as short as answers are.
    """
    needed, free = answers * FEWEST_BYTES, shutil.disk_usage(folder).free
    if free < needed:
        raise RunFailure(
            "disk",
            f"The disk of the output folder {folder} has room for {free / MEGABYTE:,.1f} MB, and {answers:,} answers "
            f"take {needed / MEGABYTE:,.1f} MB at the very least. No question was asked. Make room, or choose another "
            "folder.",
        )


def take_folder(folder: Path) -> None:
    """
    Keeps every other run out of the folder until this process ends, however it ends.

    :raises RunFailure: reason `request`, when another run is writing into it.
    """
    lock = os.open(folder / ".lock", os.O_RDWR | os.O_CREAT, 0o644)
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError as error:
        raise RunFailure(
            "request",
            f"Another run is writing into the folder {folder}. No question was asked. "
            "Wait until it has ended, or choose another folder.",
        ) from error
    except OSError:
        # A file system without locks, as some of clusters are: then nobody watches over it.
        os.close(lock)


@contextmanager
def marked(folder: Path) -> Iterator[str]:
    """Puts an empty file into the folder for a while; whoever sees it writes to the same disk. Gives its name."""
    name = f".run-{uuid4().hex}"
    (folder / name).touch()
    try:
        yield name
    finally:
        with suppress(OSError):
            (folder / name).unlink()


def refuse_other_results(folder: Path) -> None:
    """
    A folder is either new or of a run of ours, which then goes on if it is the same.

    :raises RunFailure: reason `request`.
    """
    if has_answers(folder):
        return
    if any(folder.glob("*eval-*.json")) or (folder / "results.jsonl").exists():
        raise RunFailure(
            "request",
            f"The folder {folder} has results of something else. No question was asked. Choose another folder.",
        )

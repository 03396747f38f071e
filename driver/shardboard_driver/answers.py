"""
The answers on disk, one row a line, written as they come: what was paid for is never asked twice.

Each process of each run into a folder writes a log of its own, `answers/*.jsonl`; what counts is the problem and the
repeat of a row, wherever it stands. A line is handed to the operating system at once, so it survives the death of the
process; `sync` brings it to the disk. It is called a few times a second: once an answer, it would be the limit of the
whole run.
"""

import json
import logging
import os
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Self

from .failure import RunFailure, disk_trouble
from .rows import AnswerKey, Row, key_of, outcome_of, to_line

logger = logging.getLogger(__name__)

type Fingerprint = dict[str, str | int | None]
"""What must be the same for answers to belong to one run. Its words are shown to people."""

JUDGE = "judge"
"""In a fingerprint. In a log without a judge no answer was judged, so one may be chosen later."""

VERSION = 2
FOLDER = "answers"
SUFFIX = ".jsonl"


@dataclass(frozen=True)
class Edition:
    """
    Which answers belong together. Scoring them again makes the next edition, which takes the place of the one before
    at the moment when its file gets its name.
    """

    run: Fingerprint
    number: int = 0


class AnswerLog:
    """The log of one process, open for more answers."""

    def __init__(self, path: Path, edition: Edition) -> None:
        """
        :raises RunFailure: reason `disk`, when it cannot be made.
        """
        self._path = path
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            # Unbuffered: a buffer would try to write what failed once more when it is closed.
            self._file = path.open("xb", buffering=0)
        except OSError as error:
            raise self._trouble(error) from error
        self._unsynced = False
        self.write(json.dumps({"version": VERSION, "edition": edition.number, "run": edition.run}) + "\n")

    def write(self, line: str) -> None:
        """
        Keeps a line.

        :raises RunFailure: reason `disk`, when it cannot be kept: what comes after it would be paid for in vain.
        """
        data = line.encode()
        try:
            while data:
                data = data[self._file.write(data) :]
        except OSError as error:
            raise self._trouble(error) from error
        self._unsynced = True

    def sync(self) -> None:
        """Waits until what was written is on the disk."""
        if self._unsynced:
            self._unsynced = False
            os.fsync(self._file.fileno())

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.sync()
        self._file.close()

    def _trouble(self, error: OSError) -> RunFailure:
        return RunFailure("disk", disk_trouble(f"Answers cannot be kept in {self._path.parent}", error))


@dataclass
class Stored:
    """The answers of the newest edition."""

    rows: dict[AnswerKey, Row] = field(default_factory=dict)
    edition: int = 0
    broken: int = 0
    """Lines that cannot be read, unfinished ones aside: their answers are asked again."""


def read_answers(output_folder: Path, fingerprint: Fingerprint, *, but: frozenset[str] = frozenset()) -> Stored:
    """
    All answers in a folder. Of several to one question the last counts, but a failed one never hides a good one.

    :param but: what of the fingerprint may differ.
    :raises RunFailure: reason `request`, when the folder has the answers of another run.
    """
    logs = []
    for path in sorted(output_folder.glob(f"{FOLDER}/*{SUFFIX}")):
        header = _header(next(_whole_lines(path), b""))
        if header:
            logs.append((header, path))
    stored = Stored(edition=max((header.number for header, _ in logs), default=0))
    newest = [(header.run, path) for header, path in logs if header.number == stored.edition]
    for run, _ in newest:
        _refuse_another_run(output_folder, run, fingerprint, but)
    for _, path in newest:
        _read_log(path, stored)
    if stored.broken:
        logger.warning("%d damaged lines of earlier answers are left out; they are asked again.", stored.broken)
    return stored


def log_path(output_folder: Path, name: str) -> Path:
    """Where the process of this name keeps its answers."""
    return output_folder / FOLDER / f"{name}{SUFFIX}"


def read_log(path: Path) -> dict[AnswerKey, Row]:
    """What a process has left in its log; nothing when there is none."""
    stored = Stored()
    if path.exists():
        _read_log(path, stored)
    return stored.rows


def has_answers(output_folder: Path) -> bool:
    """Whether a run has been here."""
    return any(output_folder.glob(f"{FOLDER}/*{SUFFIX}"))


def write_edition(output_folder: Path, name: str, edition: Edition, rows: list[Row]) -> None:
    """Makes these rows the answers of the folder, all at once."""
    final = log_path(output_folder, name)
    unfinished = final.with_suffix(".unfinished")
    unfinished.unlink(missing_ok=True)
    with AnswerLog(unfinished, edition) as log:
        for row in rows:
            log.write(to_line(row))
    unfinished.replace(final)


def _read_log(path: Path, stored: Stored) -> None:
    for number, line in enumerate(_whole_lines(path)):
        if number == 0:
            continue
        try:
            row: Row = json.loads(line)
            key, failed = key_of(row), outcome_of(row) == "endpoint_error"
        except (ValueError, KeyError, TypeError):
            stored.broken += 1
            continue
        if not failed or key not in stored.rows:
            stored.rows[key] = row


def _whole_lines(path: Path) -> Iterator[bytes]:
    # What a dying process leaves of a line has no end.
    with path.open("rb") as file:
        for line in file:
            if line.endswith(b"\n"):
                yield line


def _header(line: bytes) -> Edition | None:
    """None for a log whose process died before it wrote one: it has no answers."""
    try:
        raw: dict[str, Any] = json.loads(line) if line else {}
        return Edition(dict(raw["run"]) if raw["version"] == VERSION else {}, int(raw["edition"])) if raw else None
    except (ValueError, KeyError, TypeError):
        return Edition({}, 0)


def _refuse_another_run(folder: Path, found: Fingerprint, wanted: Fingerprint, but: frozenset[str]) -> None:
    free = but | ({JUDGE} if found.get(JUDGE) is None else set())
    differing = [name for name, value in wanted.items() if name not in free and found.get(name) != value]
    if differing:
        raise RunFailure(
            "request",
            f"The folder {folder} has answers of another run (other {', '.join(differing)}). "
            "No question was asked. Choose another folder.",
        )

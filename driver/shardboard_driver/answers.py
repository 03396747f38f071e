"""
The answers of a shard on disk, one row a line, written as they come: what was paid for is never asked twice.

A line is handed to the operating system at once, so it survives the death of the process; `sync` brings it to the
disk. It is called a few times a second: once an answer, it would be the limit of the whole run.
"""

import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Self

from .failure import RunFailure, disk_trouble
from .rows import AnswerKey, Row, key_of, outcome_of, to_line

type Fingerprint = dict[str, str | int | None]
"""What must be the same for answers to belong to one run. Its words are shown to people."""

VERSION = 1
FILE = "answers.jsonl"


def shard_folder(output_folder: Path, shard: int) -> Path:
    return output_folder / "shards" / f"shard-{shard:04}"


class AnswerLog:
    """The log of one shard, open for more answers. `rows` has those that need not be asked again."""

    def __init__(self, folder: Path, fingerprint: Fingerprint) -> None:
        """
        :raises RunFailure: reason `request`, when the folder has the answers of another run.
        """
        folder.mkdir(parents=True, exist_ok=True)
        self._folder = folder
        path = folder / FILE
        self.rows: dict[AnswerKey, Row] = {}
        whole = 0
        if path.exists():
            refuse_another_run(path, fingerprint)
            whole = self._read(path)
        # Unbuffered: a buffer would try to write what failed once more when it is closed.
        self._file = path.open("ab", buffering=0)
        # What a dying process left of a line would spoil the line that comes after it.
        self._file.truncate(whole)
        self._unsynced = False
        if whole == 0:
            self._write(json.dumps({"version": VERSION, "run": fingerprint}) + "\n")

    def _read(self, path: Path) -> int:
        """Reads the whole lines; gives how many bytes they are."""
        end = 0
        for line in _whole_lines(path):
            if end > 0:
                row = json.loads(line)
                # An answer that failed at the endpoint is asked again, as the evaluator's own resume does.
                if outcome_of(row) != "endpoint_error":
                    self.rows[key_of(row)] = row
            end += len(line)
        return end

    def append(self, row: Row) -> Row:
        """
        Keeps a row; gives it back as a reader of the file will see it.

        :raises RunFailure: reason `disk`, when it cannot be kept: what comes after it would be paid for in vain.
        """
        line = to_line(row)
        self._write(line)
        kept: Row = json.loads(line)
        self.rows[key_of(kept)] = kept
        return kept

    def _write(self, line: str) -> None:
        data = line.encode()
        try:
            while data:
                data = data[self._file.write(data) :]
        except OSError as error:
            raise RunFailure("disk", disk_trouble(f"Answers cannot be kept in {self._folder}", error)) from error
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


def refuse_another_run(path: Path, fingerprint: Fingerprint) -> None:
    """
    :raises RunFailure: reason `request`, when the log at `path` was not begun by the same run.
    """
    first = next(_whole_lines(path), None)
    if first is None:
        return
    differing = [name for name, value in fingerprint.items() if _header(first).get(name) != value]
    if differing:
        raise RunFailure(
            "request",
            f"The folder {path.parents[2]} has answers of another run (other {', '.join(differing)}). "
            "No question was asked. Choose another folder.",
        )


def count_answers(output_folder: Path, shard: int) -> int:
    """How many answers of a shard are on disk, whatever became of the shard."""
    try:
        with (shard_folder(output_folder, shard) / FILE).open("rb") as file:
            lines = sum(block.count(b"\n") for block in iter(lambda: file.read(1 << 20), b""))
    except OSError:
        # The last word of a run needs this number, whatever became of the folder.
        return 0
    return max(0, lines - 1)


def has_log(output_folder: Path, shard: int) -> bool:
    """Whether the answers of a shard, as many as there are, can be read from the disk."""
    return os.access(shard_folder(output_folder, shard) / FILE, os.R_OK)


def _whole_lines(path: Path) -> Iterator[bytes]:
    with path.open("rb") as file:
        for line in file:
            if line.endswith(b"\n"):
                yield line


def _header(line: bytes) -> dict[str, Any]:
    try:
        header = json.loads(line)
        return dict(header["run"]) if header["version"] == VERSION else {}
    except (ValueError, KeyError, TypeError):
        return {}

"""
Tells the extension what happens: one JSON object a line, behind a marker, on standard output.
The other side is `src/protocol/driverEvents.ts`; a change here is a change there, and a new version number.

Only the driver itself tells, so that nothing is lost or out of order; and every event may be read twice without harm.
"""

import io
import json
import os
import sys
import threading
import time
from collections.abc import Mapping, Sequence
from typing import Any, Literal

from .failure import Reason
from .redaction import redact

MARKER = "@shardboard "
VERSION = 2

type Stage = Literal["connecting", "loading_benchmark", "checking_endpoint", "asking", "merging"]
type Outcome = Literal["ok", "endpoint_error", "truncated", "empty", "judge_error"]
type ShardState = Literal["queued", "running", "failed"]
type EndOutcome = Literal["complete", "partial", "failed", "stopped"]
type CompactAnswer = tuple[int, int, int, float, float, int, Outcome]
"""Position in the order of the run, problem index, repeat, reward, latency in ms, tokens, outcome."""

ANSWERS_A_LINE = 500
"""A line is no longer than some tens of kilobytes."""


def stage(name: Stage) -> None:
    _emit("stage", stage=name)


def start(
    *,
    benchmark: str,
    problems: int,
    repeats: int,
    ranges: Sequence[tuple[int, int]],
    folder: str,
    versions: Mapping[str, str],
) -> None:
    """`folder` is the output folder on this machine; `versions` names `evaluator`, `ray` and `python`."""
    _emit("start", benchmark=benchmark, problems=problems, repeats=repeats, ranges=ranges, folder=folder, **versions)


def shard(index: int, attempt: int, state: ShardState, message: str | None = None, node: str | None = None) -> None:
    """`node` is the name of the machine that asks it."""
    why = {} if message is None else {"message": redact(message)}
    where = {} if node is None else {"node": node}
    _emit("shard", shard=index, attempt=attempt, state=state, **why, **where)


def answers(index: int, attempt: int, new: Sequence[CompactAnswer]) -> None:
    for first in range(0, len(new), ANSWERS_A_LINE):
        _emit("answers", shard=index, attempt=attempt, answers=new[first : first + ANSWERS_A_LINE])


def shard_done(index: int, attempt: int, seconds: float) -> None:
    """Every answer of the shard has been told."""
    _emit("shard_done", shard=index, attempt=attempt, seconds=round(seconds, 3))


def merged(*, complete: bool, scores: Mapping[str, Any], categories: Mapping[str, Any], bundle: str) -> None:
    _emit("merged", complete=complete, scores=scores, categories=categories, bundle=bundle)


def files(node: str, folder: str, list_: Sequence[Mapping[str, str | int]]) -> None:
    """Each with `name`, `size` and `sha256`; below a folder of the logs of the node with this id."""
    _emit("files", node=node, folder=folder, files=list_)


def end(
    outcome: EndOutcome,
    message: str,
    *,
    reason: Reason | None = None,
    answered: int = 0,
    expected: int = 0,
    endpoint_errors: int = 0,
    judge_errors: int = 0,
    truncated: int = 0,
    empty: int = 0,
    missing_shards: Sequence[int] = (),
) -> None:
    _emit(
        "end",
        outcome=outcome,
        **({} if reason is None else {"reason": reason}),
        message=redact(message),
        answered=answered,
        expected=expected,
        endpointErrors=endpoint_errors,
        judgeErrors=judge_errors,
        truncated=truncated,
        empty=empty,
        missingShards=missing_shards,
    )


def _emit(type_: str, **fields: Any) -> None:
    event = {"v": VERSION, "t": round(time.time(), 3), "type": type_, **fields}
    sys.stdout.write(f"{MARKER}{json.dumps(event, separators=(',', ':'), allow_nan=False)}\n")
    sys.stdout.flush()


class WholeLines(io.TextIOBase):
    """
    A standard output on which the lines of several threads never mix.

    Ray prints what the workers say from a thread of its own, and `print` writes a line and its end apart; an event
    written in between would be lost to the reader.
    """

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor
        self._begun: dict[int, str] = {}
        # Reentrant, for the signal handler writes the last event while the main thread may be writing one.
        self._lock = threading.RLock()

    def writable(self) -> bool:
        return True

    def write(self, text: str, /) -> int:
        with self._lock:
            thread = threading.get_ident()
            whole, newline, rest = (self._begun.pop(thread, "") + text).rpartition("\n")
            if rest:
                self._begun[thread] = rest
            data = (whole + newline).encode("utf-8", "replace")
            while data:
                data = data[os.write(self._descriptor, data) :]
        return len(text)

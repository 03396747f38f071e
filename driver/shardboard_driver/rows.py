"""The rows of `results.jsonl`: the evaluator's own keys, and beside them what its merge would lose."""

import json
from typing import Any, Literal

from .events import CompactAnswer, Outcome

type Row = dict[str, Any]
type AnswerKey = tuple[int, int]
"""Problem index, repeat."""

OURS = "shardboard"
"""Our key in a row: position, outcome, finish_reason, attempts and the tokens apart."""


UNSCORED = "unscored"
"""The outcome, in a log alone, of an answer whose scorer failed or had no judge: it is scored when the run goes on."""


def key_of(row: Row) -> AnswerKey:
    return row["problem_idx"], row["repeat"]


def outcome_of(row: Row) -> Outcome | Literal["unscored"]:
    outcome: Outcome | Literal["unscored"] = row[OURS]["outcome"]
    return outcome


def compact(row: Row) -> CompactAnswer:
    """The row as it travels to the extension."""
    return (
        row[OURS]["position"],
        row["problem_idx"],
        row["repeat"],
        float(row["reward"]),
        round(row["latency_ms"], 1),
        row["tokens"] or 0,
        row[OURS]["outcome"],
    )


def to_line(row: Row) -> str:
    """One line of JSON, with its end. What JSON does not know becomes text, as in the evaluator's own files."""
    return json.dumps(row, default=str) + "\n"

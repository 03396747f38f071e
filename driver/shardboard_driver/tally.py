"""What is known of a run at any moment. The last event is written from it, whenever that comes."""

import json
from collections import Counter
from collections.abc import Collection, Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from . import events
from .events import CompactAnswer, Outcome
from .failure import Reason
from .request import RunRequest
from .rows import OURS, AnswerKey, Row, compact, to_line
from .spending import Spending


@dataclass
class Tally:
    """The run so far."""

    request: RunRequest
    expected: int = 0
    """Answers in all; 0 until the benchmark is loaded."""
    answers: dict[AnswerKey, tuple[CompactAnswer, str]] = field(default_factory=dict)
    """Those of this run's problems and repeats, each with its line in the log."""
    asked: list[CompactAnswer] = field(default_factory=list)
    """Those that were not there when the run began."""

    phase: Literal["preparing", "asking", "merging"] = "preparing"
    is_stopped: bool = False
    """Whether somebody has asked for its end."""

    spent: Spending = field(default_factory=Spending)

    def should_end(self, in_flight: int = 0) -> Literal["stopped", "budget"] | None:
        """
        Why no more is to be asked, or None.

        :param in_flight: questions that will cost what the others have cost.
        """
        if self.is_stopped:
            return "stopped"
        return "budget" if self.spent.reaches(self.request.budget, self.request.prices, in_flight) else None

    @property
    def folder(self) -> Path:
        return Path(self.request.output_folder)

    def take(self, answer: CompactAnswer, line: str) -> None:
        """Takes an answer that was just given."""
        _, problem, repeat, *_ = answer
        self.answers[problem, repeat] = answer, line
        self.asked.append(answer)
        if self.request.budget.tokens is not None or self.request.budget.money is not None:
            self.spent.add(json.loads(line)[OURS])

    def take_row(self, row: Row) -> CompactAnswer:
        """Takes an answer that was found on disk; gives it as it is told."""
        answer = compact(row)
        _, problem, repeat, *_ = answer
        self.answers[problem, repeat] = answer, to_line(row)
        return answer

    def unanswered(self, keys: Iterable[tuple[int, AnswerKey]]) -> list[tuple[int, AnswerKey]]:
        """Those of the keys, each with its position, that have no answer yet."""
        return [(position, key) for position, key in keys if key not in self.answers]

    def rows(self) -> list[Row]:
        """All answers as they are in the logs."""
        return [json.loads(line) for _, line in self.answers.values()]

    def outcomes(self) -> Counter[Outcome]:
        """How many answers ended in which way."""
        return Counter(answer[6] for answer, _ in self.answers.values())

    def end(
        self,
        outcome: events.EndOutcome,
        message: str,
        reason: Reason | None = None,
        missing_shards: Collection[int] = (),
    ) -> None:
        """Tells how the run ended."""
        outcomes = self.outcomes()
        events.end(
            outcome,
            message,
            reason=reason,
            answered=len(self.answers),
            expected=self.expected,
            endpoint_errors=outcomes["endpoint_error"],
            judge_errors=outcomes["judge_error"],
            truncated=outcomes["truncated"],
            empty=outcomes["empty"],
            missing_shards=sorted(missing_shards),
        )

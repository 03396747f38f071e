"""What is known of a run at any moment. The last event is written from it, whenever that comes."""

from collections.abc import Collection, Iterable
from dataclasses import dataclass, field
from pathlib import Path

from . import events
from .answers import count_answers, has_log
from .failure import Reason
from .request import RunRequest
from .rows import Row, outcome_of


@dataclass
class Tally:
    """The run so far."""

    request: RunRequest
    expected: int = 0
    """Answers in all; 0 until the benchmark is loaded."""
    done: dict[int, list[Row]] = field(default_factory=dict)
    """The rows of each finished shard."""

    def answered(self) -> int:
        """Answers that are there, those of unfinished shards too."""
        return self._count(range(self.request.shards))

    def kept(self) -> int:
        """Answers that are on disk: none of them when the folder was removed in the middle of the run."""
        folder = Path(self.request.output_folder)
        return self._count(shard for shard in range(self.request.shards) if has_log(folder, shard))

    def _count(self, shards: Iterable[int]) -> int:
        if self.expected == 0:
            return 0
        folder = Path(self.request.output_folder)
        counts = [len(self.done[i]) if i in self.done else count_answers(folder, i) for i in shards]
        # An answer that failed and was asked again is on disk twice.
        return min(sum(counts), self.expected)

    def endpoint_errors(self) -> int:
        """Answers of finished shards that failed at the endpoint, and so count as 0."""
        return sum(outcome_of(row) == "endpoint_error" for rows in self.done.values() for row in rows)

    def end(
        self,
        outcome: events.EndOutcome,
        message: str,
        reason: Reason | None = None,
        missing_shards: Collection[int] = (),
    ) -> None:
        """Tells how the run ended."""
        events.end(
            outcome,
            message,
            reason=reason,
            answered=self.answered(),
            expected=self.expected,
            endpoint_errors=self.endpoint_errors(),
            missing_shards=sorted(missing_shards),
        )

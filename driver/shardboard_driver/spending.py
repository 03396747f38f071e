"""What a run has used up, and whether that is what it was allowed."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from .request import Budget, Prices

PRICED = 1_000_000
"""Prices are for so many tokens."""


@dataclass
class Spending:
    """The tokens of the answers that this run has asked for."""

    answers: int = 0
    prompt_tokens: int = 0
    completion_tokens: int = 0

    def add(self, ours: Mapping[str, Any]) -> None:
        """Takes the tokens of one answer, as they stand in its row."""
        self.answers += 1
        self.prompt_tokens += ours["prompt_tokens"] or 0
        self.completion_tokens += ours["completion_tokens"] or 0

    def reaches(self, budget: Budget, prices: Prices | None, in_flight: int) -> bool:
        """Whether the budget of tokens or money is used up when what is in flight costs what an answer has cost."""
        if self.answers == 0:
            return False
        share = (self.answers + in_flight) / self.answers
        tokens = self.prompt_tokens + self.completion_tokens
        if budget.tokens is not None and tokens * share >= budget.tokens:
            return True
        if budget.money is None or prices is None:
            return False
        money = self.prompt_tokens * prices.prompt_tokens + self.completion_tokens * prices.completion_tokens
        return money / PRICED * share >= budget.money

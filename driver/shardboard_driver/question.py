"""
Asks one question and scores the answer, in the evaluator's terms: its environment, solver and rows.

Not with `run_evaluation`: that syncs the disk twice an answer, computes confidence intervals for each shard that the
merge throws away, and asks the model again when it is the scorer that failed.
"""

import asyncio
import logging
import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import aiohttp
from nemo_evaluator.environments.base import EvalEnvironment, SeedResult, VerifyResult
from nemo_evaluator.errors import GracefulError, InfraError
from nemo_evaluator.solvers import Solver, SolveResult

from .events import Outcome
from .failure import last_line
from .redaction import redact
from .rows import OURS, Row

logger = logging.getLogger(__name__)

RETRY_PAUSES_S = (5.0, 10.0)
"""Before a second and a third try of an answer, as the evaluator does it. Each try is up to four requests."""

BUSY = (429, 503)
"""Answers of a server that is there and wants to be asked later."""


class ShardStop(Exception):
    """The shard cannot go on. `kind` says whose fault it is."""

    def __init__(self, kind: Literal["endpoint", "scorer", "judge"], message: str) -> None:
        super().__init__(message)
        self.kind = kind
        self.message = message


class CircuitBreaker:
    """
    Stops a shard whose endpoint is gone: after so many failures in a row that no answer can be expected any more.

    Without it a dead endpoint would be asked for hours, twelve requests a problem, for a score of 0. Counted are
    failed tries, so that it takes seconds (each try is already four requests with pauses between); of a server that
    only says it is busy, answers that were given up.
    """

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._failures = 0

    def succeeded(self) -> None:
        self._failures = 0

    def failed(self, said: str) -> None:
        """
        :raises ShardStop: when it was one too many.
        """
        self._failures += 1
        if self._failures >= self._limit:
            raise ShardStop("endpoint", f"The endpoint failed {self._failures} times in a row, last: {said}")


@dataclass(frozen=True)
class Question:
    """One problem in one repeat."""

    position: int
    problem: int
    repeat: int
    seed: SeedResult


@dataclass(frozen=True)
class Answer:
    """What came of asking: the model's response, or the error that every try ended in."""

    solved: SolveResult | None
    error: str | None
    tries: int


async def ask(
    question: Question,
    solver: Solver,
    environment: EvalEnvironment,
    breaker: CircuitBreaker,
    pauses: Sequence[float] = RETRY_PAUSES_S,
) -> Row:
    """
    The row of one answer. An answer that failed at the endpoint is a row with reward 0, as the evaluator writes it.

    :raises ShardStop: when the endpoint is gone, the scorer fails or a judge is needed.
    """
    answer = await _solve(question, solver, breaker, pauses)
    response = answer.solved.response if answer.solved else ""
    verified = await _score(question, answer, response, environment)
    if verified.scoring_details.get("needs_judge"):
        raise ShardStop("judge", "The scorer of this benchmark leaves the score to a judge model.")
    model = answer.solved.model_response if answer.solved else None
    row: Row = {
        "problem_idx": question.problem,
        "repeat": question.repeat,
        "reward": verified.reward,
        "scorer_rewards": {},
        "prompt": question.seed.prompt,
        "model_response": response,
        "extracted_answer": verified.extracted_answer,
        "expected_answer": question.seed.expected_answer,
        "scoring_details": verified.scoring_details,
        "metadata": {**question.seed.metadata, **verified.metadata},
        "tokens": model.total_tokens if model else 0,
        "latency_ms": model.latency_ms if model else 0.0,
    }
    if answer.solved and answer.solved.trajectory:
        row["trajectory"] = answer.solved.trajectory
    row[OURS] = {
        "position": question.position,
        "outcome": _outcome(answer, response),
        "attempts": answer.tries,
        "finish_reason": model.finish_reason if model else "",
        "prompt_tokens": model.prompt_tokens if model else 0,
        "completion_tokens": model.completion_tokens if model else 0,
        "reasoning_tokens": model.reasoning_tokens if model else 0,
    }
    return row


async def score_again(question: Question, row: Row, environment: EvalEnvironment) -> Row:
    """
    The row with the score that the benchmark gives now to the answer that is in it. Nothing is asked.

    :raises ShardStop: when the scorer fails, or the question is no longer the one that was asked.
    """
    if row["prompt"] != question.seed.prompt:
        raise ShardStop(
            "scorer",
            f"The benchmark asks problem {question.problem} in other words than those that were answered. "
            "Run the benchmark anew.",
        )
    verified = await _verify(question, row["model_response"], environment)
    return row | {
        "reward": verified.reward,
        "extracted_answer": verified.extracted_answer,
        "expected_answer": question.seed.expected_answer,
        "scoring_details": verified.scoring_details,
        "metadata": {**question.seed.metadata, **verified.metadata},
    }


async def _solve(question: Question, solver: Solver, breaker: CircuitBreaker, pauses: Sequence[float]) -> Answer:
    tries = 1 + len(pauses)
    for count in range(1, tries + 1):
        try:
            solved = await solver.solve(question.seed)
        # Beside the client's InfraError: a completion so malformed that the client trips over it.
        except Exception as error:
            said = redact(str(error)) if isinstance(error, InfraError) else last_line(error)
            last = count == tries
            if last or not _is_busy(error):
                breaker.failed(said)
            if last:
                return Answer(None, said, count)
            pause = pauses[count - 1]
            logger.warning("problem %d, repeat %d: %s (again in %g s)", question.problem, question.repeat, said, pause)
            await asyncio.sleep(pause)
        else:
            breaker.succeeded()
            return Answer(solved, None, count)
    raise AssertionError("every try returns or goes on")


def _is_busy(error: Exception) -> bool:
    cause = error.__cause__
    return isinstance(cause, aiohttp.ClientResponseError) and cause.status in BUSY


async def _score(question: Question, answer: Answer, response: str, environment: EvalEnvironment) -> VerifyResult:
    if answer.error is not None:
        # Word for word what the evaluator writes for an answer that could not be had.
        return VerifyResult(
            reward=0.0,
            scoring_details={
                "error": answer.error,
                "error_category": "infra_error",
                "method": "infra_error",
                "retries_exhausted": answer.tries,
            },
        )
    return await _verify(question, response, environment)


async def _verify(question: Question, response: str, environment: EvalEnvironment) -> VerifyResult:
    for last in (False, True):
        try:
            verified = await environment.verify(
                response, question.seed.expected_answer, sandbox=None, **question.seed.metadata
            )
            if not math.isfinite(verified.reward):
                raise ValueError(f"the reward is {verified.reward}")
        except GracefulError as error:
            details = {"error": redact(str(error)), "error_category": "graceful", "method": "graceful_error"}
            return VerifyResult(reward=0.0, scoring_details=details)
        # The model's answer is good and paid for, so only the scoring is tried again.
        except Exception as error:
            if last:
                raise ShardStop(
                    "scorer",
                    f"The benchmark's scorer failed twice on the answer to problem {question.problem} "
                    f"(repeat {question.repeat}): {last_line(error)}. Correct the scorer and run again.",
                ) from error
        else:
            # A function that the evaluator's own loop takes out, too; no row can hold it.
            verified.scoring_details.pop("_judge_fn", None)
            return verified
    raise AssertionError("the last try returns or raises")


def _outcome(answer: Answer, response: str) -> Outcome:
    if answer.solved is None:
        return "endpoint_error"
    model = answer.solved.model_response
    if model and model.finish_reason == "length":
        return "truncated"
    return "ok" if response.strip() else "empty"

"""
Asks one question and scores the answer, in the evaluator's terms: its environment, solver and rows.

Not with `run_evaluation`: that syncs the disk twice an answer, computes confidence intervals for each shard that the
merge throws away, and asks the model again when it is the scorer that failed.
"""

import asyncio
import logging
import math
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any, Literal

from nemo_evaluator.engine.model_client import ModelClient
from nemo_evaluator.environments.base import EvalEnvironment, SeedResult, VerifyResult
from nemo_evaluator.errors import GracefulError, InfraError
from nemo_evaluator.scoring.judge import judge_score
from nemo_evaluator.solvers import Solver, SolveResult

from .events import Outcome
from .failure import last_line
from .patience import EndpointGivenUp, Patience, kind_of, tries_for, what_failed
from .redaction import redact
from .rows import OURS, UNSCORED, Row

logger = logging.getLogger(__name__)

JUDGE_TRIES = 3
"""On the same answer. Each is up to four requests of the evaluator's client."""


class ShardStop(Exception):
    """The shard cannot go on. `kind` says whose fault it is."""

    def __init__(self, kind: Literal["endpoint", "scorer", "judge"], message: str, unscored: Row | None = None) -> None:
        super().__init__(message)
        self.kind = kind
        self.message = message
        self.unscored = unscored
        """The model's answer that was to be scored, when it is there: it is paid for, and to be scored later."""


@dataclass(frozen=True)
class Question:
    """One problem in one repeat."""

    position: int
    problem: int
    repeat: int
    seed: SeedResult


@dataclass(frozen=True)
class Asking:
    """What questions are asked with."""

    environment: EvalEnvironment
    solver: Solver
    judge: ModelClient | None
    patience: Patience
    attempts: int
    timeout_s: float
    sleep: Callable[[float], Awaitable[None]] = asyncio.sleep


@dataclass(frozen=True)
class Answer:
    """What came of asking: the model's response, or the error that every try ended in."""

    solved: SolveResult | None
    error: str | None
    tries: int


async def ask(question: Question, asking: Asking) -> Row:
    """
    The row of one answer. An answer that failed at the endpoint is a row with reward 0, as the evaluator writes it.

    :raises ShardStop: when the endpoint is gone, the scorer fails or a judge is needed.
    """
    answer = await _solve(question, asking)
    response = answer.solved.response if answer.solved else ""
    model = answer.solved.model_response if answer.solved else None
    row: Row = {
        "problem_idx": question.problem,
        "repeat": question.repeat,
        "reward": 0.0,
        "scorer_rewards": {},
        "prompt": question.seed.prompt,
        "model_response": response,
        "extracted_answer": None,
        "expected_answer": question.seed.expected_answer,
        "scoring_details": {},
        "metadata": question.seed.metadata,
        "tokens": model.total_tokens if model else 0,
        "latency_ms": model.latency_ms if model else 0.0,
    }
    if answer.solved and answer.solved.trajectory:
        row["trajectory"] = answer.solved.trajectory
    row[OURS] = {
        "position": question.position,
        "outcome": _outcome(answer, response),
        "error": answer.error,
        "attempts": answer.tries,
        "finish_reason": model.finish_reason if model else "",
        "prompt_tokens": model.prompt_tokens if model else 0,
        "completion_tokens": model.completion_tokens if model else 0,
        "reasoning_tokens": model.reasoning_tokens if model else 0,
    }
    if answer.error is not None:
        # Word for word what the evaluator writes for an answer that could not be had.
        row["scoring_details"] = {
            "error": answer.error,
            "error_category": "infra_error",
            "method": "infra_error",
            "retries_exhausted": answer.tries,
        }
        return row
    try:
        return await _scored(row, question, asking)
    except ShardStop as stop:
        raise ShardStop(stop.kind, stop.message, row | {OURS: row[OURS] | {"outcome": UNSCORED}}) from stop


async def score_again(question: Question, row: Row, asking: Asking) -> Row:
    """
    The row with the score that the benchmark gives now to the answer that is in it. The model is asked nothing.

    :raises ShardStop: when the scorer fails, or the question is no longer the one that was asked.
    """
    if row["prompt"] != question.seed.prompt:
        raise ShardStop(
            "scorer",
            f"The benchmark asks problem {question.problem} in other words than those that were answered. "
            "Run the benchmark anew.",
        )
    return await _scored(row, question, asking)


async def _solve(question: Question, asking: Asking) -> Answer:
    count = 0
    while True:
        count += 1
        while (seconds := asking.patience.silence()) > 0:
            await asking.sleep(seconds)
        try:
            solved = await asking.solver.solve(question.seed)
        # Beside the client's InfraError: a completion so malformed that the client trips over it.
        except Exception as error:
            is_clients = isinstance(error, InfraError)
            said = redact(what_failed(error, asking.timeout_s)) if is_clients else last_line(error)
            kind = kind_of(error)
            try:
                asking.patience.failed((question.problem, question.repeat), kind, said)
            except EndpointGivenUp as given_up:
                raise ShardStop("endpoint", str(given_up)) from error
            if count >= tries_for(kind, asking.attempts):
                return Answer(None, said, count)
            pause = asking.patience.pause_before(count + 1, error)
            logger.warning(
                "problem %d, repeat %d: %s (again in %.1f s)", question.problem, question.repeat, said, pause
            )
            await asking.sleep(pause)
        else:
            asking.patience.succeeded()
            return Answer(solved, None, count)


async def _scored(row: Row, question: Question, asking: Asking) -> Row:
    verified = await _verify(question, row["model_response"], asking.environment)
    outcome = row[OURS]["outcome"]
    judge_error = await _judge(question, row["model_response"], verified, asking.judge)
    if judge_error is not None:
        outcome = "judge_error"
    elif outcome in ("judge_error", UNSCORED):
        # It was scored again, and this time the judge answered.
        outcome = _outcome_of_text(row["model_response"], row[OURS]["finish_reason"])
    ours = row[OURS] | {
        "outcome": outcome,
        "extracted": bool(verified.extracted_answer and str(verified.extracted_answer).strip()),
        "judge_error": judge_error,
    }
    return row | {
        "reward": verified.reward,
        "extracted_answer": verified.extracted_answer,
        "expected_answer": question.seed.expected_answer,
        "scoring_details": verified.scoring_details,
        "metadata": {**question.seed.metadata, **verified.metadata},
        OURS: ours,
    }


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
            return verified
    raise AssertionError("the last try returns or raises")


async def _judge(question: Question, response: str, verified: VerifyResult, judge: ModelClient | None) -> str | None:
    """
    Lets the judge score the answer, into `verified` as the evaluator's loop does it; gives why it could not.

    :raises ShardStop: when a judge is needed and the run has none. The evaluator would score 0.
    """
    details = verified.scoring_details
    # A function, which no row can hold.
    judge_fn = details.pop("_judge_fn", None)
    if not details.get("needs_judge"):
        return None
    if judge is None:
        raise ShardStop("judge", "The scorer of this benchmark leaves the score to a judge model.")
    said = None
    for _ in range(JUDGE_TRIES):
        try:
            said = await _ask_judge(question, response, verified, judge_fn, judge)
        except Exception as error:
            said = redact(f"{type(error).__name__}: {error}")
            details["judge"] = {"error": said, "total": None}
        if said is None:
            break
    details["needs_judge"] = False
    return said


async def _ask_judge(
    question: Question,
    response: str,
    verified: VerifyResult,
    judge_fn: Callable[[ModelClient], Awaitable[dict[str, Any]]] | None,
    judge: ModelClient,
) -> str | None:
    details = verified.scoring_details
    if judge_fn is not None:
        final = await judge_fn(judge)
        details["judge"] = final.get("judge", {})
        details.update(final.get("details") or {})
        if final.get("reward") is not None:
            verified.reward = float(final["reward"])
        return None
    result = await judge_score(
        instruction=question.seed.prompt, response=response, expected=question.seed.expected_answer, client=judge
    )
    details["judge"] = result
    if "normalized" in result:
        verified.reward = result["normalized"]
    return "The judge's answer holds no score." if result.get("parse_error") else None


def _outcome(answer: Answer, response: str) -> Outcome:
    if answer.solved is None:
        return "endpoint_error"
    model = answer.solved.model_response
    return _outcome_of_text(response, model.finish_reason if model else "")


def _outcome_of_text(response: str, finish_reason: str) -> Outcome:
    if finish_reason == "length":
        return "truncated"
    return "ok" if response.strip() else "empty"

"""Scores that are left to a judge, as the evaluator's own loop has them."""

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest
from nemo_evaluator.engine.model_client import ModelClient
from nemo_evaluator.environments.base import EvalEnvironment, VerifyResult
from nemo_evaluator.schemas import RetryConfig

from shardboard_driver.model import open_model
from shardboard_driver.patience import Patience
from shardboard_driver.question import Asking, Question, ShardStop, ask, score_again
from shardboard_driver.request import RunRequest
from shardboard_driver.rows import OURS, Row

from .model_server import Reply, completion, serve
from .support import Sums, make_request


class Judged(Sums):
    """Leaves the score to a judge; `with_function` to a function of its own that asks it."""

    def __init__(self, *, with_function: bool = False) -> None:
        super().__init__(10)
        self._with_function = with_function

    async def verify(self, response: str, expected: str, sandbox: object = None, **metadata: Any) -> VerifyResult:
        details: dict[str, Any] = {"method": "judge", "needs_judge": True}
        if self._with_function:

            async def judge(client: ModelClient) -> dict[str, Any]:
                said = await client.chat(f"Grade: {response}")
                return {"judge": {"grade": said.content}, "reward": 1.0, "details": {"graded": True}}

            details["_judge_fn"] = judge
        return VerifyResult(reward=0.0, extracted_answer=response, scoring_details=details)


def judge_replies(*texts: str) -> Any:
    """A judge that says these one after the other, and the last again and again; the answers beside it are plain."""
    told = iter(texts)
    last = texts[-1]

    def behaviour(prompt: str, _times: int) -> Reply:
        if prompt.startswith("How much"):
            return completion("2")
        said = next(told, last)
        return Reply(500, "down") if said == "down" else completion(said)

    return behaviour


def row_of(behaviour: Any, environment: EvalEnvironment, *, with_judge: bool = True) -> tuple[Row, int]:
    """The row of one question, and how often the model was asked."""

    async def run(request: RunRequest) -> Row:
        solver = open_model(request, None)
        judge = ModelClient(request.model_url, "judge", retry=RetryConfig(max_retries=0)) if with_judge else None
        asking = Asking(environment, solver, judge, Patience(lambda: 1), attempts=3, timeout_s=60)
        try:
            return await ask(Question(0, 1, 0, await environment.seed(1)), asking)
        finally:
            await solver.close()
            if judge:
                await judge.close()

    with serve(behaviour) as model:
        row = asyncio.run(run(make_request(Path("/unused"), model.url)))
        return row, model.asked["How much is 1 and 1?"]


def test_the_judges_score_counts() -> None:
    row, _ = row_of(judge_replies(json.dumps({"score": 4, "reasoning": "good"})), Judged())
    assert (row["reward"], row[OURS]["outcome"], row[OURS]["judge_error"]) == (0.8, "ok", None)
    assert row["scoring_details"]["judge"]["score"] == 4
    assert row["scoring_details"]["needs_judge"] is False


def test_a_benchmarks_own_judging_counts() -> None:
    row, _ = row_of(judge_replies("A"), Judged(with_function=True))
    assert (row["reward"], row["scoring_details"]["judge"]) == (1.0, {"grade": "A"})
    assert row["scoring_details"]["graded"] is True
    assert "_judge_fn" not in row["scoring_details"]


def test_a_judge_that_fails_once_is_asked_again_and_the_model_is_not() -> None:
    row, asked = row_of(judge_replies("down", '{"score": 5}'), Judged())
    assert (row["reward"], row[OURS]["outcome"], asked) == (1.0, "ok", 1)


@pytest.mark.parametrize("said", ["down", "I cannot say."])
def test_a_judge_that_gives_no_score_is_an_error_and_no_plain_0(said: str) -> None:
    row, asked = row_of(judge_replies(said), Judged())
    assert (row["reward"], row[OURS]["outcome"], asked) == (0.0, "judge_error", 1)
    assert row[OURS]["judge_error"]
    assert row["model_response"] == "2"


def test_without_a_judge_there_is_no_score() -> None:
    with pytest.raises(ShardStop) as caught:
        row_of(judge_replies("down"), Judged(), with_judge=False)
    assert caught.value.kind == "judge"


def test_a_judge_that_is_back_judges_the_stored_answer() -> None:
    failed, _ = row_of(judge_replies("down"), Judged())

    async def again(url: str) -> Row:
        judge = ModelClient(url, "judge", retry=RetryConfig(max_retries=0))
        environment = Judged()
        # A solver that must not be asked.
        asking = Asking(environment, open_model(make_request(Path("/unused")), None), judge, Patience(lambda: 1), 1, 60)
        try:
            return await score_again(Question(0, 1, 0, await environment.seed(1)), failed, asking)
        finally:
            await judge.close()

    with serve(judge_replies('{"score": 5}')) as model:
        row = asyncio.run(again(model.url))
    assert (row["reward"], row[OURS]["outcome"], row[OURS]["judge_error"]) == (1.0, "ok", None)
    assert not any(prompt.startswith("How much") for prompt in model.asked)

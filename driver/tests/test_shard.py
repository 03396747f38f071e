"""The loop of a shard against a real endpoint that misbehaves."""

import asyncio
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from nemo_evaluator.engine.model_client import ModelClient
from nemo_evaluator.environments.base import SeedResult, VerifyResult
from nemo_evaluator.errors import GracefulError
from nemo_evaluator.schemas import RetryConfig
from nemo_evaluator.solvers import ChatSolver

from shardboard_driver.answers import AnswerLog
from shardboard_driver.key import read_key
from shardboard_driver.question import ShardStop
from shardboard_driver.redaction import hide
from shardboard_driver.rows import Row, outcome_of
from shardboard_driver.shard import ShardWork, answer_all

from .model_server import Behaviour, ModelServer, Reply, completion, dead_endpoint, serve
from .support import FINGERPRINT, Sums, events_in, make_request, make_work, number_in


def right(prompt: str, _times: int) -> Reply:
    return completion(str(number_in(prompt) + 1))


def run_shard(
    work: ShardWork, url: str, environment: Sums | None = None, pauses: Sequence[float] = (0.0, 0.0)
) -> list[Row]:
    """Runs the loop without the evaluator's pauses; gives the rows that are on disk afterwards, in their order."""

    key = read_key(work.request.key)
    retry = RetryConfig(max_retries=1, base_delay=0.0)

    async def run(log: AnswerLog) -> None:
        client = ModelClient(url, "test", key, temperature=0.0, retry=retry)
        solver = ChatSolver(client)
        try:
            await answer_all(work, environment or Sums(100), solver, log, pauses)
        finally:
            await solver.close()

    folder = Path(work.request.output_folder)
    with AnswerLog(folder, FINGERPRINT) as log:
        asyncio.run(run(log))
        return [log.rows[key] for key in sorted(log.rows)]


def ask(
    folder: Path, behaviour: Behaviour, problems: list[int], environment: Sums | None = None, **changes: Any
) -> tuple[list[Row], ModelServer]:
    with serve(behaviour) as model:
        return run_shard(make_work(make_request(folder, model.url, **changes), problems), model.url, environment), model


def test_asks_every_problem_and_repeat_once(tmp_path: Path) -> None:
    rows, model = ask(tmp_path, right, [7, 3, 5], repeats=2)
    assert [(row["problem_idx"], row["repeat"]) for row in rows] == [(3, 0), (3, 1), (5, 0), (5, 1), (7, 0), (7, 1)]
    assert all(row["reward"] == 1.0 and outcome_of(row) == "ok" for row in rows)
    assert set(model.asked.values()) == {2}


def test_a_row_knows_its_position(tmp_path: Path) -> None:
    with serve(right) as model:
        work = make_work(make_request(tmp_path, model.url), [7, 3, 5], first_position=40)
        rows = run_shard(work, model.url)
    assert {row["problem_idx"]: row["shardboard"]["position"] for row in rows} == {7: 40, 3: 41, 5: 42}


def test_never_more_in_flight_than_asked_for(tmp_path: Path) -> None:
    class Counting(Sums):
        open = most = 0

        async def seed(self, idx: int) -> SeedResult:
            self.open += 1
            self.most = max(self.most, self.open)
            return await super().seed(idx)

        async def verify(self, response: str, expected: str, sandbox: object = None, **metadata: Any) -> VerifyResult:
            self.open -= 1
            return await super().verify(response, expected, **metadata)

    environment = Counting(100)
    ask(tmp_path, right, list(range(30)), environment, requests_in_flight=5)
    assert environment.most == 5


def test_does_not_ask_what_is_on_disk(tmp_path: Path) -> None:
    first, _ = ask(tmp_path, right, [1, 2])
    both, model = ask(tmp_path, right, [1, 2, 3])
    assert set(model.asked) == {"How much is 3 and 1?"}
    assert both[:2] == first


def test_tells_every_answer_also_those_from_disk(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    ask(tmp_path, right, [1, 2])
    events_in(capsys)
    ask(tmp_path, right, [1, 2, 3])
    told = [answer for event in events_in(capsys) if event["type"] == "answers" for answer in event["answers"]]
    assert sorted(answer[1] for answer in told) == [1, 2, 3]
    assert {answer[6] for answer in told} == {"ok"}


def test_a_failure_of_the_server_is_tried_again(tmp_path: Path) -> None:
    rows, model = ask(tmp_path, lambda prompt, times: right(prompt, times) if times else Reply(500, "oops"), [1])
    assert outcome_of(rows[0]) == "ok"
    assert set(model.asked.values()) == {2}


@pytest.mark.parametrize("nonsense", [Reply(200, {"choices": []}), Reply(200, "<html>"), Reply(200, {"choices": [{}]})])
def test_a_malformed_completion_is_tried_again(tmp_path: Path, nonsense: Reply) -> None:
    rows, _ = ask(tmp_path, lambda prompt, times: right(prompt, times) if times > 1 else nonsense, [1])
    assert outcome_of(rows[0]) == "ok"
    assert rows[0]["shardboard"]["attempts"] > 1


def test_an_isolated_failure_is_a_row_with_reward_0(tmp_path: Path) -> None:
    def behaviour(prompt: str, times: int) -> Reply:
        return Reply(500, "") if number_in(prompt) == 3 else right(prompt, times)

    rows, _ = ask(tmp_path, behaviour, [1, 3])
    assert [outcome_of(row) for row in rows] == ["ok", "endpoint_error"]
    failed = rows[1]
    assert failed["reward"] == 0.0
    assert failed["model_response"] == ""
    assert failed["scoring_details"]["error_category"] == "infra_error"
    assert failed["scoring_details"]["retries_exhausted"] == 3


def test_what_the_model_did_not_finish_is_marked(tmp_path: Path) -> None:
    def behaviour(prompt: str, times: int) -> Reply:
        return {1: completion("2", "length"), 2: completion("  "), 3: completion(None)}[number_in(prompt)]

    rows, _ = ask(tmp_path, behaviour, [1, 2, 3])
    assert [outcome_of(row) for row in rows] == ["truncated", "empty", "empty"]
    assert rows[0]["reward"] == 1.0


@pytest.mark.parametrize("status", [401, 500])
def test_an_endpoint_that_only_fails_stops_the_shard(tmp_path: Path, status: int) -> None:
    with serve(lambda _prompt, _times: Reply(status, "no")) as model:
        work = make_work(make_request(tmp_path, model.url), list(range(100)))
        with pytest.raises(ShardStop, match="The endpoint failed 8 times in a row") as caught:
            # A pause that a test would feel: nothing may wait for it once the endpoint is given up.
            run_shard(work, model.url, pauses=(0.01, 60.0))
    assert caught.value.kind == "endpoint"
    assert len(model.asked) < 20


def test_a_dead_endpoint_stops_the_shard_and_keeps_what_came(tmp_path: Path) -> None:
    ask(tmp_path, right, [1, 2])
    with dead_endpoint() as url:
        work = make_work(make_request(tmp_path, url), list(range(100)))
        with pytest.raises(ShardStop) as caught:
            run_shard(work, url)
    assert caught.value.kind == "endpoint"
    with AnswerLog(tmp_path, FINGERPRINT) as log:
        assert set(log.rows) == {(1, 0), (2, 0)}


def test_a_busy_server_is_given_all_its_tries(tmp_path: Path) -> None:
    problems = list(range(12))
    rows, _ = ask(
        tmp_path,
        lambda prompt, times: right(prompt, times) if times >= 4 else Reply(429, "later"),
        problems,
        requests_in_flight=12,
    )
    assert [outcome_of(row) for row in rows] == ["ok"] * 12


def test_a_scorer_that_raises_once_is_not_worth_a_second_question(tmp_path: Path) -> None:
    class Once(Sums):
        raised = False

        async def verify(self, response: str, expected: str, sandbox: object = None, **metadata: Any) -> VerifyResult:
            if not self.raised:
                self.raised = True
                raise ValueError("not today")
            return await super().verify(response, expected, **metadata)

    rows, model = ask(tmp_path, right, [1], Once(10))
    assert rows[0]["reward"] == 1.0
    assert set(model.asked.values()) == {1}


class Broken(Sums):
    """Cannot score problem 3."""

    async def verify(self, response: str, expected: str, sandbox: object = None, **metadata: Any) -> VerifyResult:
        if expected == "4":
            raise ValueError("cannot parse")
        return await super().verify(response, expected, **metadata)


def test_a_scorer_that_keeps_raising_stops_the_shard_with_the_problem(tmp_path: Path) -> None:
    with serve(right) as model:
        work = make_work(make_request(tmp_path, model.url), list(range(4)))
        with pytest.raises(ShardStop, match=r"problem 3 .*ValueError: cannot parse") as caught:
            run_shard(work, model.url, Broken(10))
    assert caught.value.kind == "scorer"
    assert set(model.asked.values()) == {1}
    # The answers that were in flight beside it are paid for and kept.
    with AnswerLog(tmp_path, FINGERPRINT) as log:
        assert set(log.rows) == {(0, 0), (1, 0), (2, 0)}


def test_a_reward_that_is_no_number_is_the_scorers_fault(tmp_path: Path) -> None:
    class Nan(Sums):
        async def verify(self, response: str, expected: str, sandbox: object = None, **metadata: Any) -> VerifyResult:
            return VerifyResult(reward=float("nan"))

    with pytest.raises(ShardStop, match="reward is nan"):
        ask(tmp_path, right, [1], Nan(10))


def test_a_scorer_that_gives_up_gracefully_scores_0(tmp_path: Path) -> None:
    class Graceful(Sums):
        async def verify(self, response: str, expected: str, sandbox: object = None, **metadata: Any) -> VerifyResult:
            raise GracefulError("no answer in sk-secret")

    hide("sk-secret")
    rows, _ = ask(tmp_path, right, [1], Graceful(10))
    assert rows[0]["reward"] == 0.0
    assert rows[0]["scoring_details"]["error_category"] == "graceful"
    assert rows[0]["scoring_details"]["error"] == "no answer in <key>"


def test_a_benchmark_that_needs_a_judge_is_refused(tmp_path: Path) -> None:
    class Judged(Sums):
        async def verify(self, response: str, expected: str, sandbox: object = None, **metadata: Any) -> VerifyResult:
            return VerifyResult(reward=0.0, scoring_details={"needs_judge": True})

    with pytest.raises(ShardStop) as caught:
        ask(tmp_path, right, [1, 2, 3], Judged(10))
    assert caught.value.kind == "judge"


def test_a_problem_is_seeded_once_for_all_its_repeats(tmp_path: Path) -> None:
    class Drawn(Sums):
        drawn = 0

        async def seed(self, idx: int) -> SeedResult:
            self.drawn += 1
            return SeedResult(prompt=f"How much is {idx} and 1? Draw {self.drawn}.", expected_answer=str(idx + 1))

    rows, _ = ask(tmp_path, right, [1], Drawn(10), repeats=3)
    assert {row["prompt"] for row in rows} == {"How much is 1 and 1? Draw 1."}

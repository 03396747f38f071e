"""A process that asks, against a real endpoint that misbehaves. Ray is not needed for it."""

import asyncio
import itertools
import re
import threading
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from nemo_evaluator.engine.model_client import ModelClient
from nemo_evaluator.environments.base import SeedResult, VerifyResult
from nemo_evaluator.errors import GracefulError

from shardboard_driver import patience, pool
from shardboard_driver.answers import log_path, read_log
from shardboard_driver.asker import Setup, ShardWork, StopKind
from shardboard_driver.key import Keys
from shardboard_driver.pool import Pool
from shardboard_driver.question import Asking
from shardboard_driver.redaction import hide
from shardboard_driver.rows import AnswerKey, Row, outcome_of

from .model_server import Behaviour, ModelServer, Reply, completion, dead_endpoint, serve
from .support import Sums, make_request, make_setup, number_in


def right(prompt: str, _times: int) -> Reply:
    return completion(str(number_in(prompt) + 1))


type Stop = tuple[StopKind, str] | None


async def no_pause(_seconds: float) -> None:
    await asyncio.sleep(0)


NO_KEYS = Keys()


class Process:
    """A pool with the shards that it is given, without the evaluator's pauses."""

    def __init__(self, setup: Setup, monkeypatch: pytest.MonkeyPatch, keys: Keys = NO_KEYS) -> None:
        self.setup = setup
        self.keys = keys
        self.folder = Path(setup.request.output_folder)
        self.told: list[Any] = []
        self._patch = monkeypatch

    def run(
        self,
        works: Sequence[ShardWork],
        environment: Sums | None = None,
        judge: ModelClient | None = None,
        during: Callable[[Pool], Any] | None = None,
    ) -> list[Stop]:
        """Asks the shards together; gives why each ended, None for those that are whole."""
        self._patch.setattr(pool, "load_environment", lambda _spec: environment or Sums(100))
        self._patch.setattr(pool, "open_judge", lambda _request, _key: judge)
        self._patch.setattr(pool, "Asking", partial(Asking, sleep=no_pause))
        self._patch.setattr(patience, "FEWEST_SECONDS", 0.0)

        async def tell(asking: Pool, work: ShardWork) -> Stop:
            shard = asking.add(work)
            while True:
                batch = await asking.next_batch(shard)
                self.told += [answer for answer, _ in batch.answers]
                if batch.is_last:
                    return batch.stop

        async def run() -> list[Stop]:
            asking = Pool(self.setup, self.keys, self.folder)
            await asking.open()
            asking.limit(self.setup.request.requests_in_flight)
            shards = [asyncio.create_task(tell(asking, work)) for work in works]
            if during:
                await during(asking)
            stops = await asyncio.gather(*shards)
            await asking.close()
            return stops

        return asyncio.run(run())

    def rows(self) -> list[Row]:
        """What is on disk afterwards, in its order."""
        rows = read_log(log_path(self.folder, self.setup.log))
        return [rows[key] for key in sorted(rows)]


def questions(problems: Sequence[int], repeats: int = 1) -> list[tuple[int, AnswerKey]]:
    return [(place, (problem, repeat)) for place, problem in enumerate(problems) for repeat in range(repeats)]


type Start = Callable[..., Process]


@pytest.fixture
def start(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Start:
    """Makes a process for an endpoint; each has a log of its own in the same folder."""
    logs = (f"log-{number}" for number in itertools.count())
    return lambda url, **changes: Process(
        make_setup(make_request(tmp_path, url, **changes), log=next(logs)), monkeypatch
    )


type Ask = Callable[..., tuple[list[Row], ModelServer]]


@pytest.fixture
def ask(start: Start) -> Ask:
    def ask(
        behaviour: Behaviour, problems: list[int], environment: Sums | None = None, **changes: Any
    ) -> tuple[list[Row], ModelServer]:
        """Asks one shard that comes to its end."""
        with serve(behaviour) as model:
            process = start(model.url, **changes)
            work = ShardWork(0, questions(problems, process.setup.request.repeats))
            assert process.run([work], environment) == [None]
            return process.rows(), model

    return ask


type Stopping = Callable[..., tuple[Stop, Process, ModelServer]]


@pytest.fixture
def stopped(start: Start) -> Stopping:
    def stopped(
        behaviour: Behaviour, problems: list[int], environment: Sums | None = None, **how: Any
    ) -> tuple[Stop, Process, ModelServer]:
        """Asks one shard that does not come to its end."""
        with serve(behaviour) as model:
            process = start(model.url)
            [stop] = process.run([ShardWork(0, questions(problems))], environment, **how)
            return stop, process, model

    return stopped


def test_asks_every_problem_and_repeat_once(ask: Ask) -> None:
    rows, model = ask(right, [7, 3, 5], repeats=2)
    assert [(row["problem_idx"], row["repeat"]) for row in rows] == [(3, 0), (3, 1), (5, 0), (5, 1), (7, 0), (7, 1)]
    assert all(row["reward"] == 1.0 and outcome_of(row) == "ok" for row in rows)
    assert set(model.asked.values()) == {2}


def test_a_row_knows_its_position(start: Start) -> None:
    with serve(right) as model:
        process = start(model.url)
        process.run([ShardWork(2, [(40, (7, 0)), (41, (3, 0)), (42, (5, 0))])])
    assert {row["problem_idx"]: row["shardboard"]["position"] for row in process.rows()} == {7: 40, 3: 41, 5: 42}


def test_never_more_in_flight_than_asked_for(ask: Ask) -> None:
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
    ask(right, list(range(30)), environment, requests_in_flight=5)
    assert environment.most == 5


def test_takes_over_what_a_dead_process_had_written(start: Start) -> None:
    with serve(right) as model:
        dead = start(model.url)
        dead.run([ShardWork(0, questions([1, 2]))])
        model.asked.clear()
        process = start(model.url)
        process.setup = replace(process.setup, earlier_logs=(dead.setup.log, "of-another-machine"))
        process.run([ShardWork(0, questions([1, 2, 3]))])
    assert set(model.asked) == {"How much is 3 and 1?"}
    assert sorted(answer[1] for answer in process.told) == [1, 2, 3]
    # Each is on disk once.
    assert [row["problem_idx"] for row in process.rows()] == [3]


def test_several_shards_share_what_may_be_in_flight(start: Start) -> None:
    with serve(right) as model:
        process = start(model.url, requests_in_flight=3)
        works = [ShardWork(shard, questions(range(10 * shard, 10 * shard + 10))) for shard in range(3)]
        assert process.run(works) == [None, None, None]
    assert sorted(answer[1] for answer in process.told) == list(range(30))
    assert set(model.asked.values()) == {1}


def test_a_shard_has_no_more_in_flight_than_its_own_limit(start: Start) -> None:
    class Counting(Sums):
        open = most = 0

        async def verify(self, response: str, expected: str, sandbox: object = None, **metadata: Any) -> VerifyResult:
            self.open += 1
            self.most = max(self.most, self.open)
            await asyncio.sleep(0)
            self.open -= 1
            return await super().verify(response, expected, **metadata)

    environment = Counting(100)
    with serve(right) as model:
        process = start(model.url, requests_in_flight=20, requests_in_flight_per_shard=1)
        process.run([ShardWork(0, questions(range(12)))], environment)
    assert environment.most == 1


def test_finishing_keeps_what_is_in_flight_and_asks_nothing_more(start: Start) -> None:
    gate, arrived = threading.Event(), threading.Semaphore(0)

    def late(prompt: str, times: int) -> Reply:
        arrived.release()
        gate.wait()
        return right(prompt, times)

    async def finish(asking: Pool) -> None:
        for _ in range(2):
            await asyncio.to_thread(arrived.acquire)
        finishing = asyncio.create_task(asking.finish(60))
        await asyncio.sleep(0)
        gate.set()
        await finishing

    with serve(late) as model:
        process = start(model.url, requests_in_flight=2)
        [stop] = process.run([ShardWork(0, questions(range(10)))], during=finish)
    assert stop and stop[0] == "stopped"
    assert len(process.rows()) == len(process.told) == len(model.asked) == 2


def test_what_takes_longer_than_the_grace_is_given_up(start: Start) -> None:
    gate, arrived = threading.Event(), threading.Event()

    def late(prompt: str, times: int) -> Reply:
        arrived.set()
        gate.wait()
        return right(prompt, times)

    async def finish(asking: Pool) -> None:
        await asyncio.to_thread(arrived.wait)
        await asking.finish(0)
        gate.set()

    with serve(late) as model:
        process = start(model.url, requests_in_flight=1)
        [stop] = process.run([ShardWork(0, questions(range(10)))], during=finish)
    assert (stop and stop[0], process.rows()) == ("stopped", [])


def test_scores_stored_answers_again_without_a_request(start: Start) -> None:
    class Lenient(Sums):
        async def verify(self, response: str, expected: str, sandbox: object = None, **metadata: Any) -> VerifyResult:
            return VerifyResult(reward=0.5, scoring_details={"method": "lenient"})

    with serve(right) as model:
        process = start(model.url)
        process.run([ShardWork(0, questions([1, 2]))])
        stored = {(row["problem_idx"], row["repeat"]): row for row in process.rows()}
        model.asked.clear()
        again = start(model.url, task="score_again")
        again.run([ShardWork(0, questions([1, 2]), stored)], Lenient(100))
    assert not model.asked
    assert [answer[3] for answer in again.told] == [0.5, 0.5]
    # The new scores are written at once, when all are there.
    assert again.rows() == []


def test_does_not_score_answers_to_other_words(start: Start) -> None:
    class Reworded(Sums):
        async def seed(self, idx: int) -> SeedResult:
            return SeedResult(prompt=f"What do {idx} and 1 make?", expected_answer=str(idx + 1))

    with serve(right) as model:
        process = start(model.url)
        process.run([ShardWork(0, questions([1]))])
        stored = {(row["problem_idx"], row["repeat"]): row for row in process.rows()}
        again = start(model.url, task="score_again")
        [stop] = again.run([ShardWork(0, questions([1]), stored)], Reworded(100))
    assert stop and "in other words" in stop[1]


def test_a_failure_of_the_server_is_tried_again(ask: Ask) -> None:
    rows, model = ask(lambda prompt, times: right(prompt, times) if times else Reply(500, "oops"), [1])
    assert outcome_of(rows[0]) == "ok"
    assert set(model.asked.values()) == {2}


@pytest.mark.parametrize("nonsense", [Reply(200, {"choices": []}), Reply(200, "<html>"), Reply(200, {"choices": [{}]})])
def test_a_malformed_completion_is_tried_again(ask: Ask, nonsense: Reply) -> None:
    rows, _ = ask(lambda prompt, times: right(prompt, times) if times > 1 else nonsense, [1])
    assert outcome_of(rows[0]) == "ok"
    assert rows[0]["shardboard"]["attempts"] > 1


def test_an_isolated_failure_is_a_row_with_reward_0(ask: Ask) -> None:
    def behaviour(prompt: str, times: int) -> Reply:
        return Reply(500, "") if number_in(prompt) == 3 else right(prompt, times)

    rows, _ = ask(behaviour, [1, 3])
    assert [outcome_of(row) for row in rows] == ["ok", "endpoint_error"]
    failed = rows[1]
    assert failed["reward"] == 0.0
    assert failed["model_response"] == ""
    assert failed["scoring_details"]["error_category"] == "infra_error"
    assert failed["scoring_details"]["retries_exhausted"] == 12


def test_what_the_model_did_not_finish_is_marked(ask: Ask) -> None:
    def behaviour(prompt: str, times: int) -> Reply:
        return {1: completion("2", "length"), 2: completion("  "), 3: completion(None)}[number_in(prompt)]

    rows, _ = ask(behaviour, [1, 2, 3])
    assert [outcome_of(row) for row in rows] == ["truncated", "empty", "empty"]
    assert rows[0]["reward"] == 1.0


@pytest.mark.parametrize("status", [401, 500])
def test_an_endpoint_that_only_fails_stops_the_shard(stopped: Stopping, status: int) -> None:
    stop, _, model = stopped(lambda _prompt, _times: Reply(status, "no"), list(range(100)))
    assert stop and stop[0] == "endpoint"
    assert re.search(r"The endpoint failed \d times in a row", stop[1])
    assert len(model.asked) < 20


def test_a_given_up_endpoint_stops_all_shards_of_the_process(start: Start) -> None:
    with dead_endpoint() as url:
        stops = start(url).run([ShardWork(shard, questions(range(100))) for shard in range(2)])
    assert [stop and stop[0] for stop in stops] == ["endpoint", "endpoint"]


def test_a_busy_server_is_given_all_its_tries(ask: Ask) -> None:
    problems = list(range(12))
    rows, _ = ask(
        lambda prompt, times: right(prompt, times) if times >= 4 else Reply(429, "later"),
        problems,
        requests_in_flight=12,
    )
    assert [outcome_of(row) for row in rows] == ["ok"] * 12


def test_a_scorer_that_raises_once_is_not_worth_a_second_question(ask: Ask) -> None:
    class Once(Sums):
        raised = False

        async def verify(self, response: str, expected: str, sandbox: object = None, **metadata: Any) -> VerifyResult:
            if not self.raised:
                self.raised = True
                raise ValueError("not today")
            return await super().verify(response, expected, **metadata)

    rows, model = ask(right, [1], Once(10))
    assert rows[0]["reward"] == 1.0
    assert set(model.asked.values()) == {1}


class Broken(Sums):
    """Cannot score problem 3."""

    async def verify(self, response: str, expected: str, sandbox: object = None, **metadata: Any) -> VerifyResult:
        if expected == "4":
            raise ValueError("cannot parse")
        return await super().verify(response, expected, **metadata)


def test_a_scorer_that_keeps_raising_stops_the_shard_with_the_problem(stopped: Stopping) -> None:
    stop, process, model = stopped(right, list(range(4)), Broken(10))
    assert stop and stop[0] == "scorer"
    assert re.search(r"problem 3 .*ValueError: cannot parse", stop[1])
    assert set(model.asked.values()) == {1}
    # The answers that were in flight beside it are paid for and kept, and so is the one that could not be scored.
    assert [(row["problem_idx"], outcome_of(row)) for row in process.rows()] == [
        (0, "ok"),
        (1, "ok"),
        (2, "ok"),
        (3, "unscored"),
    ]
    assert sorted(answer[1] for answer in process.told) == [0, 1, 2]


def test_an_answer_whose_scorer_is_mended_is_scored_and_not_asked_again(start: Start) -> None:
    with serve(right) as model:
        broken = start(model.url)
        broken.run([ShardWork(0, questions([3]))], Broken(10))
        stored = {(row["problem_idx"], row["repeat"]): row for row in broken.rows()}
        model.asked.clear()
        mended = start(model.url)
        assert mended.run([ShardWork(0, questions([3]), stored)]) == [None]
    assert not model.asked
    [row] = mended.rows()
    assert (row["reward"], outcome_of(row)) == (1.0, "ok")


def test_a_broken_scorer_leaves_the_other_shards_alone(start: Start) -> None:
    with serve(right) as model:
        works = [ShardWork(0, questions([3])), ShardWork(1, questions([5, 6]))]
        stops = start(model.url).run(works, Broken(10))
    assert [stop and stop[0] for stop in stops] == ["scorer", None]


def test_a_problem_that_cannot_be_given_is_the_benchmarks_fault(stopped: Stopping) -> None:
    class NoProblem(Sums):
        async def seed(self, idx: int) -> SeedResult:
            raise ValueError("no such row")

    stop, _, model = stopped(right, [1], NoProblem(10))
    assert stop and stop[0] == "scorer"
    assert "could not give problem 1: ValueError: no such row" in stop[1]
    assert not model.asked


def test_a_reward_that_is_no_number_is_the_scorers_fault(stopped: Stopping) -> None:
    class Nan(Sums):
        async def verify(self, response: str, expected: str, sandbox: object = None, **metadata: Any) -> VerifyResult:
            return VerifyResult(reward=float("nan"))

    stop, _, _ = stopped(right, [1], Nan(10))
    assert stop and "reward is nan" in stop[1]


def test_a_scorer_that_gives_up_gracefully_scores_0(ask: Ask) -> None:
    class Graceful(Sums):
        async def verify(self, response: str, expected: str, sandbox: object = None, **metadata: Any) -> VerifyResult:
            raise GracefulError("no answer in sk-secret")

    hide("sk-secret")
    rows, _ = ask(right, [1], Graceful(10))
    assert rows[0]["reward"] == 0.0
    assert rows[0]["scoring_details"]["error_category"] == "graceful"
    assert rows[0]["scoring_details"]["error"] == "no answer in <key>"


def test_a_benchmark_that_needs_a_judge_is_refused(stopped: Stopping) -> None:
    class Judged(Sums):
        async def verify(self, response: str, expected: str, sandbox: object = None, **metadata: Any) -> VerifyResult:
            return VerifyResult(reward=0.0, scoring_details={"needs_judge": True})

    stop, _, _ = stopped(right, [1, 2, 3], Judged(10))
    assert stop and stop[0] == "judge"


def test_a_problem_is_seeded_once_for_all_its_repeats(ask: Ask) -> None:
    class Drawn(Sums):
        drawn = 0

        async def seed(self, idx: int) -> SeedResult:
            self.drawn += 1
            return SeedResult(prompt=f"How much is {idx} and 1? Draw {self.drawn}.", expected_answer=str(idx + 1))

    rows, _ = ask(right, [1], Drawn(10), repeats=3)
    assert {row["prompt"] for row in rows} == {"How much is 1 and 1? Draw 1."}

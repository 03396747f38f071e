"""One shard, as a Ray task: asks its questions, keeps the answers on disk, tells of them as they come."""

import asyncio
import time
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from nemo_evaluator.engine.model_client import ModelClient
from nemo_evaluator.environments.base import EvalEnvironment, SeedResult
from nemo_evaluator.solvers import ChatSolver, Solver

from . import events
from .answers import AnswerLog, Fingerprint, shard_folder
from .benchmark import load_environment
from .key import read_key
from .question import RETRY_PAUSES_S, CircuitBreaker, Question, ShardStop, ask
from .request import RunRequest
from .rows import Row, compact, key_of

TELL_EVERY_S = 0.25
"""Every answer is told, but in batches: one line an answer would cost a second of a run, mostly in Ray's log reader."""

SYNC_EVERY_S = 0.2
"""At most so much is lost when the machine itself dies."""

FEWEST_FAILURES = 8
"""In a row, before the endpoint is given up; more when more requests are in flight."""

TEMPERATURE = 0.0
"""As in the evaluator's own launcher."""


@dataclass(frozen=True)
class ShardWork:
    """What a worker needs to know. Holds no key: Ray keeps the arguments of tasks where others can read them."""

    request: RunRequest
    benchmark: str
    fingerprint: Fingerprint
    index: int
    attempt: int
    first_position: int
    problems: list[int]
    """In the order of their positions."""


@dataclass(frozen=True)
class ShardAnswers:
    """A shard that has all its answers."""

    rows: list[Row]
    seconds: float


@dataclass(frozen=True)
class ShardStopped:
    """A shard that cannot go on, with whose fault it is."""

    kind: Literal["endpoint", "scorer", "judge"]
    message: str


def run_shard(work: ShardWork) -> ShardAnswers | ShardStopped:
    """
    Asks what is not yet on disk.

    :raises RunFailure: when it cannot begin: no key, no benchmark, another run's folder.
    """
    began = time.monotonic()
    events.shard(work.index, work.attempt, "running")
    request = work.request
    client = ModelClient(
        base_url=request.model_url,
        model=request.model_id,
        api_key=read_key(request.key),
        temperature=TEMPERATURE,
        max_concurrent=request.requests_in_flight,
    )
    environment = load_environment(work.benchmark)
    with AnswerLog(shard_folder(Path(request.output_folder), work.index), work.fingerprint) as log:
        try:
            asyncio.run(_run(work, client, environment, log))
        except ShardStop as stop:
            return ShardStopped(stop.kind, stop.message)
    rows = sorted(log.rows.values(), key=key_of)
    return ShardAnswers(rows, time.monotonic() - began)


async def _run(work: ShardWork, client: ModelClient, environment: EvalEnvironment, log: AnswerLog) -> None:
    solver = ChatSolver(client)
    try:
        await environment.prepare()
        await answer_all(work, environment, solver, log)
    finally:
        await solver.close()
        await environment.close()


async def answer_all(
    work: ShardWork,
    environment: EvalEnvironment,
    solver: Solver,
    log: AnswerLog,
    pauses: Sequence[float] = RETRY_PAUSES_S,
) -> None:
    """
    Asks every question of the shard that has no answer in the log, so many at a time as the request says.

    :raises ShardStop: when the shard cannot go on. What came until then is in the log.
    """
    untold = [compact(row) for row in log.rows.values()]

    def tell() -> None:
        events.answers(work.index, work.attempt, untold)
        untold.clear()

    tell()
    questions = _Questions(work, environment, log)
    in_flight = min(work.request.requests_in_flight, questions.count)
    breaker = CircuitBreaker(max(in_flight, FEWEST_FAILURES))
    stops: list[ShardStop] = []

    async def keep_asking() -> None:
        while not stops and (question := await questions.next()):
            try:
                row = await ask(question, solver, environment, breaker, pauses)
            except ShardStop as stop:
                if stop.kind == "endpoint":
                    # Nothing in flight can still succeed: leave at once, cancelling the others.
                    raise
                # The others' answers are on their way and paid for.
                stops.append(stop)
                return
            untold.append(compact(log.append(row)))

    async def tell_soon() -> None:
        tell()

    async def sync_soon() -> None:
        await asyncio.to_thread(log.sync)

    regularly = [
        asyncio.create_task(_every(TELL_EVERY_S, tell_soon)),
        asyncio.create_task(_every(SYNC_EVERY_S, sync_soon)),
    ]
    try:
        async with asyncio.TaskGroup() as group:
            for _ in range(in_flight):
                group.create_task(keep_asking())
    except ExceptionGroup as failures:
        # The first is the cause; the rest are its echo.
        raise failures.exceptions[0] from None
    finally:
        for task in regularly:
            task.cancel()
        tell()
    if stops:
        raise stops[0]


async def _every(seconds: float, action: Callable[[], Awaitable[None]]) -> None:
    while True:
        await asyncio.sleep(seconds)
        await action()


class _Questions:
    """Hands out the questions that have no answer yet: problem by problem, all repeats of one after another."""

    def __init__(self, work: ShardWork, environment: EvalEnvironment, log: AnswerLog) -> None:
        self._environment = environment
        unanswered = [
            (work.first_position + place, problem, repeat)
            for place, problem in enumerate(work.problems)
            for repeat in range(work.request.repeats)
            if (problem, repeat) not in log.rows
        ]
        self.count = len(unanswered)
        self._open = iter(unanswered)
        self._seeds: dict[int, asyncio.Task[SeedResult]] = {}

    async def next(self) -> Question | None:
        """The next question, or None when all are handed out."""
        entry = next(self._open, None)
        if entry is None:
            return None
        position, problem, repeat = entry
        # One seed for all repeats of a problem, as in the evaluator: a seed may be drawn at random.
        if problem not in self._seeds:
            self._seeds[problem] = asyncio.create_task(self._seed(problem))
        return Question(position, problem, repeat, await self._seeds[problem])

    async def _seed(self, problem: int) -> SeedResult:
        return await self._environment.seed(problem)

"""
The requests in flight of one process, whatever shards they are of.

A shard that waits for its last answers leaves its places to the next one, so that as many requests as allowed are in
flight from the first question to the last.
"""

import asyncio
import shutil
import time
from collections import deque
from contextlib import suppress
from functools import partial
from pathlib import Path

from nemo_evaluator.environments.base import SeedResult

from .answers import AnswerLog, log_path, read_log
from .asker import Batch, Setup, ShardWork, StopKind
from .benchmark import load_environment
from .events import CompactAnswer
from .failure import RunFailure, last_line
from .key import Keys
from .model import open_judge, open_model, with_system_prompt
from .patience import Patience
from .question import Asking, Question, ShardStop, ask, score_again
from .rows import OURS, AnswerKey, Row, compact, outcome_of, to_line

TELL_EVERY_S = 0.25
"""Every answer is told, but in batches: one message an answer would cost a second of a run."""

SYNC_EVERY_S = 0.2
"""At most so much is lost when the machine itself dies."""


class AskedShard:
    """A shard that is being asked."""

    def __init__(self, work: ShardWork) -> None:
        self.work = work
        self.open = deque(work.questions)
        self.in_flight = 0
        self.fresh: list[tuple[CompactAnswer, str]] = []
        self.stop: tuple[StopKind, str] | None = None
        self.has_begun = False
        self.news = asyncio.Event()
        """Set when there is something that must not wait for the next batch: its begin, its end."""
        self.is_told = False

    @property
    def is_over(self) -> bool:
        return self.in_flight == 0 and (not self.open or self.stop is not None)


class Pool:
    """Asks the questions of the shards that are added, the first ones first."""

    def __init__(self, setup: Setup, keys: Keys, folder: Path) -> None:
        self._setup = setup
        self._keys = keys
        self._folder = folder
        self._limit = 0
        self._shards: list[AskedShard] = []
        self._asking: set[asyncio.Task[None]] = set()
        self._patience = Patience(lambda: self._limit)
        self._recovered: dict[AnswerKey, Row] = {}
        self._seeds: dict[int, asyncio.Task[SeedResult]] = {}

    async def open(self) -> None:
        request = self._setup.request
        self._solver = open_model(request, self._keys.model)
        self._judge = open_judge(request, self._keys.judge)
        self._environment = load_environment(self._setup.benchmark)
        await self._environment.prepare()
        self._kit = Asking(
            environment=self._environment,
            solver=self._solver,
            judge=self._judge,
            patience=self._patience,
            attempts=request.attempts,
            timeout_s=request.request_timeout_s,
        )
        for name in self._setup.earlier_logs:
            self._recovered |= read_log(log_path(self._folder, name))
        self._log = AnswerLog(log_path(self._folder, self._setup.log), self._setup.edition)
        self._syncing = asyncio.create_task(self._sync_regularly())

    def add(self, work: ShardWork) -> AskedShard:
        """Begins a shard."""
        shard = AskedShard(work)
        if work.attempt > 0:
            # It may come after the endpoint was given up, because that lives.
            self._patience.insist()
        for position, key in shard.work.questions:
            row = self._recovered.pop(key, None)
            if row is not None and outcome_of(row) in ("ok", "truncated", "empty"):
                shard.open.remove((position, key))
                shard.fresh.append((compact(row), to_line(row)))
        if shard.is_over:
            shard.news.set()
        self._shards.append(shard)
        self._fill()
        return shard

    def limit(self, in_flight: int) -> None:
        self._limit = in_flight
        self._fill()

    async def finish(self, grace_s: float) -> None:
        self._stop_all("stopped", "The run was stopped.")
        if self._asking:
            await asyncio.wait(self._asking, timeout=grace_s)
        for task in self._asking:
            task.cancel()

    async def close(self) -> None:
        """Brings to the disk what is not there yet, and closes what was opened."""
        self._syncing.cancel()
        self._log.sync()
        await self._solver.close()
        if self._judge:
            await self._judge.close()
        await self._environment.close()

    def forget(self) -> None:
        """Removes the logs of this machine: the driver has kept all that they say."""
        self._syncing.cancel()
        shutil.rmtree(self._folder, ignore_errors=True)

    async def next_batch(self, shard: AskedShard) -> Batch:
        with suppress(TimeoutError):
            await asyncio.wait_for(shard.news.wait(), TELL_EVERY_S)
        shard.news.clear()
        is_last = shard.is_over
        if is_last:
            await asyncio.to_thread(self._log.sync)
            self._shards.remove(shard)
        answers, shard.fresh = shard.fresh, []
        shard.is_told = is_last
        return Batch(answers, len(shard.open), len(self._asking), self._limit, is_last, shard.stop if is_last else None)

    def _fill(self) -> None:
        """Begins as many questions as may be in flight. Ended ones come here again."""
        while len(self._asking) < self._limit and (shard := self._next_shard()):
            position, key = shard.open.popleft()
            shard.in_flight += 1
            if not shard.has_begun:
                shard.has_begun = True
                shard.news.set()
            task = asyncio.create_task(self._ask(shard, position, key))
            self._asking.add(task)
            task.add_done_callback(partial(self._ended, shard))

    def _next_shard(self) -> AskedShard | None:
        most = self._setup.request.requests_in_flight_per_shard
        for shard in self._shards:
            if shard.open and shard.stop is None and (most is None or shard.in_flight < most):
                return shard
        return None

    def _ended(self, shard: AskedShard, task: asyncio.Task[None]) -> None:
        self._asking.discard(task)
        shard.in_flight -= 1
        error = None if task.cancelled() else task.exception()
        match error:
            case None:
                pass
            case ShardStop(kind="endpoint"):
                # Nothing in flight can still succeed: leave at once, cancelling the others.
                self._stop_all("endpoint", error.message)
                for other in self._asking:
                    other.cancel()
            case ShardStop():
                # The others' answers are on their way and paid for.
                shard.stop = shard.stop or (error.kind, error.message)
            case RunFailure():
                self._stop_all("disk", error.message)
            case _:
                shard.stop = shard.stop or ("scorer", f"A question could not be asked: {last_line(error)}.")
        if shard.is_over:
            shard.news.set()
        self._fill()

    def _stop_all(self, kind: StopKind, message: str) -> None:
        for shard in self._shards:
            shard.stop = shard.stop or (kind, message)
            if shard.is_over:
                shard.news.set()

    async def _ask(self, shard: AskedShard, position: int, key: AnswerKey) -> None:
        problem, repeat = key
        question = Question(position, problem, repeat, await self._seed(problem))
        stored = shard.work.stored.get(key)
        if stored is None:
            try:
                row = await ask(question, self._kit)
            except ShardStop as stop:
                if stop.unscored is not None:
                    self._log.write(to_line(_dated(stop.unscored)))
                raise
            row = _dated(row)
        else:
            row = await score_again(question, stored, self._kit)
        line = to_line(row)
        # Scores of a changed scorer take the place of the others all at once, when there are all of them.
        if self._setup.request.task == "ask":
            self._log.write(line)
        shard.fresh.append((compact(row), line))

    async def _seed(self, problem: int) -> SeedResult:
        # One seed for all repeats of a problem, as in the evaluator: a seed may be drawn at random.
        if problem not in self._seeds:
            self._seeds[problem] = asyncio.create_task(self._environment.seed(problem))
        try:
            return with_system_prompt(await self._seeds[problem], self._setup.request.system_prompt)
        except Exception as error:
            message = f"The benchmark could not give problem {problem}: {last_line(error)}. Correct it and run again."
            raise ShardStop("scorer", message) from error

    async def _sync_regularly(self) -> None:
        while True:
            await asyncio.sleep(SYNC_EVERY_S)
            # A disk that is full says so at the next write.
            with suppress(OSError):
                await asyncio.to_thread(self._log.sync)


def _dated(row: Row) -> Row:
    """The row with the time of its answer, in seconds since 1970."""
    return row | {OURS: row[OURS] | {"at": round(time.time(), 3)}}

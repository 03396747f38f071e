"""Hands the shards to the processes that ask them, tries failed ones again, and says which are not whole in the end."""

import time
from collections import deque
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

import ray

from . import events
from .answers import Edition, log_path, read_log
from .asker import Batch, Setup, ShardWork, StopKind
from .failure import RunFailure
from .key import Keys
from .plan import Plan
from .processes import Handle, Process, Shard, start_process, why_lost
from .rows import UNSCORED, AnswerKey, Row, outcome_of
from .slots import share_slots
from .tally import Tally

ATTEMPTS = 3
"""In all. A later one goes on from the answers that are there."""

AHEAD = 4
"""Questions that a process has beside those in flight, as a multiple of them: it is heard of four times a second."""

GRACE_S = 1.0
"""What is in flight when a run is stopped may come until then: Ray gives the driver three seconds to end."""

WAIT_S = 0.2
"""A signal is only seen between two waits."""

GIVEN_UP_BECAUSE = {
    "endpoint": "another shard found the endpoint failing",
    "disk": "another shard could not keep its answers",
    "judge": "another shard found that the score needs a judge model",
}
"""Why a shard is ended for another's sake. Its own it would not be: perhaps it has not asked anything yet."""

type EndKind = Literal["stopped", "budget"]
"""Why a run ends before everything is asked, though nothing failed."""

type MissingKind = StopKind | Literal["lost", "budget"]


@dataclass(frozen=True)
class Missing:
    """Why a shard is not whole."""

    kind: MissingKind
    message: str


WAS_STOPPED = Missing("stopped", "The run was stopped before it was done")
ENDED: dict[EndKind, Missing] = {
    "stopped": WAS_STOPPED,
    "budget": Missing("budget", "The budget was used up before it was done"),
}


@dataclass(frozen=True)
class Run:
    """What the shards are run with."""

    tally: Tally
    plan: Plan
    secrets: Keys
    keys: Callable[[int], Iterable[tuple[int, AnswerKey]]]
    """Position and key of every answer that a shard is to have."""
    edition: Edition
    name: str
    """Of this run into the folder; the logs of its processes begin with it."""
    mark: str
    """The name of a file in the output folder by which a process knows whether it shares it."""
    affordable: int | None
    """How many answers may be asked for; None is as many as there are."""
    stored: Mapping[AnswerKey, Row]
    """Answers to score again; with them nothing is asked."""
    endpoint_lives: Callable[[], bool]
    """Asked when a shard has given the endpoint up. When it does not live, nothing more is started."""
    should_end: Callable[[int], EndKind | None]
    """Whether the run is to end now, and why, when so many questions are in flight."""


def run_shards(run: Run, actors: Sequence[Handle], meanwhile: Callable[[], None]) -> dict[int, Missing]:
    """
    Asks everything that is not there. What comes goes into the tally; the shards that are not whole are given back.

    :param actors: processes that were started already.
    :param meanwhile: done while they begin.
    """
    scheduler = _Scheduler(run)
    for actor in actors:
        scheduler.open(actor)
    meanwhile()
    while scheduler.is_busy:
        scheduler.step()
    scheduler.close()
    return scheduler.missing


class _Scheduler:
    def __init__(self, run: Run) -> None:
        self.missing: dict[int, Missing] = {}
        self._run = run
        self._request = run.tally.request
        self._waiting: deque[Shard] = deque()
        self._processes: list[Process] = []
        self._logs: list[str] = []
        self._failed_openings = 0
        self._end: Missing | None = None
        """Why nothing more is handed out, for the shards that it concerns."""
        self._deadline = float("inf")
        for index in range(self._request.shards):
            if run.tally.unanswered(run.keys(index)):
                events.shard(index, 0, "queued")
                self._waiting.append(Shard(index))
            else:
                events.shard_done(index, 0, 0.0)

    @property
    def is_busy(self) -> bool:
        is_asked = any(process.shards for process in self._processes)
        return (bool(self._waiting) or is_asked) and time.monotonic() < self._deadline

    def open(self, actor: Handle) -> None:
        """Gives a process its setup."""
        log = f"{self._run.name}-{len(self._logs):03}"
        setup = Setup(
            request=self._request,
            benchmark=self._run.plan.benchmark.spec,
            edition=self._run.edition,
            log=log,
            earlier_logs=tuple(self._logs),
            mark=self._run.mark,
            driver_node=ray.get_runtime_context().get_node_id(),
        )
        self._logs.append(log)
        self._processes.append(Process(actor, setup, actor.open.remote(setup, self._run.secrets)))

    def step(self) -> None:
        """Hands out what can be, and takes in what comes within a moment."""
        self._end_if_asked()
        for process in self._processes:
            if process.opened:
                self._hand_out(process)
        self._share()
        refs = [process.opening for process in self._processes if not process.opened]
        refs += [generator for process in self._processes for generator in process.shards]
        ray.wait(refs, num_returns=1, timeout=WAIT_S)
        for ref in ray.wait(refs, num_returns=len(refs), timeout=0)[0]:
            # One that died before its turn came has been given up with all that it had.
            for process in [each for each in self._processes if each.opening is ref or ref in each.shards]:
                self._hear(process, ref)
        for process in self._processes:
            if process.log:
                process.log.sync()

    def close(self) -> None:
        """Gives up what has not ended in time, and brings to the disk what was kept for others."""
        for process in self._processes:
            for shard in process.shards.values():
                self._give_up(shard, self._end or WAS_STOPPED)
        elsewhere = [process.actor.forget.remote() for process in self._processes if process.log]
        if elsewhere:
            ray.wait(elsewhere, num_returns=len(elsewhere), timeout=GRACE_S)

    def _end_if_asked(self) -> None:
        kind = None if self._end else self._run.should_end(sum(process.in_flight for process in self._processes))
        if kind:
            # What a budget has paid for is waited for. A stopped run has no time.
            grace = GRACE_S if kind == "stopped" else self._request.request_timeout_s
            self._deadline = time.monotonic() + grace + GRACE_S
            self._end_all(ENDED[kind], grace)

    def _end_all(self, why: Missing, grace_s: float = 0.0) -> None:
        """Hands nothing more out. The shards that are being asked tell of their end themselves."""
        self._end = why
        while self._waiting:
            self._give_up(self._waiting.popleft(), why)
        for process in self._processes:
            process.finish(grace_s)

    def _hand_out(self, process: Process) -> None:
        while self._waiting:
            if process.shards:
                # One that was lost before is asked alone: if it is what ends its process, it takes no other with it.
                is_alone = any(shard.attempt > 0 for shard in process.shards.values())
                shard = next((shard for shard in self._waiting if shard.attempt == 0), None)
                fair = self._request.requests_in_flight // len(self._processes)
                if is_alone or shard is None or process.left >= AHEAD * max(1, fair):
                    return
            else:
                shard = self._waiting[0]
            self._waiting.remove(shard)
            questions = self._affordable(self._run.tally.unanswered(self._run.keys(shard.index)))
            if not questions:
                self._give_up(shard, ENDED["budget"])
                continue
            stored = {key: self._run.stored[key] for _, key in questions if key in self._run.stored}
            process.ask(shard, ShardWork(shard.index, questions, stored, shard.attempt))

    def _affordable(self, questions: list[tuple[int, AnswerKey]]) -> list[tuple[int, AnswerKey]]:
        """As many of the questions as the budget allows beside those that are being asked."""
        if self._run.affordable is None:
            return questions
        reserved = sum(shard.reserved for process in self._processes for shard in process.shards.values())
        return questions[: max(0, self._run.affordable - len(self._run.tally.asked) - reserved)]

    def _share(self) -> None:
        opened = [process for process in self._processes if process.opened]
        limits = share_slots(self._request.requests_in_flight, [process.demand for process in opened])
        for process, limit in zip(opened, limits, strict=True):
            process.set_limit(limit)

    def _hear(self, process: Process, ref: Handle) -> None:
        try:
            if ref is process.opening:
                process.ready(*ray.get([ref]))
                self._failed_openings = 0
            else:
                self._take(process, ref, ray.get(next(ref)))
        except StopIteration:
            # Its last batch has told how it ended.
            process.shards.pop(ref, None)
        except RunFailure as failure:
            self._lose(process, failure)
        except Exception as error:
            self._lose(process, why_lost(error))

    def _take(self, process: Process, generator: Handle, batch: Batch) -> None:
        shard = process.shards[generator]
        if shard.began is None:
            shard.began = time.monotonic()
            node = process.opened.node if process.opened else ""
            events.shard(shard.index, shard.attempt, "running", node=node)
        shard.left = batch.left
        shard.reserved -= len(batch.answers)
        process.hear(batch)
        for answer, line in batch.answers:
            self._run.tally.take(answer, line)
        events.answers(shard.index, shard.attempt, [answer for answer, _ in batch.answers])
        if batch.is_last:
            del process.shards[generator]
            self._ended(shard, batch.stop)

    def _ended(self, shard: Shard, stop: tuple[StopKind, str] | None) -> None:
        seconds = time.monotonic() - (shard.began or time.monotonic())
        if not self._run.tally.unanswered(self._run.keys(shard.index)):
            events.shard_done(shard.index, shard.attempt, seconds)
            return
        if stop is None:
            # All that it was given is answered, and it was not given all.
            self._give_up(shard, ENDED["budget"])
            return
        kind, message = stop
        why = Missing(kind, message)
        if kind == "stopped":
            self._give_up(shard, self._end or WAS_STOPPED)
        elif kind in ("judge", "disk") or (kind == "endpoint" and not self._run.endpoint_lives()):
            self._give_up(shard, why)
            self._end_all(Missing(kind, f"Given up because {GIVEN_UP_BECAUSE[kind]}."))
        elif kind == "scorer":
            # It was tried twice on the same answer already.
            self._give_up(shard, why)
        else:
            self._again(shard, why)

    def _again(self, shard: Shard, why: Missing) -> None:
        if shard.attempt + 1 == ATTEMPTS or self._end:
            self._give_up(shard, why)
            return
        events.shard(shard.index, shard.attempt, "failed", why.message)
        shard.attempt += 1
        events.shard(shard.index, shard.attempt, "queued")
        self._waiting.appendleft(shard)

    def _give_up(self, shard: Shard, why: Missing) -> None:
        events.shard(shard.index, shard.attempt, "failed", why.message)
        self.missing[shard.index] = why

    def _lose(self, process: Process, why: RunFailure | str) -> None:
        """What a process that is gone was asking goes to another one, which begins near to what it left."""
        self._processes.remove(process)
        if isinstance(why, RunFailure) and why.reason == "disk":
            for shard in process.shards.values():
                self._give_up(shard, Missing("disk", why.message))
            self._end_all(Missing("disk", f"Given up because {GIVEN_UP_BECAUSE['disk']}."))
            return
        is_endpoint = isinstance(why, RunFailure) and why.reason == "endpoint"
        lost = Missing("endpoint" if is_endpoint else "lost", why if isinstance(why, str) else why.message)
        if process.opened is None:
            self._failed_openings += 1
        elif process.opened.shares_folder:
            self._recover(process)
        for shard in reversed(process.shards.values()):
            if shard.began is None and not self._end:
                # It was not asked, so it is not what ended the process.
                self._waiting.appendleft(shard)
            else:
                self._again(shard, lost)
        if self._failed_openings >= ATTEMPTS:
            self._end_all(lost)
        elif self._waiting:
            self.open(start_process(self._request, process.opened.node_id if process.opened else None))

    def _recover(self, process: Process) -> None:
        """What the process had written and not yet told is taken from its log."""
        rows = read_log(log_path(self._run.tally.folder, process.setup.log))
        for shard in process.shards.values():
            unanswered = [key for _, key in self._run.tally.unanswered(self._run.keys(shard.index))]
            found = [rows[key] for key in unanswered if key in rows and outcome_of(rows[key]) != UNSCORED]
            events.answers(shard.index, shard.attempt, [self._run.tally.take_row(row) for row in found])

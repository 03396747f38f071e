"""A process that asks, as the driver sees it: a handle of Ray's, what it was given, and what it last told."""

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import ray
from ray.exceptions import NodeDiedError, OutOfMemoryError, RayActorError, RayError, RayTaskError
from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy

from .answers import AnswerLog, log_path
from .asker import Asker, Batch, Opened, Setup, ShardWork
from .failure import RunFailure, last_line
from .request import RunRequest
from .slots import Demand

MOST_PROCESSES = 16
"""Unless the request says otherwise: each asks a thousand questions a second, and others use the cluster too."""

type Handle = Any
"""Ray's handle of an Asker, or a reference to something: what they can do is not known before they are used."""


@dataclass
class Shard:
    """A shard that is not whole yet."""

    index: int
    attempt: int = 0
    left: int = 0
    """Questions that were not handed out when it was last heard of."""
    reserved: int = 0
    """Answers that it was given to ask for and has not told."""
    began: float | None = None
    """When its first question was asked, by the driver's monotonic clock."""


@dataclass
class Process:
    """A process that was given its setup."""

    actor: Handle
    setup: Setup
    opening: Handle
    opened: Opened | None = None
    log: AnswerLog | None = None
    """Of what it tells, when its own is on the disk of another machine."""
    limit: int = 0
    ceiling: int = 0
    in_flight: int = 0
    shards: dict[Handle, Shard] = field(default_factory=dict)
    """By the generator that tells of them."""

    def ready(self, opened: Opened) -> None:
        """
        Takes what it says of itself.

        :raises RunFailure: reason `disk`, when its answers cannot be kept here.
        """
        self.opened = opened
        if not opened.shares_folder:
            folder = Path(self.setup.request.output_folder)
            self.log = AnswerLog(log_path(folder, self.setup.log), self.setup.edition)

    def ask(self, shard: Shard, work: ShardWork) -> None:
        """Gives it a shard, as a task that reads well among Ray's."""
        request = self.setup.request
        if self.left == 0:
            # Its limit is from when it had more to ask; others may have got what it no longer used.
            self.set_limit(min(self.limit, self.in_flight))
        name = f"shard {shard.index + 1}/{request.shards}" + (f" attempt {shard.attempt + 1}" if shard.attempt else "")
        generator = self.actor.ask_shard.options(num_returns="streaming", name=name).remote(work)
        shard.left = shard.reserved = len(work.questions)
        shard.began = None
        self.shards[generator] = shard

    def hear(self, batch: Batch) -> None:
        """Takes how much it has in flight, and keeps the answers that it cannot keep here itself."""
        self.in_flight = batch.in_flight
        if batch.limit == self.limit:
            self.ceiling = max(batch.in_flight, self.limit)
        if self.log:
            for _, line in batch.answers:
                self.log.write(line)

    def set_limit(self, limit: int) -> None:
        if limit != self.limit:
            self.limit = limit
            self.ceiling = max(self.ceiling, limit)
            self.actor.limit.remote(limit)

    def finish(self, grace_s: float) -> None:
        """Lets it hand out nothing more; what is in flight has so many seconds."""
        if self.opened:
            self.actor.finish.remote(grace_s)

    @property
    def left(self) -> int:
        return sum(shard.left for shard in self.shards.values())

    @property
    def demand(self) -> Demand:
        return Demand(self.limit, self.ceiling, self.in_flight, self.left)


def start_process(request: RunRequest, node: str | None = None) -> Handle:
    """
    Lets a process start and import, to be opened when its setup is known.

    :param node: the id of the node where it should be, if it can.
    """
    memory = {"memory": request.memory_per_shard} if request.memory_per_shard else {}
    # Ray's own restarts stay off: they could not say which attempt it is. What goes on in a process at once is limited
    # by its requests in flight, not by Ray.
    actor = ray.remote(Asker).options(
        num_cpus=request.cpus_per_shard,
        max_restarts=0,
        max_concurrency=10_000,
        scheduling_strategy=NodeAffinitySchedulingStrategy(node, soft=True) if node else None,
        **memory,
    )
    return actor.remote()


def process_count(request: RunRequest, cpus: float) -> int:
    """
    How many processes ask: more in flight, rather than more processes than processors.

    :param cpus: what the cluster has.
    :raises RunFailure: reason `environment`, when not one would ever start.
    """
    fits = int(cpus // request.cpus_per_shard) if request.cpus_per_shard else request.shards
    if fits < 1:
        raise RunFailure(
            "environment",
            f"A shard is to have {request.cpus_per_shard:g} CPUs, and the cluster has {cpus:g}. "
            "No question was asked. Choose fewer CPUs a shard.",
        )
    most = request.processes_at_most or MOST_PROCESSES
    return min(request.shards, request.requests_in_flight, most, fits)


def why_lost(error: Exception) -> RunFailure | str:
    """What became of a process that answers with an error: its own words when it had some."""
    match error:
        case OutOfMemoryError():
            return "Ray ended its process because the machine ran out of memory."
        case NodeDiedError():
            return "The machine that ran it is gone."
        case RayActorError():
            return "The machine that ran it is gone." if "node has died" in str(error) else "Its process died."
        case RayTaskError():
            cause = error.cause
            return cause if isinstance(cause, RunFailure) else f"{last_line(cause or error)}."
        case RayError():
            return f"{last_line(error)}."
    raise error

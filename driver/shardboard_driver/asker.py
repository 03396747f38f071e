"""
The process that asks, as a Ray actor. Each shard is one task of it.

Light to import: the driver starts the actors before it has loaded the evaluator itself.
"""

import asyncio
import socket
import tempfile
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import ray

from .answers import Edition
from .endpoint_check import check_all, endpoint_checks
from .events import CompactAnswer
from .failure import RunFailure
from .key import Keys
from .request import RunRequest
from .rows import AnswerKey, Row

if TYPE_CHECKING:
    from .pool import Pool

type StopKind = Literal["endpoint", "scorer", "judge", "disk", "stopped"]


@dataclass(frozen=True)
class Setup:
    """What a process needs to know."""

    request: RunRequest
    benchmark: str
    edition: Edition
    log: str
    """The name of the process's own log."""
    earlier_logs: tuple[str, ...]
    """Of processes of this run that died: what they had not told of is in there, if it is on this machine."""
    mark: str
    """The name of a file that the driver has put into the output folder: who sees it writes to the same disk."""
    driver_node: str
    """The id of the driver's node, from where the endpoint has been checked."""


@dataclass(frozen=True)
class Opened:
    """What a process says of itself when it is ready."""

    node: str
    node_id: str
    shares_folder: bool
    """Whether its log is in the output folder of the run; otherwise the driver keeps what it is told."""


@dataclass(frozen=True)
class ShardWork:
    """What is left to do of a shard."""

    index: int
    questions: list[tuple[int, AnswerKey]]
    """Positions and keys."""
    stored: dict[AnswerKey, Row] = field(default_factory=dict)
    """Answers to score again; with them nothing is asked."""
    attempt: int = 0


@dataclass(frozen=True)
class Batch:
    """What is new of a shard."""

    answers: list[tuple[CompactAnswer, str]]
    """Each with its line in the log."""
    left: int
    """Questions of the shard that are not handed out."""
    in_flight: int
    """Of the whole process."""
    limit: int
    """What the process may have in flight, as it knows."""
    is_last: bool = False
    stop: tuple[StopKind, str] | None = None
    """Why the shard ended, in the last batch of one that is not whole."""


class Asker:
    """The actor. `open` comes first; `ask_shard` may be called for many shards at once."""

    _ready: "asyncio.Future[Pool]"

    def __init__(self) -> None:
        # The process is started before it is known what it is to ask; until then it imports.
        from . import pool  # noqa: F401

    async def open(self, setup: Setup, keys: Keys) -> Opened:
        """
        :raises RunFailure: when it cannot begin: no benchmark, no endpoint, no disk.
        """
        # Not in `__init__`, which Ray does not call on the loop. What is called after this finds it.
        self._ready = asyncio.get_running_loop().create_future()
        from .pool import Pool

        keys.settle()
        try:
            folder = Path(setup.request.output_folder)
            shares = (folder / setup.mark).exists()
            folder = folder if shares else _local_folder(setup.mark)
            node = ray.get_runtime_context().get_node_id()
            if node != setup.driver_node:
                await asyncio.to_thread(_check_from_here, setup.request, keys)
            pool = Pool(setup, keys, folder)
            await pool.open()
        except BaseException as error:
            self._ready.set_exception(error)
            # Asked for by nobody, when no shard came: no reason for a warning.
            self._ready.exception()
            raise
        self._ready.set_result(pool)
        return Opened(socket.gethostname(), node, shares)

    async def ask_shard(self, work: ShardWork) -> AsyncIterator[Batch]:
        """Asks what is left of a shard, and tells of it as it comes. The last batch says why, if it ended early."""
        pool = await self._ready
        shard = pool.add(work)
        while True:
            yield await pool.next_batch(shard)
            if shard.is_told:
                return

    async def limit(self, in_flight: int) -> None:
        """How many requests may be in flight from now on."""
        (await self._ready).limit(in_flight)

    async def forget(self) -> None:
        """Removes what only this machine has, when the driver has kept all of it."""
        (await self._ready).forget()

    async def finish(self, grace_s: float) -> None:
        """Hands no more questions out; those in flight have so many seconds."""
        await (await self._ready).finish(grace_s)


def _check_from_here(request: RunRequest, keys: Keys) -> None:
    """What the driver's machine can reach, another machine may not."""
    try:
        check_all(endpoint_checks(request, keys))
    except RunFailure as failure:
        message = f"From the machine {socket.gethostname()} of the cluster: {failure.message}"
        raise RunFailure(failure.reason, message) from failure


def _local_folder(mark: str) -> Path:
    """Where this machine keeps what the driver's machine has not yet heard; the same for all processes of a run."""
    folder = Path(tempfile.gettempdir()) / f"shardboard{mark}"
    folder.mkdir(mode=0o700, exist_ok=True)
    return folder

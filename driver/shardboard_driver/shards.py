"""Runs the shards as Ray tasks, tries failed ones again, and says which are missing in the end."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

import ray
from ray.exceptions import NodeDiedError, OutOfMemoryError, RayTaskError, WorkerCrashedError

from . import events
from .failure import RunFailure, last_line
from .plan import Plan
from .request import RunRequest
from .rows import Row, compact
from .shard import ShardAnswers, ShardStopped, ShardWork, run_shard

ATTEMPTS = 3
"""In all. A later one goes on from the answers that are on disk."""

GIVEN_UP_BECAUSE = {
    "endpoint": "another shard found the endpoint failing",
    "disk": "another shard could not keep its answers",
    "judge": "another shard found that the score needs a judge model",
}
"""Why a shard is ended for another's sake. Its own it would not be: perhaps it has not asked anything yet."""

WAIT_S = 0.2
"""A signal is only seen between two waits."""


type MissingKind = Literal["endpoint", "disk", "scorer", "judge", "lost"]


@dataclass(frozen=True)
class Missing:
    """Why a shard has no result."""

    kind: MissingKind
    message: str


def run_shards(
    request: RunRequest,
    plan: Plan,
    done: dict[int, list[Row]],
    endpoint_lives: Callable[[], bool],
    meanwhile: Callable[[], None],
) -> dict[int, Missing]:
    """
    Asks everything. Finished shards come into `done` as they finish; the others are given back.

    :param endpoint_lives: asked when a shard has given the endpoint up. When it does not live, nothing more is started.
    :param meanwhile: done while the shards begin.
    """
    missing: dict[int, Missing] = {}
    running = {_submit(request, plan, shard, 0): (shard, 0) for shard in range(request.shards)}
    meanwhile()
    while running:
        for ref in ray.wait(list(running), num_returns=1, timeout=WAIT_S)[0]:
            shard, attempt = running.pop(ref)
            result = _result_of(ref)
            if isinstance(result, ShardAnswers):
                done[shard] = result.rows
                events.shard_done(shard, attempt, result.seconds, [compact(row) for row in result.rows])
                continue
            events.shard(shard, attempt, "failed", result.message)
            if _is_hopeless(result, endpoint_lives):
                missing[shard] = result
                missing |= _give_up(running, result.kind)
            elif result.kind == "scorer" or attempt + 1 == ATTEMPTS:
                # The scorer was tried twice on the same answer already.
                missing[shard] = result
            else:
                running[_submit(request, plan, shard, attempt + 1)] = (shard, attempt + 1)
    return missing


def _submit(request: RunRequest, plan: Plan, shard: int, attempt: int) -> ray.ObjectRef[ShardAnswers | ShardStopped]:
    start, end = plan.ranges[shard]
    work = ShardWork(
        request=request,
        benchmark=plan.benchmark.spec,
        fingerprint=plan.fingerprint,
        index=shard,
        attempt=attempt,
        first_position=start,
        problems=plan.order[start:end],
    )
    name = f"shard {shard + 1}/{request.shards}" + (f" attempt {attempt + 1}" if attempt else "")
    events.shard(shard, attempt, "queued")
    # Ray's own retries stay off: they could not say which attempt it is.
    task = ray.remote(num_cpus=1, max_retries=0)(run_shard)
    return task.options(name=name).remote(work)


def _result_of(ref: ray.ObjectRef[ShardAnswers | ShardStopped]) -> ShardAnswers | Missing:
    try:
        result = ray.get(ref)
    except OutOfMemoryError:
        return Missing("lost", "Ray ended its process because the machine ran out of memory.")
    except WorkerCrashedError:
        return Missing("lost", "Its process died.")
    except NodeDiedError:
        return Missing("lost", "The machine that ran it is gone.")
    except RayTaskError as error:
        cause = error.cause
        if isinstance(cause, RunFailure):
            return Missing("disk" if cause.reason == "disk" else "lost", cause.message)
        return Missing("lost", f"{last_line(cause or error)}.")
    except ray.exceptions.RayError as error:
        return Missing("lost", f"{last_line(error)}.")
    return Missing(result.kind, result.message) if isinstance(result, ShardStopped) else result


def _is_hopeless(result: Missing, endpoint_lives: Callable[[], bool]) -> bool:
    """Whether the other shards must fail in the same way."""
    return result.kind in ("judge", "disk") or (result.kind == "endpoint" and not endpoint_lives())


def _give_up(
    running: dict[ray.ObjectRef[ShardAnswers | ShardStopped], tuple[int, int]], kind: MissingKind
) -> dict[int, Missing]:
    why = Missing(kind, f"Given up because {GIVEN_UP_BECAUSE[kind]}.")
    given_up: dict[int, Missing] = {}
    for ref, (shard, attempt) in running.items():
        ray.cancel(ref, force=True)
        events.shard(shard, attempt, "failed", why.message)
        given_up[shard] = why
    running.clear()
    return given_up

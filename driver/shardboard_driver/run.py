"""A run from the benchmark to the merged score."""

import platform
import time
from collections.abc import Callable
from concurrent.futures import Future
from functools import partial
from pathlib import Path

import nemo_evaluator
import ray

from . import events
from .benchmark import open_benchmark
from .failure import Reason, RunFailure, disk_trouble
from .merge import merge, prepare_merge
from .output import refuse_other_results
from .plan import Plan, make_plan
from .shards import Missing, run_shards
from .tally import Tally

COMPLETE = 0
PARTIAL = 3

# The first weighs most: when the endpoint fails, what else went wrong matters little.
REASONS: dict[str, Reason] = {"endpoint": "endpoint", "disk": "disk", "scorer": "benchmark", "lost": "shards"}


def execute(tally: Tally, first_check: Future[None], check_endpoint: Callable[[], None]) -> int:
    """
    Runs it; gives the exit code, COMPLETE or PARTIAL, when the last event has been told.

    :param first_check: the first check of the endpoint, which was begun before the imports.
    :param check_endpoint: checks it again, when a shard has given it up.
    :raises RunFailure: when there is no score; it is still to be told.
    """
    events.stage("loading_benchmark")
    plan = _prepare(tally)
    events.stage("checking_endpoint")
    first_check.result()
    _tell_start(tally, plan)

    began = time.monotonic()
    missing = run_shards(
        tally.request, plan, tally.done, _lives(check_endpoint), partial(prepare_merge, tally.request.repeats)
    )
    seconds = time.monotonic() - began
    _refuse_without_score(tally, missing)

    events.stage("merging")
    rows = [row for shard in tally.done.values() for row in shard]
    try:
        merged = merge(tally.request, plan, rows, sorted(missing), seconds)
    except OSError as error:
        raise _unwritten(tally, error) from error
    events.merged(complete=not missing, scores=merged.scores, categories=merged.categories, bundle=str(merged.path))
    return _tell_end(tally, missing)


def _prepare(tally: Tally) -> Plan:
    request = tally.request
    plan = make_plan(request, open_benchmark(request.benchmark))
    refuse_other_results(Path(request.output_folder), plan.fingerprint)
    tally.expected = len(plan.order) * request.repeats
    return plan


def _tell_start(tally: Tally, plan: Plan) -> None:
    events.start(
        benchmark=plan.benchmark.name,
        problems=len(plan.order),
        repeats=tally.request.repeats,
        ranges=plan.ranges,
        versions={
            "evaluator": nemo_evaluator.__version__,
            "ray": ray.__version__,
            "python": platform.python_version(),
        },
    )
    events.stage("asking")


def _lives(check_endpoint: Callable[[], None]) -> Callable[[], bool]:
    def lives() -> bool:
        try:
            check_endpoint()
        except RunFailure:
            return False
        return True

    return lives


def _refuse_without_score(tally: Tally, missing: dict[int, Missing]) -> None:
    """
    :raises RunFailure: when there is no answer that could be scored. A score of 0 would be a lie.
    """
    judge = next((shard for shard in missing.values() if shard.kind == "judge"), None)
    if judge:
        raise RunFailure("benchmark", f"{judge.message} A sharded run has no judge yet, so it cannot be scored.")
    answers = sum(len(rows) for rows in tally.done.values())
    if answers > tally.endpoint_errors():
        return
    if answers > 0:
        raise RunFailure(
            "endpoint",
            f"The endpoint {tally.request.model_url} failed: not one of {answers} questions was answered. "
            "Check the model's server and run again.",
        )
    worst = _worst(missing)
    what = "" if worst.kind == "endpoint" else "No shard finished. "
    kept = " The answers that came until then are kept." if tally.kept() > 0 else ""
    raise RunFailure(REASONS[worst.kind], f"{what}{_told(worst)}{kept}")


def _unwritten(tally: Tally, error: OSError) -> RunFailure:
    what = f"The results cannot be written to {tally.request.output_folder}"
    kept = " The answers are kept there." if tally.kept() > 0 else ""
    return RunFailure("disk", f"{disk_trouble(what, error)}{kept}")


def _worst(missing: dict[int, Missing]) -> Missing:
    # Of several of a kind the first: it is the one that the others were given up for.
    return min(missing.values(), key=lambda shard: list(REASONS).index(shard.kind))


def _tell_end(tally: Tally, missing: dict[int, Missing]) -> int:
    errors = tally.endpoint_errors()
    if not missing and errors == 0:
        tally.end("complete", f"All {tally.expected:,} answers are scored.")
        return COMPLETE
    said = []
    reason: Reason = "endpoint"
    if missing:
        worst = _worst(missing)
        reason = REASONS[worst.kind]
        names = ", ".join(str(shard + 1) for shard in sorted(missing))
        count = f"{len(missing)} shards are" if len(missing) > 1 else "1 shard is"
        said.append(f"{count} missing ({names}), and the score is of the others only. {_told(worst)}")
    if errors:
        said.append(f"{errors:,} of {tally.expected:,} answers failed at the endpoint and count as 0 in the score.")
    tally.end("partial", " ".join(said), reason, missing)
    return PARTIAL


def _told(missing: Missing) -> str:
    """Why a shard is missing, in whole sentences."""
    text = missing.message if missing.message.endswith((".", "!", "?")) else f"{missing.message}."
    # The shard itself could not say it: it may have been tried again.
    return f"{text} Check the model's server and run again." if missing.kind == "endpoint" else text

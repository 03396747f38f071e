"""A run from the benchmark to the merged score."""

import platform
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future
from dataclasses import dataclass
from functools import partial
from uuid import uuid4

import nemo_evaluator
import ray

from . import events
from .answers import Edition, Stored, read_answers, write_edition
from .benchmark import open_benchmark
from .failure import Reason, RunFailure, disk_trouble
from .handover import tell_files
from .key import Keys
from .merge import merge, prepare_merge
from .needs import refuse_what_is_lacking
from .output import check_room, marked, refuse_other_results
from .plan import MAY_CHANGE_SCORES, Plan, make_plan
from .processes import Handle
from .rows import UNSCORED, AnswerKey, Row, outcome_of
from .shards import EndKind, Missing, MissingKind, Run, run_shards
from .tally import Tally

COMPLETE, PARTIAL, STOPPED = 0, 3, 143

REASONS: dict[MissingKind, Reason] = {
    "endpoint": "endpoint",
    "disk": "disk",
    "judge": "benchmark",
    "scorer": "benchmark",
    "lost": "shards",
    "budget": "budget",
    "stopped": "shards",
}
"""The first weighs most: when the endpoint fails, what else went wrong matters little."""


SCORED = ("ok", "truncated", "empty")
TO_SCORE = ("judge_error", UNSCORED)
"""Outcomes of answers that count, and of those that are only to be scored."""


@dataclass(frozen=True)
class Preparation:
    """What was begun before the imports."""

    keys: Keys
    first_check: "Future[None]"
    """Of the endpoint."""
    check_endpoint: Callable[[], None]
    """Checks it again, when a shard has given it up."""
    actors: Sequence[Handle]
    """Processes that are starting."""
    should_end: Callable[[int], EndKind | None]


def execute(tally: Tally, preparation: Preparation) -> int:
    """
    Runs it; gives the exit code when the last event has been told.

    :raises RunFailure: when there is no score; it is still to be told.
    """
    events.stage("loading_benchmark")
    request = tally.request
    refuse_what_is_lacking(request)
    plan = make_plan(request, open_benchmark(request.benchmark))
    tally.expected = len(plan.order) * plan.repeats
    scores_again = request.task == "score_again"
    refuse_other_results(tally.folder)
    earlier = read_answers(tally.folder, plan.fingerprint, but=MAY_CHANGE_SCORES if scores_again else frozenset())
    keys = _scoring_again(plan, earlier) if scores_again else plan.keys
    check_room(tally.folder, tally.expected - len(earlier.rows))
    if not scores_again:
        events.stage("checking_endpoint")
    preparation.first_check.result()
    _tell_start(tally, plan, earlier, keys)

    edition = Edition(plan.fingerprint, earlier.edition + (1 if scores_again else 0))
    name = f"{time.strftime('%Y%m%dT%H%M%S', time.gmtime())}-{uuid4().hex[:6]}"
    with marked(tally.folder) as mark:
        run = Run(
            tally=tally,
            plan=plan,
            secrets=preparation.keys,
            keys=keys,
            edition=edition,
            name=name,
            mark=mark,
            affordable=None if scores_again else request.budget.answers,
            stored=_to_score(earlier, scores_again=scores_again),
            endpoint_lives=_lives(preparation.check_endpoint),
            should_end=preparation.should_end,
        )
        tally.phase = "asking"
        missing = run_shards(run, preparation.actors, partial(prepare_merge, plan.repeats))
    tally.phase = "merging"
    try:
        return _conclude(tally, plan, edition, name, missing)
    finally:
        if request.output_place == "session":
            tell_files(tally.folder, ray.get_runtime_context().get_node_id())


def _conclude(tally: Tally, plan: Plan, edition: Edition, name: str, missing: dict[int, Missing]) -> int:
    """Merges what there is, and tells how the run ended."""
    request = tally.request
    scores_again = request.task == "score_again"
    if tally.is_stopped and not tally.answers:
        tally.end("stopped", "The run was stopped. Nothing had been answered.")
        return STOPPED
    _refuse_without_score(tally, missing)
    if scores_again:
        _refuse_half_scored(missing)

    events.stage("merging")
    rows = tally.rows()
    try:
        if scores_again:
            write_edition(tally.folder, name, edition, rows)
        merged = merge(request, plan, rows, sorted(missing))
    except OSError as error:
        raise _unwritten(tally, error) from error
    events.merged(complete=merged.complete, scores=merged.scores, categories=merged.categories, bundle=str(merged.path))
    return _tell_end(tally, missing)


def _scoring_again(plan: Plan, earlier: Stored) -> Callable[[int], Iterator[tuple[int, AnswerKey]]]:
    """
    The keys of a run that only scores what is there.

    :raises RunFailure: reason `request`, when nothing is there, or more than the run has problems and repeats.
    """
    if not earlier.rows:
        raise RunFailure("request", "There are no answers to score in this folder. Ask the questions first.")
    planned = {key for shard in range(len(plan.ranges)) for _, key in plan.keys(shard)}
    if not earlier.rows.keys() <= planned:
        raise RunFailure(
            "request",
            "The folder has answers to more problems or repeats than this run. "
            "Nothing was changed. Score again with all of them.",
        )
    return lambda shard: ((position, key) for position, key in plan.keys(shard) if key in earlier.rows)


def _to_score(earlier: Stored, *, scores_again: bool) -> dict[AnswerKey, Row]:
    """Answers of the model that are only to be scored: all of them, or those on which scorer or judge failed."""
    wanted = (*SCORED, *TO_SCORE) if scores_again else TO_SCORE
    return {key: row for key, row in earlier.rows.items() if outcome_of(row) in wanted}


def _tell_start(
    tally: Tally, plan: Plan, earlier: Stored, keys: Callable[[int], Iterator[tuple[int, AnswerKey]]]
) -> None:
    """Tells the plan, and the answers that are there."""
    # An answer that failed at the endpoint is asked again, as the evaluator's own resume does; but not to score again.
    wanted = ("endpoint_error",) if tally.request.task == "score_again" else SCORED
    kept = {key: row for key, row in earlier.rows.items() if outcome_of(row) in wanted}
    there = [[tally.take_row(kept[key]) for _, key in keys(shard) if key in kept] for shard in range(len(plan.ranges))]
    events.start(
        benchmark=plan.benchmark.name,
        problems=len(plan.order),
        repeats=plan.repeats,
        ranges=plan.ranges,
        folder=str(tally.folder),
        versions={
            "evaluator": nemo_evaluator.__version__,
            "ray": ray.__version__,
            "python": platform.python_version(),
        },
    )
    events.stage("asking")
    for shard, answers in enumerate(there):
        events.answers(shard, 0, answers)


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
        raise RunFailure("benchmark", f"{judge.message} Choose a judge model and run again; the answers are kept.")
    outcomes = tally.outcomes()
    if outcomes.total() > outcomes["endpoint_error"]:
        return
    if outcomes.total() > 0:
        raise RunFailure(
            "endpoint",
            f"The endpoint {tally.request.model_url} failed: not one of {outcomes.total()} questions was answered. "
            "Check the model's server and run again.",
        )
    worst = _worst(missing)
    what = "" if worst.kind == "endpoint" else "No question was answered. "
    raise RunFailure(REASONS[worst.kind], f"{what}{_told(worst)}")


def _refuse_half_scored(missing: dict[int, Missing]) -> None:
    """
    :raises RunFailure: when not every answer could be scored again: half of one scorer and half of another is no score.
    """
    if missing:
        worst = _worst(missing)
        raise RunFailure(
            REASONS[worst.kind],
            f"Not every answer could be scored again, so the scores stay as they were. {_told(worst)}",
        )


def _unwritten(tally: Tally, error: OSError) -> RunFailure:
    what = f"The results cannot be written to {tally.request.output_folder}"
    kept = " The answers are kept there." if (tally.folder / "answers").is_dir() else ""
    return RunFailure("disk", f"{disk_trouble(what, error)}{kept}")


def _worst(missing: dict[int, Missing]) -> Missing:
    # Of several of a kind the first: it is the one that the others were given up for.
    return min(missing.values(), key=lambda shard: list(REASONS).index(shard.kind))


def _tell_end(tally: Tally, missing: dict[int, Missing]) -> int:
    outcomes = tally.outcomes()
    absent = tally.expected - outcomes.total()
    weak = [_failed(outcomes["endpoint_error"], tally, "failed at the endpoint")]
    weak += [_failed(outcomes["judge_error"], tally, "could not be judged")]
    stopped = [shard for shard in missing.values() if shard.kind == "stopped"]
    if stopped and len(stopped) == len(missing):
        kept = f"{outcomes.total():,} of {tally.expected:,} answers are kept."
        tally.end("stopped", f"The run was stopped. {kept}", missing_shards=missing)
        return STOPPED
    if not absent and not any(weak):
        tally.end("complete", f"All {tally.expected:,} answers are scored.")
        return COMPLETE
    said = []
    reason: Reason = "endpoint" if outcomes["endpoint_error"] else "benchmark"
    if missing:
        worst = _worst(missing)
        reason = REASONS[worst.kind]
        names = ", ".join(str(shard + 1) for shard in sorted(missing))
        count = f"{len(missing)} shards are" if len(missing) > 1 else "1 shard is"
        said.append(f"{count} not whole ({names}). {_absent(absent, tally)} {_told(worst)}")
    elif absent:
        said.append(_absent(absent, tally))
    said += [sentence for sentence in weak if sentence]
    tally.end("partial", " ".join(said), reason, missing)
    return PARTIAL


def _absent(count: int, tally: Tally) -> str:
    return f"{count:,} of {tally.expected:,} answers are missing, and the score is of the others only."


def _failed(count: int, tally: Tally, what: str) -> str:
    return f"{count:,} of {tally.expected:,} answers {what} and count as 0 in the score." if count else ""


def _told(missing: Missing) -> str:
    """Why a shard is missing, in whole sentences."""
    text = missing.message if missing.message.endswith((".", "!", "?")) else f"{missing.message}."
    # The shard itself could not say it: it may have been tried again.
    return f"{text} Check the model's server and run again." if missing.kind == "endpoint" else text

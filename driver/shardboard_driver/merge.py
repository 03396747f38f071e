"""Merges the answers of the shards with the evaluator's own code into the files that it would write for one run."""

import json
import platform
import shutil
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from importlib import import_module
from importlib.metadata import version
from pathlib import Path
from typing import Any

import nemo_evaluator
from nemo_evaluator.engine.sharding import merge_results
from nemo_evaluator.metrics.aggregation import scoring_details_breakdown
from nemo_evaluator.observability.collector import ArtifactCollector
from nemo_evaluator.observability.types import ModelResponse, RunArtifacts, StepRecord

from .bootstrap import no_group_intervals, quick_bootstrap
from .plan import SCORER_FILES, Plan
from .request import RunRequest
from .rows import OURS, Row, key_of, outcome_of, to_line

PARTIAL = "partial-"
EARLIER = "earlier-"


@dataclass(frozen=True)
class Merged:
    """What the run page shows of a merged run."""

    path: Path
    complete: bool
    scores: dict[str, Any]
    """`pass@1`, `pass@N` or `mean_reward`, each with its intervals."""
    categories: dict[str, Any]


def prepare_merge(repeats: int) -> None:
    """Imports what the merge will need, while the shards are still asking."""
    if repeats > 1:
        # The evaluator imports it at the first interval over repeats; two seconds on a cold machine.
        import_module("scipy.stats")


def merge(request: RunRequest, plan: Plan, rows: Sequence[Row], missing_shards: Sequence[int]) -> Merged:
    """
    Writes `results.jsonl` and `eval-*.json` into the output folder, each at once or not at all.

    When answers are missing or failed, the names begin with `partial-`, so that no reader takes half a run for a whole
    one.
    """
    folder = Path(request.output_folder)
    # One folder and one order: the evaluator would read ten shards as 1, 10, 2, …, and its bootstrap intervals depend
    # on the order of the rows. A run that is merged again comes out the same.
    ordered = sorted(rows, key=key_of)
    state = _state(plan, ordered, missing_shards)
    with _work_folder(folder) as work, quick_bootstrap():
        bundle = _merge_by_evaluator(work, ordered, _config(request, plan) | state)
        # It has counted the folders.
        bundle["config"]["n_shards"] = request.shards
        scores = bundle["benchmark"]["scores"]
        artifacts = _artifacts(ordered)
        scores["runtime"] = artifacts.runtime.to_dict()
        scores["failures"] = artifacts.failures.to_dict()
        if breakdowns := _breakdowns(ordered):
            scores["breakdowns"] = breakdowns
        name = f"{bundle['run_id']}.json"
        (work / name).write_text(json.dumps(bundle, indent=2, default=str), encoding="utf-8")

        prefix = "" if state["complete"] else PARTIAL
        path = folder / f"{prefix}{name}"
        (work / "results.jsonl").replace(folder / f"{prefix}results.jsonl")
        (work / name).replace(path)
    _put_away_earlier(folder, path, complete=state["complete"])
    headline = {key: value for key, value in scores.items() if isinstance(value, dict) and "value" in value}
    return Merged(path, state["complete"], headline, bundle["benchmark"].get("categories", {}))


def _state(plan: Plan, rows: Sequence[Row], missing_shards: Sequence[int]) -> dict[str, Any]:
    """What of the run is there; it stands in the bundle's `config`, where the evaluator has nothing of the kind."""
    outcomes = Counter(outcome_of(row) for row in rows)
    expected = len(plan.order) * plan.repeats
    weak = outcomes["endpoint_error"] + outcomes["judge_error"]
    return {
        "complete": len(rows) == expected and weak == 0,
        "answers_expected": expected,
        "answers": len(rows),
        "missing_shards": list(missing_shards),
        "endpoint_errors": outcomes["endpoint_error"],
        "judge_errors": outcomes["judge_error"],
        "truncated": outcomes["truncated"],
        "empty": outcomes["empty"],
    }


@contextmanager
def _work_folder(folder: Path) -> Iterator[Path]:
    """A folder that is empty now and gone afterwards; on the same disk, so that files move out of it at once."""
    work = folder / ".merge"
    shutil.rmtree(work, ignore_errors=True)
    # Somebody may have removed the output folder in the middle of the run. The answers are in memory.
    work.mkdir(parents=True)
    try:
        yield work
    finally:
        shutil.rmtree(work, ignore_errors=True)


def _merge_by_evaluator(work: Path, ordered: Sequence[Row], config: dict[str, Any]) -> dict[str, Any]:
    """Lets the evaluator merge the rows; its `results.jsonl` and bundle lie in `work` afterwards."""
    answers = work / "answers"
    answers.mkdir()
    with (answers / "results.jsonl").open("w", encoding="utf-8") as file:
        file.writelines(to_line(row) for row in ordered)
    (answers / "eval-config.json").write_text(json.dumps({"config": config}), encoding="utf-8")
    with no_group_intervals():
        return merge_results([answers], work, n_repeats=config["repeats"])


def _config(request: RunRequest, plan: Plan) -> dict[str, Any]:
    """How the run was made. The first keys are those that the evaluator writes, in its own words."""
    return {
        "benchmark": plan.benchmark.name,
        "model": request.model_id,
        "model_url": request.model_url,
        "repeats": request.repeats,
        "max_problems": request.max_problems,
        **asdict(request.generation),
        "shuffle_seed": request.shuffle_seed,
        "shuffle": {
            "seed": request.shuffle_seed,
            "applied": request.shuffle_seed is not None,
            "ds_full_size": plan.benchmark.size,
            "ds_effective_size": len(plan.order),
        },
        "benchmark_spec": plan.benchmark.spec,
        "benchmark_files": plan.fingerprint[SCORER_FILES],
        "dataset": plan.fingerprint["dataset"],
        "system_prompt": request.system_prompt,
        "system_prompt_hash": plan.fingerprint["system prompt"],
        "judge": request.judge and {"model": request.judge.model_id, "model_url": request.judge.url},
        "scored_again": request.task == "score_again",
        "git_commit": request.git_commit,
        "git_dirty": request.git_dirty,
        "evaluator_version": nemo_evaluator.__version__,
        "ray_version": version("ray"),
        "python_version": platform.python_version(),
        "n_shards": request.shards,
        "shard_ranges": plan.ranges,
        "requests_in_flight": request.requests_in_flight,
        "tags": list(request.tags),
        "suite_id": request.suite_id,
        "baseline_id": request.baseline_id,
    }


def _artifacts(rows: Sequence[Row]) -> RunArtifacts:
    """Run time and failures over all answers, by the evaluator's own collector: its merge would average percentiles."""
    collector = ArtifactCollector()
    for row in rows:
        ours = row[OURS]
        answered = outcome_of(row) != "endpoint_error"
        response = ModelResponse(
            content=row["model_response"],
            finish_reason=ours["finish_reason"],
            prompt_tokens=ours["prompt_tokens"],
            completion_tokens=ours["completion_tokens"],
            reasoning_tokens=ours["reasoning_tokens"],
            total_tokens=row["tokens"],
            latency_ms=row["latency_ms"],
        )
        collector.record(
            StepRecord(
                problem_idx=row["problem_idx"],
                repeat=row["repeat"],
                model_response=response if answered else None,
                model_ms=row["latency_ms"],
                retries=ours["attempts"] - 1,
                reward=row["reward"],
                extracted_answer=row["extracted_answer"],
                scoring_details=row["scoring_details"],
            )
        )
    return collector.build(_asking_seconds(rows))


def _asking_seconds(rows: Sequence[Row]) -> float:
    """For how long at least one answer was waited for: a run that was taken up again has pauses that do not count."""
    spans = sorted((row[OURS]["at"] - row["latency_ms"] / 1000, row[OURS]["at"]) for row in rows)
    seconds, until = 0.0, float("-inf")
    for begin, end in spans:
        seconds += max(0.0, end - max(begin, until))
        until = max(until, end)
    return seconds


def _breakdowns(rows: list[Row]) -> dict[str, Any]:
    """As the evaluator's own loop writes them; its merge leaves them out."""
    return {
        field: [
            {
                "group": group.category,
                "n": group.n_samples,
                "mean_reward": round(group.mean_reward, 4),
                "ci_lower": round(group.ci.ci_lower, 4),
                "ci_upper": round(group.ci.ci_upper, 4),
            }
            for group in groups
        ]
        for field, groups in scoring_details_breakdown(rows).items()
    }


def _put_away_earlier(folder: Path, newest: Path, *, complete: bool) -> None:
    """
    A run that was taken up again has one result, not one for each time it ended.

    What was complete and has been extended since is kept under a name that nobody takes for the whole run; its answers
    are in the logs, and among the rows of what it has become.
    """
    for path in folder.glob(f"{PARTIAL}eval-*.json"):
        if path != newest:
            path.unlink()
    for path in folder.glob("eval-*.json"):
        if path != newest:
            path.unlink() if complete else path.rename(folder / f"{EARLIER}{path.name}")
    (folder / f"{PARTIAL if complete else ''}results.jsonl").unlink(missing_ok=True)

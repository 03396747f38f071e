"""Merges the answers of the shards with the evaluator's own code into the files that it would write for one run."""

import json
import shutil
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any

from nemo_evaluator.engine.sharding import merge_results
from nemo_evaluator.observability.collector import ArtifactCollector
from nemo_evaluator.observability.types import ModelResponse, RunArtifacts, StepRecord

from .plan import Plan
from .request import RunRequest
from .rows import OURS, Row, key_of, outcome_of, to_line
from .shard import TEMPERATURE


@dataclass(frozen=True)
class Merged:
    """What the run page shows of a merged run."""

    path: Path
    scores: dict[str, Any]
    """`pass@1`, `pass@N` or `mean_reward`, each with its intervals."""
    categories: dict[str, Any]


def prepare_merge(repeats: int) -> None:
    """Imports what the merge will need, while the shards are still asking."""
    if repeats > 1:
        # The evaluator imports it at the first interval over repeats; two seconds on a cold machine.
        import_module("scipy.stats")


def merge(
    request: RunRequest, plan: Plan, rows: Sequence[Row], missing_shards: Sequence[int], seconds: float
) -> Merged:
    """
    Writes `results.jsonl` and `eval-*.json` into the output folder, each at once or not at all.

    When shards are missing the names begin with `partial-`, so that no reader takes half a run for a whole one.

    :param seconds: how long the shards were asking.
    """
    folder = Path(request.output_folder)
    # One folder and one order: the evaluator would read ten shards as 1, 10, 2, …, and its bootstrap intervals depend
    # on the order of the rows. A run that is merged again comes out the same.
    ordered = sorted(rows, key=key_of)
    with _work_folder(folder) as work:
        bundle = _merge_by_evaluator(work, ordered, _config(request, plan, missing_shards))
        # It has counted the folders.
        bundle["config"]["n_shards"] = request.shards
        scores = bundle["benchmark"]["scores"]
        artifacts = _artifacts(ordered, seconds)
        scores["runtime"] = artifacts.runtime.to_dict()
        scores["failures"] = artifacts.failures.to_dict()
        name = f"{bundle['run_id']}.json"
        (work / name).write_text(json.dumps(bundle, indent=2, default=str), encoding="utf-8")

        prefix = "partial-" if missing_shards else ""
        path = folder / f"{prefix}{name}"
        (work / "results.jsonl").replace(folder / f"{prefix}results.jsonl")
        (work / name).replace(path)
    _remove_earlier(folder, path, complete=not missing_shards)
    headline = {key: value for key, value in scores.items() if isinstance(value, dict) and "value" in value}
    return Merged(path, headline, bundle["benchmark"].get("categories", {}))


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
    return merge_results([answers], work, n_repeats=config["repeats"])


def _config(request: RunRequest, plan: Plan, missing_shards: Sequence[int]) -> dict[str, Any]:
    """How the run was made. The first keys are those that the evaluator writes, in its own words."""
    return {
        "benchmark": plan.benchmark.name,
        "model": request.model_id,
        "model_url": request.model_url,
        "repeats": request.repeats,
        "max_problems": request.max_problems,
        "temperature": TEMPERATURE,
        "shuffle_seed": request.shuffle_seed,
        "shuffle": {
            "seed": request.shuffle_seed,
            "applied": request.shuffle_seed is not None,
            "ds_full_size": plan.benchmark.size,
            "ds_effective_size": len(plan.order),
        },
        "benchmark_spec": plan.benchmark.spec,
        "benchmark_files": plan.fingerprint["benchmark files"],
        "n_shards": request.shards,
        "shard_ranges": plan.ranges,
        "requests_in_flight": request.requests_in_flight,
        "missing_shards": list(missing_shards),
        "complete": not missing_shards,
    }


def _artifacts(rows: Sequence[Row], seconds: float) -> RunArtifacts:
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
    return collector.build(seconds)


def _remove_earlier(folder: Path, newest: Path, *, complete: bool) -> None:
    """A run that was taken up again has one result, not one for each time it ended."""
    earlier = list(folder.glob("partial-eval-*.json"))
    if complete:
        earlier += [*folder.glob("eval-*.json"), folder / "partial-results.jsonl"]
    for path in earlier:
        if path != newest:
            path.unlink(missing_ok=True)

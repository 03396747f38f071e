"""The merged bundle must be what the evaluator itself makes of the same answers."""

import asyncio
import hashlib
import json
import shutil
from collections.abc import Hashable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from nemo_evaluator.engine.eval_loop import run_evaluation
from nemo_evaluator.engine.model_client import ModelClient
from nemo_evaluator.metrics.headline import headline_score_metrics
from nemo_evaluator.solvers import ChatSolver

from shardboard_driver.benchmark import Benchmark
from shardboard_driver.merge import Merged, merge
from shardboard_driver.model import open_model
from shardboard_driver.patience import Patience
from shardboard_driver.plan import Plan, make_plan
from shardboard_driver.question import Asking, Question, ask
from shardboard_driver.request import RunRequest
from shardboard_driver.rows import OURS, Row

from .model_server import Reply, completion, serve
from .support import Sums, make_request, number_in

PROBLEMS, REPEATS, SHARDS = 40, 2, 3


def sometimes_right(prompt: str, times: int) -> Reply:
    """Right for some problems in some repeats; one answer is cut off, one is empty."""
    number = number_in(prompt)
    if number == 5:
        return completion("6", "length")
    if number == 6:
        return completion("")
    right = hashlib.sha256(f"{number} {times}".encode()).digest()[0] < 180
    return completion(str(number + 1 if right else number + 2))


async def ask_all(request: RunRequest, plan: Plan) -> list[Row]:
    """One answer after the other, so that the k-th request for a prompt is its k-th repeat."""
    rows: list[Row] = []
    environment, solver = Sums(PROBLEMS), open_model(request, None)
    asking = Asking(environment, solver, None, Patience(lambda: 1), attempts=3, timeout_s=60)
    for shard in range(SHARDS):
        for position, (problem, repeat) in plan.keys(shard):
            question = Question(position, problem, repeat, await environment.seed(problem))
            row = await ask(question, asking)
            row[OURS]["at"] = 1000.0 + len(rows)
            rows.append(row)
    await solver.close()
    return rows


class BothWays:
    """The same answers, once through our shards and once through the evaluator's own unsharded run."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        with serve(sometimes_right) as model:
            self.request = make_request(folder, model.url, repeats=REPEATS, shards=SHARDS)
            self.plan = make_plan(self.request, Benchmark("sums", "sums", PROBLEMS))
            self.rows = asyncio.run(ask_all(self.request, self.plan))
            model.asked.clear()
            self.unsharded: dict[str, Any] = asyncio.run(self._unsharded(model.url))
        self.merged = self.merge([])

    async def _unsharded(self, url: str) -> dict[str, Any]:
        client = ModelClient(url, "test", temperature=0.0)
        config = {"benchmark": "sums", "model": "test", "repeats": REPEATS}
        solver = ChatSolver(client)
        return await run_evaluation(Sums(PROBLEMS), solver, n_repeats=REPEATS, config=config, shuffle_seed=42)

    def merge(self, missing: list[int]) -> Merged:
        ranges = self.plan.ranges
        lost = {self.plan.order[i] for shard in missing for i in range(*ranges[shard])}
        rows = [row for row in self.rows if row["problem_idx"] not in lost]
        return merge(self.request, self.plan, rows, missing)

    def bundle(self) -> dict[str, Any]:
        bundle: dict[str, Any] = json.loads(self.merged.path.read_text())
        return bundle


@pytest.fixture(scope="module")
def both(tmp_path_factory: pytest.TempPathFactory) -> BothWays:
    return BothWays(tmp_path_factory.mktemp("merge"))


def test_scores_equal_those_of_the_unsharded_run(both: BothWays) -> None:
    ours, theirs = both.bundle()["benchmark"], both.unsharded["benchmark"]
    for metric in ("pass@1", "pass@2"):
        assert ours["scores"][metric]["value"] == theirs["scores"][metric]["value"]
    for bound in ("ci_lower", "ci_upper"):
        assert ours["scores"]["pass@1"][bound] == theirs["scores"]["pass@1"][bound]
    # The last digits depend on the order in which the evaluator's own run got its answers.
    assert ours["scores"]["summary"] == pytest.approx(theirs["scores"]["summary"], rel=1e-12)
    assert ours["categories"] == theirs["categories"]
    assert (ours["name"], ours["samples"], ours["repeats"]) == (theirs["name"], theirs["samples"], theirs["repeats"])
    assert 0.5 < ours["scores"]["pass@1"]["value"] < ours["scores"]["pass@2"]["value"] < 1


def test_bootstrap_intervals_are_the_evaluators_on_sorted_rows(both: BothWays) -> None:
    rewards: dict[Hashable, list[float]] = {}
    # The evaluator's own rows come in the order of completion, which moves these intervals from run to run.
    for row in sorted(both.unsharded["_results"], key=lambda row: (row["problem_idx"], row["repeat"])):
        rewards.setdefault(row["problem_idx"], []).append(row["reward"])
    expected = headline_score_metrics(rewards, REPEATS)
    assert {name: both.bundle()["benchmark"]["scores"][name] for name in expected} == expected


def test_rows_have_the_evaluators_keys_and_values(both: BothWays) -> None:
    theirs = {(row["problem_idx"], row["prompt"]): row for row in both.unsharded["_results"]}
    for line in (both.folder / "results.jsonl").read_text().splitlines():
        ours = json.loads(line)
        other = theirs[ours["problem_idx"], ours["prompt"]]
        assert [key for key in ours if key != "shardboard"] == list(other)
        for key in ("prompt", "expected_answer", "metadata", "scorer_rewards", "tokens"):
            assert ours[key] == other[key]
        assert list(ours["trajectory"][0]) == list(other["trajectory"][0])
        assert ours["scoring_details"].keys() == other["scoring_details"].keys()


def test_run_time_and_failures_are_counted_over_all_answers(both: BothWays) -> None:
    ours, theirs = both.bundle()["benchmark"]["scores"], both.unsharded["benchmark"]["scores"]
    assert ours["runtime"].keys() == theirs["runtime"].keys()
    for name in (
        "total_steps",
        "total_tokens",
        "total_prompt_tokens",
        "total_completion_tokens",
        "finish_reason_counts",
    ):
        assert ours["runtime"][name] == theirs["runtime"][name]
    # Each answer was waited for alone, and the pauses between them do not count.
    latencies = sum(row["latency_ms"] for row in both.rows) / 1000
    assert ours["runtime"]["elapsed_seconds"] == pytest.approx(latencies, abs=0.01)
    assert ours["failures"]["total_failures"] == theirs["failures"]["total_failures"] == REPEATS
    assert ours["failures"]["categories"].keys() == theirs["failures"]["categories"].keys()


def test_breakdowns_equal_the_evaluators(both: BothWays) -> None:
    ours, theirs = both.bundle()["benchmark"]["scores"], both.unsharded["benchmark"]["scores"]
    assert set(ours["breakdowns"]) == {"correct"}
    for mine, other in zip(ours["breakdowns"]["correct"], theirs["breakdowns"]["correct"], strict=True):
        assert mine == other


def test_config_says_how_the_run_was_made(both: BothWays) -> None:
    ours, theirs = both.bundle()["config"], both.unsharded["config"]
    for name in ("benchmark", "model", "repeats", "shuffle_seed", "shuffle"):
        assert ours[name] == theirs[name]
    assert ours["n_shards"] == SHARDS
    assert ours["shard_ranges"] == [[0, 14], [14, 27], [27, 40]]
    assert (ours["temperature"], ours["complete"], ours["missing_shards"]) == (0.0, True, [])


def test_merging_again_gives_the_same_bundle(both: BothWays) -> None:
    before, rows = both.bundle(), (both.folder / "results.jsonl").read_bytes()
    both.merged = both.merge([])
    after = both.bundle()
    for bundle in (before, after):
        del bundle["run_id"], bundle["timestamp"]
    assert after == before
    assert (both.folder / "results.jsonl").read_bytes() == rows
    assert len(list(both.folder.glob("eval-*.json"))) == 1


def test_a_folder_that_is_gone_is_made_again(both: BothWays) -> None:
    rows = (both.folder / "results.jsonl").read_bytes()
    shutil.rmtree(both.folder)
    both.merged = both.merge([])
    assert (both.folder / "results.jsonl").read_bytes() == rows
    assert {path.name for path in both.folder.iterdir()} == {both.merged.path.name, "results.jsonl"}


def names_in(folder: Path) -> set[str]:
    return {path.name for path in folder.iterdir() if path.is_file()}


def test_half_a_run_is_not_named_like_a_whole_one(both: BothWays) -> None:
    for path in [*both.folder.glob("eval-*.json"), both.folder / "results.jsonl"]:
        path.unlink()
    partial = both.merge([1])
    assert partial.path.name.startswith("partial-eval-")
    assert names_in(both.folder) == {partial.path.name, "partial-results.jsonl"}
    bundle = json.loads(partial.path.read_text())
    config = bundle["config"]
    assert (config["missing_shards"], config["complete"], partial.complete) == ([1], False, False)
    assert (config["answers"], config["answers_expected"]) == ((PROBLEMS - 13) * REPEATS, PROBLEMS * REPEATS)
    assert bundle["benchmark"]["samples"] == PROBLEMS - 13
    # And the whole run takes its place.
    both.merged = both.merge([])
    assert names_in(both.folder) == {both.merged.path.name, "results.jsonl"}


def test_a_run_with_failed_answers_is_not_named_like_a_whole_one(both: BothWays, tmp_path: Path) -> None:
    failed = both.rows[0] | {OURS: both.rows[0][OURS] | {"outcome": "endpoint_error"}}
    request = replace(both.request, output_folder=str(tmp_path))
    merged = merge(request, both.plan, [failed, *both.rows[1:]], [])
    assert (merged.complete, merged.path.name.startswith("partial-eval-")) == (False, True)
    assert json.loads(merged.path.read_text())["config"]["endpoint_errors"] == 1


def test_what_was_whole_before_the_run_grew_is_not_taken_for_it(both: BothWays, tmp_path: Path) -> None:
    pilot = make_request(tmp_path, both.request.model_url, repeats=REPEATS, shards=SHARDS, max_problems=10)
    plan = make_plan(pilot, Benchmark("sums", "sums", PROBLEMS))
    rows = [row for row in both.rows if row["problem_idx"] in plan.order]
    first = merge(pilot, plan, rows, [])
    assert names_in(tmp_path) == {first.path.name, "results.jsonl"}
    grown = replace(pilot, max_problems=None)
    partial = merge(grown, both.plan, rows, [0, 1, 2])
    assert names_in(tmp_path) == {f"earlier-{first.path.name}", partial.path.name, "partial-results.jsonl"}
    whole = merge(grown, both.plan, both.rows, [])
    assert names_in(tmp_path) == {f"earlier-{first.path.name}", whole.path.name, "results.jsonl"}

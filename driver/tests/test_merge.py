"""The merged bundle must be what the evaluator itself makes of the same answers."""

import asyncio
import hashlib
import json
import shutil
from collections.abc import Hashable
from pathlib import Path
from typing import Any

import pytest
from nemo_evaluator.engine.eval_loop import run_evaluation
from nemo_evaluator.engine.model_client import ModelClient
from nemo_evaluator.metrics.headline import headline_score_metrics
from nemo_evaluator.solvers import ChatSolver

from shardboard_driver.answers import AnswerLog, shard_folder
from shardboard_driver.benchmark import Benchmark
from shardboard_driver.merge import Merged, merge
from shardboard_driver.plan import Plan, make_plan
from shardboard_driver.request import RunRequest
from shardboard_driver.rows import Row
from shardboard_driver.shard import answer_all

from .model_server import Reply, completion, serve
from .support import Sums, make_request, make_work, number_in

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


async def ask_in_shards(request: RunRequest, plan: Plan) -> list[Row]:
    rows: list[Row] = []
    for shard, (start, end) in enumerate(plan.ranges):
        work = make_work(request, plan.order[start:end], index=shard, first_position=start)
        solver = ChatSolver(ModelClient(request.model_url, "test", temperature=0.0))
        with AnswerLog(shard_folder(Path(request.output_folder), shard), plan.fingerprint) as log:
            await answer_all(work, Sums(PROBLEMS), solver, log)
            rows += log.rows.values()
        await solver.close()
    return rows


class BothWays:
    """The same answers, once through our shards and once through the evaluator's own unsharded run."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        with serve(sometimes_right) as model:
            self.request = make_request(folder, model.url, repeats=REPEATS, shards=SHARDS)
            self.plan = make_plan(self.request, Benchmark("sums", "sums", PROBLEMS))
            self.rows = asyncio.run(ask_in_shards(self.request, self.plan))
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
        return merge(self.request, self.plan, rows, missing, 2.5)

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
    assert ours["runtime"]["elapsed_seconds"] == 2.5
    assert ours["failures"]["total_failures"] == theirs["failures"]["total_failures"] == REPEATS
    assert ours["failures"]["categories"].keys() == theirs["failures"]["categories"].keys()


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


def test_half_a_run_is_not_named_like_a_whole_one(both: BothWays) -> None:
    for path in [*both.folder.glob("eval-*.json"), both.folder / "results.jsonl"]:
        path.unlink()
    partial = both.merge([1])
    assert partial.path.name.startswith("partial-eval-")
    names = {path.name for path in both.folder.iterdir() if path.is_file()}
    assert names == {partial.path.name, "partial-results.jsonl"}
    bundle = json.loads(partial.path.read_text())
    assert bundle["config"]["missing_shards"] == [1]
    assert bundle["config"]["complete"] is False
    assert bundle["benchmark"]["samples"] == PROBLEMS - 13
    # And the whole run takes its place.
    both.merged = both.merge([])
    names = {path.name for path in both.folder.iterdir() if path.is_file()}
    assert names == {both.merged.path.name, "results.jsonl"}

"""A benchmark that a server gives and scores, asked in shards: `gym://host:port`."""

import asyncio
import json
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from nemo_evaluator.engine.eval_loop import run_evaluation
from nemo_evaluator.environments.registry import get_environment

from shardboard_driver.answers import Edition
from shardboard_driver.asker import ShardWork
from shardboard_driver.benchmark import open_benchmark
from shardboard_driver.failure import RunFailure
from shardboard_driver.key import Keys
from shardboard_driver.merge import merge
from shardboard_driver.model import open_model
from shardboard_driver.plan import make_plan
from shardboard_driver.pool import Pool
from shardboard_driver.rows import Row

from .model_server import Reply, completion, serve
from .support import make_request, make_setup

SUMS = """
from nemo_evaluator.environments.custom import benchmark, scorer
from nemo_evaluator.scoring import ScorerInput, answer_line


@benchmark(
    name="sums",
    dataset=lambda: [{"question": f"What is {n} + 1?", "answer": str(n + 1)} for n in range(10)],
    target_field="answer",
    prompt="{question}",
)
@scorer
def score(sample: ScorerInput) -> dict[str, object]:
    return answer_line(sample, pattern=r"The answer is\\s*([^\\n]+)")
"""


@contextmanager
def gym_server(folder: Path) -> Iterator[str]:
    """The evaluator's own server of a benchmark, as NeMo Gym's are asked; gives its `gym://` address."""
    (folder / "sums.py").write_text(SUMS)
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    nel = str(Path(sys.executable).with_name("nel"))
    command = [nel, "serve", "-b", f"{folder / 'sums.py'}:sums", "--host", "127.0.0.1", "--port", str(port)]
    with subprocess.Popen(command, cwd=folder, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE) as server:
        try:
            while True:
                assert server.poll() is None, server.stderr and server.stderr.read().decode()
                try:
                    urllib.request.urlopen(f"http://127.0.0.1:{port}/dataset_size").close()
                    break
                except urllib.error.URLError:
                    time.sleep(0.1)
            yield f"gym://127.0.0.1:{port}"
        finally:
            server.kill()


def sometimes_right(prompt: str, _times: int) -> Reply:
    number = int(prompt.split()[2])
    return completion(f"The answer is {number + 1 if number % 3 else number}")


def test_a_server_is_asked_in_shards_with_the_score_of_an_unsharded_run(tmp_path: Path) -> None:
    with gym_server(tmp_path) as spec, serve(sometimes_right) as model:
        request = make_request(tmp_path / "out", model.url, benchmark=spec, shards=2)
        plan = make_plan(request, open_benchmark(spec))
        assert plan.ranges == [(0, 5), (5, 10)]

        async def ask(shard: int) -> list[Row]:
            setup = make_setup(request, benchmark=plan.benchmark.spec, log=f"log-{shard}", edition=Edition({}))
            pool = Pool(setup, Keys(), tmp_path / "out")
            await pool.open()
            pool.limit(2)
            asked = pool.add(ShardWork(shard, list(plan.keys(shard))))
            rows: list[Row] = []
            while not asked.is_told:
                batch = await pool.next_batch(asked)
                assert batch.stop is None
                rows += [json.loads(line) for _, line in batch.answers]
            await pool.close()
            return rows

        async def unsharded() -> dict[str, Any]:
            solver = open_model(request, None)
            config = {"benchmark": "sums", "model": "test", "repeats": 1}
            return await run_evaluation(get_environment(spec), solver, n_repeats=1, config=config, shuffle_seed=42)

        rows = [row for shard in range(2) for row in asyncio.run(ask(shard))]
        merged = merge(request, plan, rows, [])
        whole = asyncio.run(unsharded())
    assert merged.complete
    assert merged.scores["pass@1"]["value"] == whole["benchmark"]["scores"]["pass@1"]["value"] == 0.6


def test_a_server_that_is_not_there_is_said(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    with pytest.raises(RunFailure, match="Start the server") as caught:
        open_benchmark(f"gym://127.0.0.1:{port}")
    assert caught.value.reason == "benchmark"

"""Loads a benchmark with the evaluator's own registry, and says clearly when this path cannot run it."""

import asyncio
import hashlib
import json
from dataclasses import dataclass

from nemo_evaluator.environments.base import EvalEnvironment, SeedResult
from nemo_evaluator.environments.registry import get_environment

from .failure import RunFailure, last_line


@dataclass(frozen=True)
class Benchmark:
    """A benchmark that can be run."""

    spec: str
    """What to load it by, in every process."""
    name: str
    size: int
    """Problems in the dataset."""
    dataset: str | None = None
    """A hash of the dataset's contents, where they can be seen."""


def open_benchmark(spec: str) -> Benchmark:
    """
    Loads it once, to know its size and that it can be run.

    :raises RunFailure: reason `benchmark`.
    """
    environment = load_environment(spec)
    try:
        size, first = asyncio.run(_look_inside(environment))
    except Exception as error:
        raise RunFailure("benchmark", f"The benchmark {spec} could not be prepared: {last_line(error)}.") from error
    name = environment.name
    if size < 0:
        # What the evaluator makes of a server that does not answer.
        raise RunFailure(
            "benchmark",
            f"The server of the benchmark {spec} does not say how many problems it has. No question was asked. "
            "Start the server, or correct its address.",
        )
    if first is None:
        raise RunFailure("benchmark", f"The benchmark {name} has no problems. Check its dataset.")
    if type(environment).run_batch is not EvalEnvironment.run_batch or first.sandbox_spec or first.verify_sandbox_spec:
        raise RunFailure("benchmark", f"The benchmark {name} needs containers, which a sharded run does not have.")
    if first.images:
        raise RunFailure("benchmark", f"The benchmark {name} asks about pictures; a sharded run can only ask in text.")
    # Without the name after the file the evaluator finds "no new benchmarks" in a worker that has loaded the file.
    return Benchmark(f"{spec}:{name}" if spec.endswith(".py") else spec, name, size, _hash_of_dataset(environment))


def _hash_of_dataset(environment: EvalEnvironment) -> str | None:
    # A server keeps its problems to itself, and what a file makes up at each load is no dataset.
    rows = environment.dataset
    if not rows:
        return None
    digest = hashlib.sha256()
    for row in rows:
        digest.update(json.dumps(row, sort_keys=True, default=lambda value: type(value).__name__).encode())
    return digest.hexdigest()[:16]


def load_environment(spec: str) -> EvalEnvironment:
    """
    The evaluator's environment of a benchmark.

    :raises RunFailure: reason `benchmark`, with one line of what the evaluator or the benchmark's file says.
    """
    try:
        return get_environment(spec)
    # A file may do anything while it is imported; SystemExit is not rare in scripts.
    except (Exception, SystemExit) as error:
        # str() of a KeyError quotes its message once more.
        said = str(error.args[0]) if isinstance(error, KeyError) and error.args else last_line(error)
        raise RunFailure("benchmark", f"The benchmark {spec} could not be loaded: {said}") from error


async def _look_inside(environment: EvalEnvironment) -> tuple[int, SeedResult | None]:
    size = await environment.dataset_size()
    await environment.prepare()
    try:
        return size, await environment.seed(0) if size > 0 else None
    finally:
        await environment.close()

"""Which problem is asked in which shard: the evaluator's own order and its own ranges."""

import hashlib
import random
from dataclasses import dataclass
from pathlib import Path

from nemo_evaluator.engine.sharding import get_shard_range

from .answers import Fingerprint
from .benchmark import Benchmark
from .failure import RunFailure
from .request import RunRequest

OWN_BENCHMARK_FOLDER = "benchmark"
"""Where the package has the user's benchmark, relative to the working directory."""


@dataclass(frozen=True)
class Plan:
    """A run, laid out."""

    benchmark: Benchmark
    order: list[int]
    """Problem indices of the dataset in the order of the run; a place in it is a position."""
    ranges: list[tuple[int, int]]
    """Positions of each shard: from, inclusive, to, exclusive."""
    fingerprint: Fingerprint


def make_plan(request: RunRequest, benchmark: Benchmark) -> Plan:
    """
    :raises RunFailure: reason `request`, when there are more shards than problems.
    """
    order = problem_order(benchmark.size, request.shuffle_seed, request.max_problems)
    if request.shards > len(order):
        count = f"{len(order):,} problem" + ("s" if len(order) > 1 else "")
        raise RunFailure(
            "request",
            f"{benchmark.name} has {count} to ask, fewer than the {request.shards:,} shards. No question was asked. "
            f"Choose at most {len(order):,} shards and try again.",
        )
    ranges = [get_shard_range(len(order), shard, request.shards) for shard in range(request.shards)]
    fingerprint: Fingerprint = {
        "benchmark": request.benchmark,
        "benchmark files": _hash_of_files(Path(OWN_BENCHMARK_FOLDER)),
        "number of problems": benchmark.size,
        "at most": request.max_problems,
        "shards": request.shards,
        "repeats": request.repeats,
        "shuffle seed": request.shuffle_seed,
        "endpoint": request.model_url,
        "model": request.model_id,
    }
    return Plan(benchmark, order, ranges, fingerprint)


def problem_order(size: int, seed: int | None, max_problems: int | None) -> list[int]:
    """As `run_evaluation` does it: a seeded permutation of the whole dataset, and then its first so many."""
    order = list(range(size))
    if seed is not None:
        random.Random(seed).shuffle(order)
    return order[:max_problems]


def _hash_of_files(folder: Path) -> str | None:
    if not folder.is_dir():
        return None
    digest = hashlib.sha256()
    for path in sorted(folder.rglob("*")):
        # Ray's workers write bytecode beside the files.
        if path.is_file() and "__pycache__" not in path.parts:
            digest.update(f"{path.relative_to(folder).as_posix()}\0{path.stat().st_size}\0".encode())
            digest.update(path.read_bytes())
    return digest.hexdigest()[:16]

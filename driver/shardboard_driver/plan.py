"""Which problem is asked in which shard: the evaluator's own order and its own ranges."""

import hashlib
import json
import random
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path

from nemo_evaluator.engine.sharding import get_shard_range

from .answers import JUDGE, Fingerprint
from .benchmark import Benchmark
from .failure import RunFailure
from .request import RunRequest
from .rows import AnswerKey

OWN_BENCHMARK_FOLDER = "benchmark"
"""Where the package has the user's benchmark, relative to the working directory."""

SCORER_FILES = "benchmark files"

MAY_CHANGE_SCORES = frozenset([SCORER_FILES, JUDGE])
"""What of a fingerprint may be other when answers are scored again."""


@dataclass(frozen=True)
class Plan:
    """A run, laid out."""

    benchmark: Benchmark
    order: list[int]
    """Problem indices of the dataset in the order of the run; a place in it is a position."""
    repeats: int
    ranges: list[tuple[int, int]]
    """Positions of each shard: from, inclusive, to, exclusive."""
    fingerprint: Fingerprint
    """
    What answers must have in common. Shards, repeats and the number of problems are not in it: the first so many
    problems of the order are the same whatever comes after them, so a pilot grows into the whole.
    """

    def keys(self, shard: int) -> Iterator[tuple[int, AnswerKey]]:
        """Position and key of each answer of a shard: problem by problem, all repeats of one after another."""
        for position in range(*self.ranges[shard]):
            for repeat in range(self.repeats):
                yield position, (self.order[position], repeat)


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
    judge = f"{request.judge.model_id} at {request.judge.url}" if request.judge else None
    fingerprint: Fingerprint = {
        "benchmark": request.benchmark,
        SCORER_FILES: hash_of_files(Path(OWN_BENCHMARK_FOLDER)),
        "number of problems": benchmark.size,
        "dataset": benchmark.dataset,
        "shuffle seed": request.shuffle_seed,
        "model": request.model_id,
        "system prompt": hash_of_text(request.system_prompt),
        "generation settings": json.dumps(asdict(request.generation), sort_keys=True),
        JUDGE: judge,
    }
    return Plan(benchmark, order, request.repeats, ranges, fingerprint)


def problem_order(size: int, seed: int | None, max_problems: int | None) -> list[int]:
    """As `run_evaluation` does it: a seeded permutation of the whole dataset, and then its first so many."""
    order = list(range(size))
    if seed is not None:
        random.Random(seed).shuffle(order)
    return order[:max_problems]


def hash_of_text(text: str | None) -> str | None:
    """Enough to tell two texts apart; None for none."""
    return None if text is None else hashlib.sha256(text.encode()).hexdigest()[:16]


def hash_of_files(folder: Path) -> str | None:
    """Of the names and contents of all files below a folder; None when there is no such folder."""
    if not folder.is_dir():
        return None
    digest = hashlib.sha256()
    for path in sorted(folder.rglob("*")):
        # Ray's workers write bytecode beside the files.
        if path.is_file() and "__pycache__" not in path.parts:
            digest.update(f"{path.relative_to(folder).as_posix()}\0{path.stat().st_size}\0".encode())
            digest.update(path.read_bytes())
    return digest.hexdigest()[:16]

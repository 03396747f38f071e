"""
What the evaluator's own benchmarks need beside a chat model, known before one is loaded and before anything is asked.

The extension has the names once more, in `benchmarkChoices.ts`; a test holds the two together, and both to the
evaluator.
"""

from .failure import RunFailure
from .request import RunRequest

CHAT = frozenset({"drop", "gpqa", "gsm8k", "math500", "mgsm", "mmlu", "mmlu_pro", "triviaqa", "xstest"})
"""Benchmarks that need nothing else."""

JUDGED = frozenset({"healthbench", "simpleqa"})
"""Benchmarks whose score another model gives. Without one the evaluator scores every answer 0."""

_CONTAINERS = "needs containers, which a sharded run does not have"
_AGENT = "needs an agent and containers, which a sharded run does not have"

UNABLE = {
    "humaneval": _CONTAINERS,
    "nmp_harbor": _AGENT,
    "pinchbench": _AGENT,
    "terminal-bench-hard": _AGENT,
    "terminal-bench-hard-aa-split": _AGENT,
    "terminal-bench-v1": _AGENT,
}
"""Benchmarks that a sharded run cannot run, with the reason."""

UNABLE_SCHEMES = {
    "container": _CONTAINERS,
    "harbor": _AGENT,
    "vlmevalkit": "asks about pictures; a sharded run can only ask in text",
}
"""The same of addresses such as `harbor://…`."""


def refuse_what_is_lacking(request: RunRequest) -> None:
    """
    :raises RunFailure: reason `benchmark`, when the benchmark needs what this run does not have.
    """
    name = request.benchmark
    scheme = name.split("://")[0] if "://" in name else ""
    why = UNABLE.get(name) or UNABLE_SCHEMES.get(scheme)
    if why:
        raise RunFailure(
            "benchmark",
            f"The benchmark {name} {why}. No question was asked. "
            "Run it with the evaluator's own command: nel eval run.",
        )
    if name in JUDGED and request.judge is None:
        raise RunFailure(
            "benchmark",
            f"The benchmark {name} leaves the score to a judge model, and none is chosen. No question was asked. "
            "Choose a judge and try again.",
        )

"""
The evaluator's bootstrap interval, to the last digit and in a fraction of the time.

The evaluator draws each of its 10,000 samples in a Python loop, once for every category and every group of answers.
Drawn from the same generator in blocks, the samples are the same ones.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from unittest.mock import patch

import numpy as np
from nemo_evaluator.metrics.confidence import ConfidenceInterval

BLOCK = 32_768
"""Draws at a time: what fits into a processor's cache."""


def bootstrap_ci(
    scores: list[float], confidence: float = 0.95, n_bootstrap: int = 10_000, seed: int | None = 42
) -> ConfidenceInterval:
    """As `nemo_evaluator.metrics.confidence.bootstrap_ci`."""
    values = np.array(scores, dtype=np.float64)
    mean = float(values.mean())
    size = len(values)
    if size < 2:
        return ConfidenceInterval(mean=mean, ci_lower=mean, ci_upper=mean, confidence=confidence, method="bootstrap")
    if values.min() == values.max() and mean in (0.0, 1.0):
        # As the answers of a group that are all wrong, or all right: every sample has the same mean.
        return ConfidenceInterval(mean=mean, ci_lower=mean, ci_upper=mean, confidence=confidence, method="bootstrap")
    generator = np.random.default_rng(seed)
    means = np.empty(n_bootstrap)
    step = max(1, BLOCK // size)
    for begin in range(0, n_bootstrap, step):
        block = means[begin : begin + step]
        np.take(values, generator.integers(0, size, size=(len(block), size))).mean(axis=1, out=block)
    alpha = 1.0 - confidence
    lower, upper = (float(np.percentile(means, 100 * share)) for share in (alpha / 2, 1 - alpha / 2))
    return ConfidenceInterval(mean=mean, ci_lower=lower, ci_upper=upper, confidence=confidence, method="bootstrap")


@contextmanager
def quick_bootstrap() -> Iterator[None]:
    """Lets the evaluator's own functions use it, for the score and for groups of answers."""
    with (
        patch("nemo_evaluator.metrics.headline.bootstrap_ci", bootstrap_ci),
        patch("nemo_evaluator.metrics.aggregation.bootstrap_ci", bootstrap_ci),
    ):
        yield


@contextmanager
def no_group_intervals() -> Iterator[None]:
    """For where the evaluator computes the intervals of all groups of answers, and keeps their means alone."""
    with patch("nemo_evaluator.metrics.aggregation.bootstrap_ci", partial(bootstrap_ci, n_bootstrap=1)):
        yield

"""The intervals must be the evaluator's own, whatever the number of scores."""

import numpy as np
import pytest
from nemo_evaluator.metrics import aggregation, confidence, headline

from shardboard_driver.bootstrap import BLOCK, bootstrap_ci, quick_bootstrap


@pytest.mark.parametrize("size", [1, 2, 3, 5, 37, 165, 1319, BLOCK + 1])
@pytest.mark.parametrize("binary", [True, False])
def test_equals_the_evaluators(size: int, binary: bool) -> None:
    drawn = np.random.default_rng(size).random(size)
    scores = [float(value < 0.7) if binary else float(value) for value in drawn]
    # Fewer samples for the large one: the evaluator's takes its time.
    samples = 10_000 if size <= 1319 else 50
    assert bootstrap_ci(scores, n_bootstrap=samples) == confidence.bootstrap_ci(scores, n_bootstrap=samples)


@pytest.mark.parametrize("value", [0.0, 1.0, 0.3])
def test_answers_that_are_all_alike(value: float) -> None:
    assert bootstrap_ci([value] * 7) == confidence.bootstrap_ci([value] * 7)


def test_takes_the_place_of_the_evaluators_for_a_while() -> None:
    modules = [headline, aggregation]
    with quick_bootstrap():
        assert all(vars(module)["bootstrap_ci"] is bootstrap_ci for module in modules)
    assert all(vars(module)["bootstrap_ci"] is confidence.bootstrap_ci for module in modules)

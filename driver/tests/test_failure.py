import pickle

import pytest

from shardboard_driver.failure import RunFailure, last_line


def test_travels_from_a_worker_to_the_driver() -> None:
    failure = pickle.loads(pickle.dumps(RunFailure("disk", "The disk is full.")))
    assert (failure.reason, failure.message, str(failure)) == ("disk", "The disk is full.", "The disk is full.")


@pytest.mark.parametrize(
    ("error", "said"),
    [
        (ValueError("first\n  second\n"), "ValueError: second"),
        (ValueError(), "ValueError"),
    ],
)
def test_an_error_in_one_line(error: Exception, said: str) -> None:
    assert last_line(error) == said

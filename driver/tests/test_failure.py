import errno
import os
import pickle

import pytest

from shardboard_driver.failure import RunFailure, disk_trouble, last_line


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


@pytest.mark.parametrize(
    ("number", "next_step"),
    [
        (errno.ENOSPC, "Make room"),
        (errno.EDQUOT, "Make room"),
        (errno.EACCES, "Check the folder"),
        (errno.ENOENT, "Check the folder"),
    ],
)
def test_only_a_full_disk_needs_room(number: int, next_step: str) -> None:
    said = disk_trouble("Nothing can be written", OSError(number, os.strerror(number)))
    assert said == f"Nothing can be written: {os.strerror(number)}. {next_step} and run again."

"""How the requests in flight are shared among processes."""

import random

import pytest

from shardboard_driver.slots import Demand, share_slots


def fresh(left: int) -> Demand:
    return Demand(limit=0, ceiling=0, in_flight=0, left=left)


def busy(in_flight: int, left: int) -> Demand:
    return Demand(limit=in_flight, ceiling=in_flight, in_flight=in_flight, left=left)


@pytest.mark.parametrize(
    ("total", "demands", "limits"),
    [
        (64, [fresh(100), fresh(100)], [32, 32]),
        (65, [fresh(100), fresh(100)], [33, 32]),
        # What a process no longer needs goes to the other.
        (64, [busy(32, 100), Demand(limit=32, ceiling=32, in_flight=5, left=0)], [59, 32]),
        # A third one waits until the first two have given up what it is to get.
        (60, [busy(30, 100), busy(30, 100), fresh(100)], [20, 20, 0]),
        (60, [Demand(20, 20, 20, 9), Demand(20, 25, 25, 9), fresh(100)], [20, 20, 15]),
        (1, [fresh(100)], [1]),
        (64, [], []),
    ],
)
def test_shares(total: int, demands: list[Demand], limits: list[int]) -> None:
    assert share_slots(total, demands) == limits


@pytest.mark.parametrize("seed", range(20))
def test_never_more_in_flight_than_the_total(seed: int) -> None:
    draw = random.Random(seed)
    total = draw.randint(1, 100)
    processes = draw.randint(1, min(6, total))
    limits, in_flight, left = [0] * processes, [0] * processes, [draw.randint(0, 400) for _ in range(processes)]
    ceilings = limits.copy()
    # All that there is to ask, where that is less than what may be in flight.
    most, reached = max(1, sum(left)), 0
    while any(left) or any(in_flight):
        demands = [Demand(*each) for each in zip(limits, ceilings, in_flight, left, strict=True)]
        limits = share_slots(total, demands)
        for index in range(processes):
            ceilings[index] = max(ceilings[index], limits[index])
            # Some answers come, and as many questions go out as there is room for.
            in_flight[index] -= draw.randint(0, in_flight[index])
            out = min(left[index], max(0, limits[index] - in_flight[index]))
            left[index] -= out
            in_flight[index] += out
            ceilings[index] = max(in_flight[index], limits[index])
        assert sum(in_flight) <= total
        reached = max(reached, sum(in_flight))
    assert reached > 0 or most == 1

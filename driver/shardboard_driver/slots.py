"""Shares the requests that may be in flight among the processes, as their questions run out."""

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Demand:
    """What is known of a process."""

    limit: int
    """What it was last told that it may have in flight."""
    ceiling: int
    """What it may have in flight at most: a lower limit takes a moment until it holds."""
    in_flight: int
    """What it last told that it has in flight."""
    left: int
    """Questions that it has not handed out. Without any, what it has in flight only becomes less."""


def share_slots(total: int, demands: Sequence[Demand]) -> list[int]:
    """
    New limits: what those have that have nothing left to ask goes to the others, in equal parts.

    What is in flight is never more than the total, also while limits are on their way: what one gets must have come
    free elsewhere first. Nothing is kept for a process that is only starting: what is in flight elsewhere comes free.
    """
    asking = [index for index, each in enumerate(demands) if each.left > 0]
    limits = [each.limit for each in demands]
    if not asking:
        return limits
    ending = sum(each.in_flight for each in demands if each.left == 0)
    fair, more = divmod(max(0, total - ending), len(asking))
    free = max(0, total - ending - sum(demands[index].ceiling for index in asking))
    for place, index in enumerate(asking):
        ceiling = demands[index].ceiling
        want = fair + (1 if place < more else 0)
        raised = min(max(0, want - ceiling), free)
        free -= raised
        limits[index] = min(want, ceiling + raised)
    return limits

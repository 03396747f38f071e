"""
The way in: says so when this Python cannot run the driver, which otherwise would end in a SyntaxError without a word.

This file and `__init__.py` must be readable to every Python from 3.6 on, and nothing else of the package may be
imported before the version is known.
"""

import json
import sys
import time

FAILED = 4


# The quotes keep an old Python from looking into the annotations.
def refusal(version: "tuple[int, int, int]") -> "str | None":
    """The last event, as `events.end` writes it, when the driver cannot run on this version."""
    if (3, 12) <= version < (3, 14):
        return None
    found = ".".join(str(number) for number in version)
    event = {
        "v": 2,
        "t": round(time.time(), 3),
        "type": "end",
        "outcome": "failed",
        "reason": "environment",
        "message": f"The cluster's `python` is {found}, and the benchmark needs 3.12 or 3.13. "
        "Start the cluster from an environment that has it.",
        "answered": 0,
        "expected": 0,
        "endpointErrors": 0,
        "judgeErrors": 0,
        "truncated": 0,
        "empty": 0,
        "missingShards": [],
    }
    return "@shardboard " + json.dumps(event, separators=(",", ":"))


if __name__ == "__main__":
    refused = refusal(sys.version_info[:3])
    if refused:
        print(refused, flush=True)
        sys.exit(FAILED)
    from .entry import run

    run(sys.argv[1])

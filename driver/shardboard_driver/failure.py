"""Why a run could not go on, in words for a person."""

import errno
from typing import Literal

from .redaction import redact

type Reason = Literal[
    "request", "environment", "evaluator", "benchmark", "endpoint", "shards", "disk", "budget", "internal"
]


class RunFailure(Exception):
    """Ends the run. The message says what happened, why, and what to do next; `reason` names the part at fault."""

    def __init__(self, reason: Reason, message: str) -> None:
        # Both, or it could not travel from a worker to the driver: an exception is made again from its arguments.
        super().__init__(reason, message)
        self.reason: Reason = reason
        self.message = message

    def __str__(self) -> str:
        return self.message


def last_line(error: BaseException) -> str:
    """An error of somebody else's code in one line: its kind and the last thing it says, never a traceback."""
    lines = [line.strip() for line in redact(str(error)).splitlines() if line.strip()]
    said = lines[-1][:300] if lines else ""
    return f"{type(error).__name__}: {said}" if said else type(error).__name__


def disk_trouble(what: str, error: OSError) -> str:
    """What could not be written, why, and what to do next."""
    next_step = "Make room" if error.errno in (errno.ENOSPC, errno.EDQUOT) else "Check the folder"
    return f"{what}: {error.strerror}. {next_step} and run again."

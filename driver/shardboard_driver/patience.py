"""When a question is asked again, and when the endpoint is given up."""

import random
import time
from collections.abc import Callable
from email.utils import parsedate_to_datetime
from typing import Literal

import aiohttp

from .rows import AnswerKey

FEWEST_FAILURES = 5
"""In a row, before the endpoint is given up; more when more requests are in flight."""

MOST_QUESTIONS = 8
"""At most so many different ones must have failed: a few that nobody can answer are not the endpoint's end."""

FEWEST_SECONDS = 5.0
"""So long it must have failed: a server that is started anew fails all that is in flight at once."""

LONGEST_PAUSE_S = 8.0
"""Between two tries, when the server does not say how long."""

LONGEST_ORDERED_PAUSE_S = 120.0
"""When it does. A day, which some say when a quota is used up, would be a run that hangs."""

BUSY = (429, 503)
"""Answers of a server that is there and wants to be asked later."""

type FailureKind = Literal["busy", "passing", "lasting"]
"""`lasting` is what the same question will come to again: a wrong key, an unknown model, a question that is refused."""


class EndpointGivenUp(Exception):
    """The endpoint is gone, with what it said last."""


def kind_of(error: BaseException) -> FailureKind:
    """What kind of failure an error of the evaluator's client is."""
    status = _status(error)
    if status in BUSY:
        return "busy"
    lasting = status is not None and 400 <= status < 500 and status not in (408, 409, 425)
    return "lasting" if lasting else "passing"


def tries_for(kind: FailureKind, attempts: int) -> int:
    """How often a question is asked in all, when it fails like this."""
    return min(2, attempts) if kind == "lasting" else attempts


def what_failed(error: BaseException, timeout_s: float) -> str:
    """The failure in words, without those of a client that was told to try once."""
    cause = error.__cause__
    match cause:
        case aiohttp.ClientResponseError():
            return f"HTTP {cause.status}" + (f" ({cause.message})" if cause.message else "")
        case TimeoutError():
            return f"no answer within {timeout_s:g} seconds"
        case aiohttp.ClientPayloadError():
            return "the answer was cut off"
        case aiohttp.ClientConnectorError():
            return f"it cannot be reached ({cause.os_error.strerror or 'connection failed'})"
        case aiohttp.ServerDisconnectedError() | aiohttp.ClientOSError():
            return "the connection was broken off"
        case ValueError() | aiohttp.ContentTypeError():
            return "the answer is not JSON"
    return str(error) or type(error).__name__


class Patience:
    """
    The pauses of one process before it asks again, and whether the endpoint is worth asking at all.

    Without giving up, a dead endpoint would be asked for hours, a dozen requests a problem, for a score of 0.
    """

    def __init__(self, in_flight: Callable[[], int], clock: Callable[[], float] = time.monotonic) -> None:
        """:param in_flight: how many requests of the process may be in flight now."""
        self._in_flight = in_flight
        self._clock = clock
        self._fewest_questions = 1
        self._failures = 0
        self._questions: set[AnswerKey] = set()
        self._since = 0.0
        self._quiet_until = 0.0

    def succeeded(self) -> None:
        """Something was answered."""
        self._failures = 0
        self._questions.clear()

    def insist(self) -> None:
        """The endpoint was given up and found alive: one question that fails is no reason to do it again."""
        self._fewest_questions = 2
        self.succeeded()

    def failed(self, question: AnswerKey, kind: FailureKind, said: str) -> None:
        """
        Takes one failure.

        :raises EndpointGivenUp: when it was one too many. A server that only says that it is busy is there.
        """
        if kind == "busy":
            return
        if self._failures == 0:
            self._since = self._clock()
        self._failures += 1
        self._questions.add(question)
        lasted = kind == "lasting" or self._clock() - self._since >= FEWEST_SECONDS
        in_flight = self._in_flight()
        enough = self._failures >= max(in_flight, FEWEST_FAILURES)
        different = len(self._questions) >= max(self._fewest_questions, min(in_flight, MOST_QUESTIONS))
        if enough and different and lasted:
            raise EndpointGivenUp(f"The endpoint failed {self._failures} times in a row, last: {said}")

    def pause_before(self, attempt: int, error: BaseException) -> float:
        """Seconds before the given attempt (2 for the second); what a server orders holds for all questions."""
        ordered = _retry_after(error)
        if ordered is not None:
            pause = min(ordered, LONGEST_ORDERED_PAUSE_S)
            self._quiet_until = max(self._quiet_until, self._clock() + pause)
            return pause
        # Apart from each other, or all that failed together would come back together.
        return min(LONGEST_PAUSE_S, 2.0 ** (attempt - 2)) * random.uniform(0.5, 1.5)

    def silence(self) -> float:
        """Seconds for which the server wants to be left alone."""
        return max(0.0, self._quiet_until - self._clock())


def _status(error: BaseException) -> int | None:
    cause = error.__cause__
    # An answer that is not JSON is a `ClientResponseError` too, with the good status that it came with.
    if not isinstance(cause, aiohttp.ClientResponseError) or isinstance(cause, aiohttp.ContentTypeError):
        return None
    return cause.status


def _retry_after(error: BaseException) -> float | None:
    """In seconds, by either of the two forms of RFC 9110, section 10.2.3; None when nothing usable is said."""
    cause = error.__cause__
    headers = cause.headers if isinstance(cause, aiohttp.ClientResponseError) else None
    value = headers.get("Retry-After", "").strip() if headers else ""
    if value.isdecimal():
        return float(value)
    try:
        return max(0.0, parsedate_to_datetime(value).timestamp() - time.time())
    except (ValueError, TypeError):
        return None

"""When a question is asked again, and when the endpoint is given up."""

from datetime import UTC, datetime, timedelta
from email.utils import format_datetime

import aiohttp
import pytest
from multidict import CIMultiDict, CIMultiDictProxy
from nemo_evaluator.errors import InfraError
from yarl import URL

from shardboard_driver import patience
from shardboard_driver.patience import EndpointGivenUp, Patience, kind_of, tries_for, what_failed


def http_error(status: int, headers: dict[str, str] | None = None) -> InfraError:
    """As the evaluator's client raises it."""
    url = URL("http://127.0.0.1/v1")
    request = aiohttp.RequestInfo(url, "POST", CIMultiDictProxy(CIMultiDict()), url)
    said = CIMultiDict(headers or {})
    error = InfraError("Model returned an error")
    error.__cause__ = aiohttp.ClientResponseError(request, (), status=status, message="Why", headers=said)
    return error


def caused_by(cause: Exception) -> InfraError:
    error = InfraError("Model endpoint unreachable after 0 retries")
    error.__cause__ = cause
    return error


class Clock:
    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        return self.now


@pytest.mark.parametrize(
    ("error", "kind"),
    [
        (http_error(429), "busy"),
        (http_error(503), "busy"),
        (http_error(500), "passing"),
        (http_error(408), "passing"),
        (http_error(401), "lasting"),
        (http_error(404), "lasting"),
        (http_error(400), "lasting"),
        (caused_by(TimeoutError()), "passing"),
        (caused_by(ConnectionResetError()), "passing"),
        (TypeError("the client tripped over the answer"), "passing"),
    ],
)
def test_kinds_of_failure(error: Exception, kind: str) -> None:
    assert kind_of(error) == kind


def test_what_lasts_is_asked_twice_and_all_else_as_often_as_wanted() -> None:
    assert (tries_for("lasting", 12), tries_for("passing", 12), tries_for("busy", 12)) == (2, 12, 12)
    assert tries_for("lasting", 1) == 1


def test_words_for_failures() -> None:
    assert what_failed(http_error(500), 60) == "HTTP 500 (Why)"
    assert what_failed(caused_by(TimeoutError()), 60) == "no answer within 60 seconds"
    assert what_failed(caused_by(aiohttp.ServerDisconnectedError()), 60) == "the connection was broken off"
    assert what_failed(caused_by(ValueError("Expecting value")), 60) == "the answer is not JSON"
    assert what_failed(InfraError("Model returned HTTP 200 but empty choices."), 60).startswith("Model returned")


def test_pauses_grow_apart_from_each_other_and_have_an_end() -> None:
    waiting = Patience(lambda: 4)
    for attempt, middle in ((2, 1.0), (3, 2.0), (4, 4.0), (5, 8.0), (12, 8.0)):
        pauses = {waiting.pause_before(attempt, http_error(500)) for _ in range(50)}
        assert len(pauses) > 40
        assert min(pauses) >= 0.5 * middle
        assert max(pauses) <= 1.5 * middle
    assert waiting.silence() == 0


def test_what_a_server_orders_holds_for_all_questions() -> None:
    clock = Clock()
    waiting = Patience(lambda: 4, clock)
    assert waiting.pause_before(2, http_error(429, {"Retry-After": "7"})) == 7
    assert waiting.silence() == 7
    # A shorter order does not shorten a longer one.
    waiting.pause_before(2, http_error(429, {"Retry-After": "2"}))
    clock.now += 6
    assert waiting.silence() == 1
    clock.now += 2
    assert waiting.silence() == 0


def test_an_order_may_be_a_date() -> None:
    later = format_datetime(datetime.now(UTC) + timedelta(seconds=30), usegmt=True)
    assert 25 < Patience(lambda: 4).pause_before(2, http_error(503, {"Retry-After": later})) <= 30


@pytest.mark.parametrize("order", ["soon", "-5", "", "Wed, 99 Foo"])
def test_an_order_that_is_none_is_not_obeyed(order: str) -> None:
    waiting = Patience(lambda: 4)
    assert waiting.pause_before(2, http_error(429, {"Retry-After": order})) <= 1.5
    assert waiting.silence() == 0


def test_an_order_to_wait_for_a_day_is_not_obeyed_to_the_letter() -> None:
    assert (
        Patience(lambda: 4).pause_before(2, http_error(429, {"Retry-After": "86400"}))
        == patience.LONGEST_ORDERED_PAUSE_S
    )


def fail(waiting: Patience, questions: int, times: int, kind: patience.FailureKind = "passing") -> None:
    for time in range(times):
        waiting.failed((time % questions, 0), kind, "HTTP 500")


def test_an_endpoint_that_only_fails_is_given_up() -> None:
    clock = Clock()
    waiting = Patience(lambda: 4, clock)
    fail(waiting, questions=4, times=20)
    # A server that is being started anew fails everything, for a moment.
    clock.now += patience.FEWEST_SECONDS
    with pytest.raises(EndpointGivenUp, match="failed 21 times in a row, last: HTTP 500"):
        fail(waiting, questions=4, times=1)


def test_what_lasts_is_not_waited_for() -> None:
    with pytest.raises(EndpointGivenUp, match="failed 5 times"):
        fail(Patience(lambda: 4), questions=4, times=5, kind="lasting")


def test_a_busy_server_is_there() -> None:
    fail(Patience(lambda: 4), questions=4, times=1000, kind="busy")


def test_one_answer_is_a_sign_of_life() -> None:
    clock = Clock()
    waiting = Patience(lambda: 4, clock)
    for _ in range(10):
        fail(waiting, questions=4, times=7)
        clock.now += 60
        waiting.succeeded()


def test_a_few_questions_that_nobody_can_answer_are_not_the_endpoints_end() -> None:
    clock = Clock()
    waiting = Patience(lambda: 64, clock)
    for _ in range(200):
        fail(waiting, questions=3, times=1)
        clock.now += 1


def test_one_question_alone_is_the_endpoints_end_until_that_was_found_alive() -> None:
    clock = Clock()
    waiting = Patience(lambda: 1, clock)
    fail(waiting, questions=1, times=10)
    clock.now += patience.FEWEST_SECONDS
    with pytest.raises(EndpointGivenUp):
        fail(waiting, questions=1, times=1)
    waiting.insist()
    fail(waiting, questions=1, times=10)
    clock.now += 60
    fail(waiting, questions=1, times=10)
    with pytest.raises(EndpointGivenUp):
        fail(waiting, questions=2, times=2)

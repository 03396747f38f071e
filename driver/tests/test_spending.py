import pytest

from shardboard_driver.request import Budget, Prices
from shardboard_driver.spending import Spending

ANSWER = {"prompt_tokens": 60, "completion_tokens": 40}
PRICES = Prices(prompt_tokens=1.0, completion_tokens=10.0)


def after(answers: int) -> Spending:
    spending = Spending()
    for _ in range(answers):
        spending.add(ANSWER)
    return spending


@pytest.mark.parametrize(
    ("answers", "in_flight", "reached"), [(9, 0, False), (10, 0, True), (5, 4, False), (5, 5, True)]
)
def test_tokens_count_with_those_that_are_on_their_way(answers: int, in_flight: int, reached: bool) -> None:
    assert after(answers).reaches(Budget(tokens=1000), None, in_flight) is reached


def test_money_is_tokens_at_their_prices() -> None:
    # An answer is 60 at 1 and 40 at 10 a million: 0.00046.
    assert not after(9).reaches(Budget(money=0.0046), PRICES, 0)
    assert after(10).reaches(Budget(money=0.0046), PRICES, 0)


def test_without_a_budget_nothing_is_reached() -> None:
    assert not after(1000).reaches(Budget(), PRICES, 1000)
    assert not Spending().reaches(Budget(tokens=1), None, 50)


def test_an_endpoint_that_counts_no_tokens_costs_nothing() -> None:
    spending = Spending()
    spending.add({"prompt_tokens": None, "completion_tokens": None})
    assert not spending.reaches(Budget(tokens=1), None, 0)

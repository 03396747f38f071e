"""Writes word_problems.jsonl: 1,319 arithmetic word problems in four categories.

    python make_word_problems.py

The same seed gives the same file on every Python: of the random generator only `random()` is used, the one method
whose sequence Python promises to keep.
"""

import json
import random
from collections.abc import Callable
from pathlib import Path

SEED = 2026
PROBLEMS = 1319
FILE = Path(__file__).resolve().parent / "word_problems.jsonl"

NAMES = (
    "Amara", "Bruno", "Chiara", "Daniel", "Elif", "Farid", "Greta", "Hiro", "Ines", "Jonas",
    "Kofi", "Leila", "Mateo", "Nadia", "Oskar", "Priya", "Quinn", "Rosa", "Samir", "Tomas",
)  # fmt: skip


class Draw:
    """Random choices that stay the same in every version of Python."""

    def __init__(self, seed: int) -> None:
        self._random = random.Random(seed)

    def number(self, low: int, high: int) -> int:
        """A whole number from low to high, both included."""
        return low + int(self._random.random() * (high - low + 1))

    def of(self, choices: tuple[str, ...]) -> str:
        return choices[self.number(0, len(choices) - 1)]

    def two_names(self) -> tuple[str, str]:
        first = self.number(0, len(NAMES) - 1)
        second = (first + self.number(1, len(NAMES) - 1)) % len(NAMES)
        return NAMES[first], NAMES[second]


# --- Shopping ---------------------------------------------------------------------------------------------------------


def change_from_a_note(draw: Draw) -> tuple[str, int]:
    name = draw.of(NAMES)
    item = draw.of(("notebooks", "pencils", "postcards", "candles", "mugs"))
    count, price, note = draw.number(3, 12), draw.number(2, 8), draw.of(("100", "200"))
    question = (
        f"{name} buys {count} {item} at ${price} each and pays with a ${note} note. "
        f"How many dollars of change does {name} get?"
    )
    return question, int(note) - count * price


def two_kinds_of_goods(draw: Draw) -> tuple[str, int]:
    name = draw.of(NAMES)
    apples, apple_price = draw.number(2, 15), draw.number(1, 4)
    melons, melon_price = draw.number(2, 6), draw.number(3, 9)
    question = (
        f"At the market {name} takes {apples} apples for ${apple_price} each "
        f"and {melons} melons for ${melon_price} each. How many dollars does {name} pay?"
    )
    return question, apples * apple_price + melons * melon_price


def saving_up(draw: Draw) -> tuple[str, int]:
    name = draw.of(NAMES)
    weekly, weeks, start = draw.number(4, 15), draw.number(3, 20), draw.number(5, 60)
    thing = draw.of(("a bicycle", "a guitar", "a camera", "a tent"))
    price = start + weekly * weeks
    question = (
        f"{name} has ${start} and saves ${weekly} every week for {thing} that costs ${price}. "
        f"After how many weeks can {name} buy it?"
    )
    return question, weeks


def discount_on_a_set(draw: Draw) -> tuple[str, int]:
    name = draw.of(NAMES)
    price, count, off = 10 * draw.number(2, 12), draw.number(2, 6), draw.of(("10", "20", "30", "50"))
    question = (
        f"A shop takes {off} percent off everything today. "
        f"{name} picks {count} shirts that normally cost ${price} each. How many dollars does {name} pay?"
    )
    return question, count * price * (100 - int(off)) // 100


# --- Travel -----------------------------------------------------------------------------------------------------------


def two_legs(draw: Draw) -> tuple[str, int]:
    name = draw.of(NAMES)
    first_speed, first_hours = 10 * draw.number(4, 9), draw.number(2, 5)
    second_speed, second_hours = 10 * draw.number(3, 12), draw.number(2, 4)
    question = (
        f"{name} drives {first_hours} hours at {first_speed} km per hour "
        f"and then {second_hours} hours at {second_speed} km per hour. How many kilometres is that in all?"
    )
    return question, first_hours * first_speed + second_hours * second_speed


def bus_stops(draw: Draw) -> tuple[str, int]:
    start, on, off, late = draw.number(12, 40), draw.number(3, 15), draw.number(2, 11), draw.number(2, 9)
    town = draw.of(("Lindau", "Porto", "Kandy", "Tartu", "Oaxaca"))
    question = (
        f"A bus leaves {town} with {start} passengers. At the first stop {on} get on and {off} get off; "
        f"at the second {late} more get on. How many passengers are on the bus now?"
    )
    return question, start + on - off + late


def way_that_is_left(draw: Draw) -> tuple[str, int]:
    name, friend = draw.two_names()
    daily, days, left = draw.number(11, 29), draw.number(3, 9), draw.number(10, 80)
    question = (
        f"{name} and {friend} walk a trail of {daily * days + left} km. "
        f"They have walked {daily} km a day for {days} days. How many kilometres are left?"
    )
    return question, left


def fuel_for_a_trip(draw: Draw) -> tuple[str, int]:
    name = draw.of(NAMES)
    per_hundred, hundreds, price = draw.number(4, 9), draw.number(2, 12), draw.number(2, 3)
    question = (
        f"The car of {name} needs {per_hundred} litres of fuel for 100 km, and a litre costs ${price}. "
        f"How many dollars does the fuel for {hundreds * 100} km cost?"
    )
    return question, per_hundred * hundreds * price


# --- Kitchen ----------------------------------------------------------------------------------------------------------


def scaled_recipe(draw: Draw) -> tuple[str, int]:
    name = draw.of(NAMES)
    dish = draw.of(("soup", "curry", "porridge", "pancakes"))
    each, guests, spare = 10 * draw.number(5, 25), draw.number(3, 14), 50 * draw.number(1, 6)
    question = (
        f"For the {dish} {name} needs {each} grams of flour a guest and {spare} grams more for the pan. "
        f"How many grams are needed for {guests} guests?"
    )
    return question, each * guests + spare


def trays_in_the_oven(draw: Draw) -> tuple[str, int]:
    name = draw.of(NAMES)
    what = draw.of(("rolls", "cookies", "muffins", "buns"))
    trays, each, eaten = draw.number(3, 9), draw.number(8, 24), draw.number(2, 20)
    question = (
        f"{name} bakes {trays} trays of {each} {what}. The family eats {eaten} of them. How many {what} are left?"
    )
    return question, trays * each - eaten


def shared_fairly(draw: Draw) -> tuple[str, int]:
    name, friend = draw.two_names()
    people, each, kept = draw.number(3, 12), draw.number(2, 16), draw.number(2, 9)
    fruit = draw.of(("cherries", "dates", "figs", "plums"))
    question = (
        f"{name} and {friend} picked {people * each + kept} {fruit}. "
        f"They keep {kept} and share the rest fairly among {people} people. How many {fruit} does each person get?"
    )
    return question, each


def time_to_cook(draw: Draw) -> tuple[str, int]:
    name = draw.of(NAMES)
    batches, minutes, rest = draw.number(2, 9), draw.number(6, 25), draw.number(5, 40)
    question = (
        f"{name} fries {batches} batches of dumplings, {minutes} minutes each, one after the other, "
        f"and then lets them rest for {rest} minutes. How many minutes does it take in all?"
    )
    return question, batches * minutes + rest


# --- Work -------------------------------------------------------------------------------------------------------------


def pay_for_a_week(draw: Draw) -> tuple[str, int]:
    name = draw.of(NAMES)
    hours, days, rate, bonus = draw.number(4, 9), draw.number(3, 6), draw.number(12, 28), 5 * draw.number(2, 20)
    question = (
        f"{name} works {hours} hours a day on {days} days for ${rate} an hour and gets a bonus of ${bonus}. "
        f"How many dollars does {name} earn?"
    )
    return question, hours * days * rate + bonus


def boxes_and_shelves(draw: Draw) -> tuple[str, int]:
    shelves, boxes, parts, broken = draw.number(2, 9), draw.number(3, 12), draw.number(5, 20), draw.number(2, 20)
    part = draw.of(("bolts", "lamps", "valves", "sensors"))
    question = (
        f"A store has {shelves} shelves with {boxes} boxes each, and every box holds {parts} {part}. "
        f"{broken} {part} are broken. How many {part} can be used?"
    )
    return question, shelves * boxes * parts - broken


def machines_side_by_side(draw: Draw) -> tuple[str, int]:
    fast, slow, hours = draw.number(20, 60), draw.number(5, 19), draw.number(2, 10)
    question = (
        f"One machine prints {fast} posters an hour, an older one {slow}. Both run for {hours} hours. "
        f"How many more posters does the faster machine print?"
    )
    return question, (fast - slow) * hours


def twice_as_many(draw: Draw) -> tuple[str, int]:
    name, colleague = draw.two_names()
    letters, more, days = draw.number(6, 40), draw.number(2, 15), draw.number(2, 7)
    question = (
        f"{name} writes {letters} letters a day. {colleague} writes twice as many and {more} more. "
        f"How many letters do the two write together in {days} days?"
    )
    return question, (letters + 2 * letters + more) * days


CATEGORIES: dict[str, tuple[Callable[[Draw], tuple[str, int]], ...]] = {
    "shopping": (change_from_a_note, two_kinds_of_goods, saving_up, discount_on_a_set),
    "travel": (two_legs, bus_stops, way_that_is_left, fuel_for_a_trip),
    "kitchen": (scaled_recipe, trays_in_the_oven, shared_fairly, time_to_cook),
    "work": (pay_for_a_week, boxes_and_shelves, machines_side_by_side, twice_as_many),
}


def problems(count: int = PROBLEMS, seed: int = SEED) -> list[dict[str, str]]:
    """The problems in their order: category by category in turn, no question twice, every answer a positive number."""
    draw = Draw(seed)
    categories = list(CATEGORIES)
    rows: list[dict[str, str]] = []
    asked: set[str] = set()
    while len(rows) < count:
        category = categories[len(rows) % len(categories)]
        kinds = CATEGORIES[category]
        question, answer = kinds[draw.number(0, len(kinds) - 1)](draw)
        if question in asked or answer <= 0:
            continue
        asked.add(question)
        rows.append({"category": category, "question": question, "answer": str(answer)})
    return rows


def as_jsonl(rows: list[dict[str, str]]) -> str:
    return "".join(json.dumps(row) + "\n" for row in rows)


if __name__ == "__main__":
    FILE.write_text(as_jsonl(problems()), encoding="utf-8", newline="\n")
    print(f"{PROBLEMS} problems written to {FILE}")

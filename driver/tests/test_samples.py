"""The benchmark of the samples: its generator and its scorer."""

import asyncio
import runpy
from pathlib import Path

import pytest
from nemo_evaluator.environments.registry import get_environment

SAMPLES = Path(__file__).resolve().parents[2] / "samples" / "benchmarks"


def test_the_generator_gives_exactly_the_file() -> None:
    generator = runpy.run_path(str(SAMPLES / "make_word_problems.py"))
    text = generator["as_jsonl"](generator["problems"]())
    assert text == (SAMPLES / "word_problems.jsonl").read_text(encoding="utf-8")


def test_questions_are_told_apart_by_their_text() -> None:
    # The practice model finds a problem by it.
    problems = runpy.run_path(str(SAMPLES / "make_word_problems.py"))["problems"]()
    questions = {problem["question"] for problem in problems}
    assert len(questions) == len(problems) == 1319
    assert len({problem["category"] for problem in problems}) == 4


@pytest.mark.parametrize(
    ("ending", "reward"),
    [("The answer is {}", 1.0), ("the answer is: {}.", 1.0), ("The answer is 1{}", 0.0), ("It is {}", 0.0), ("", 0.0)],
)
def test_scores_the_last_line(ending: str, reward: float) -> None:
    async def score() -> float:
        environment = get_environment(f"{SAMPLES / 'word_problems.py'}:word_problems")
        assert await environment.dataset_size() == 1319
        seed = await environment.seed(0)
        response = "First this, then that.\n" + ending.format(seed.expected_answer)
        return (await environment.verify(response, seed.expected_answer, **seed.metadata)).reward

    assert asyncio.run(score()) == reward

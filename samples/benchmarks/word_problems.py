"""A benchmark of one's own, in the form that NeMo Evaluator gives it: where the problems come from, how they are asked,
how an answer is scored.

The problems lie in word_problems.jsonl beside this file; make_word_problems.py writes them.
"""

import json
from pathlib import Path

from nemo_evaluator.environments.custom import benchmark, scorer
from nemo_evaluator.scoring import ScorerInput, answer_line

# From this file's own place: a run happens in a copy of this folder, in another working directory.
PROBLEMS = Path(__file__).resolve().parent / "word_problems.jsonl"


def load_problems() -> list[dict[str, str]]:
    with PROBLEMS.open(encoding="utf-8") as lines:
        return [json.loads(line) for line in lines]


@benchmark(
    name="word_problems",
    dataset=load_problems,
    target_field="answer",
    prompt=(
        "Solve the following problem step by step. Give the final number in a last line of the form "
        "'The answer is 7'.\n\n{question}"
    ),
)
@scorer
def score(sample: ScorerInput) -> dict[str, object]:
    """Right when the number after the last words 'The answer is' is the expected one."""
    return answer_line(sample, pattern=r"(?i)the answer is\s*:?\s*([^\n]+)")

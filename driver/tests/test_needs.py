import re
import subprocess
import sys
from pathlib import Path

import pytest
from nemo_evaluator.environments import registry

from shardboard_driver.failure import RunFailure
from shardboard_driver.needs import CHAT, JUDGED, UNABLE, UNABLE_SCHEMES, refuse_what_is_lacking
from shardboard_driver.request import NO_KEY, Judge

from .support import make_request

CHOICES = Path(__file__).resolve().parents[2] / "src" / "commands" / "benchmarkChoices.ts"


def test_every_benchmark_of_the_evaluator_is_known() -> None:
    # In a process of its own: other tests make benchmarks here.
    names = (
        "import nemo_evaluator.benchmarks; from nemo_evaluator.environments import registry; print(*registry._REGISTRY)"
    )
    told = subprocess.run([sys.executable, "-c", names], capture_output=True, text=True, check=True)
    assert set(told.stdout.split()) == CHAT | JUDGED | UNABLE.keys()
    assert set(registry._URI_FACTORIES) >= UNABLE_SCHEMES.keys()


def test_the_extension_knows_the_same() -> None:
    source = CHOICES.read_text(encoding="utf-8")
    assert set(re.findall(r"\['([\w-]+)', \{ needsJudge: true \}\]", source)) == JUDGED
    assert set(re.findall(r"\['([\w-]+)', \{ refusal", source)) == UNABLE.keys()
    [chat] = re.findall(r"const CHAT = \[([^\]]*)\]", source)
    assert set(re.findall(r"'(\w+)'", chat)) == CHAT


@pytest.mark.parametrize("name", [*UNABLE, "harbor://swe-bench", "container://image#task", "vlmevalkit://MMBench"])
def test_what_cannot_be_run_is_refused_with_what_can(tmp_path: Path, name: str) -> None:
    with pytest.raises(RunFailure, match="nel eval run") as caught:
        refuse_what_is_lacking(make_request(tmp_path, benchmark=name))
    assert caught.value.reason == "benchmark"


@pytest.mark.parametrize("name", sorted(JUDGED))
def test_a_judge_is_wanted_before_anything_is_asked(tmp_path: Path, name: str) -> None:
    with pytest.raises(RunFailure, match="Choose a judge"):
        refuse_what_is_lacking(make_request(tmp_path, benchmark=name))
    judge = Judge("http://127.0.0.1:1/v1", "judge", NO_KEY)
    refuse_what_is_lacking(make_request(tmp_path, benchmark=name, judge=judge))


@pytest.mark.parametrize("name", [*sorted(CHAT), "benchmark/own.py:humaneval", "gym://127.0.0.1:8000"])
def test_all_else_is_tried(tmp_path: Path, name: str) -> None:
    refuse_what_is_lacking(make_request(tmp_path, benchmark=name))

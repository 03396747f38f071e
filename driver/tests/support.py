"""Small things that several tests make."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from nemo_evaluator.environments.base import EvalEnvironment, SeedResult, VerifyResult

from shardboard_driver.answers import Edition, Fingerprint
from shardboard_driver.asker import Setup
from shardboard_driver.events import MARKER
from shardboard_driver.request import KeySource, RunRequest

FINGERPRINT: Fingerprint = {"benchmark": "sums", "model": "test"}


class Sums(EvalEnvironment):
    """A benchmark: problem i asks for i + 1. The first word of the response is the answer."""

    name = "sums"

    def __init__(self, size: int) -> None:
        super().__init__()
        self._dataset = [{"i": i} for i in range(size)]

    async def seed(self, idx: int) -> SeedResult:
        return SeedResult(
            prompt=f"How much is {idx} and 1?",
            expected_answer=str(idx + 1),
            metadata={"category": "even" if idx % 2 == 0 else "odd"},
        )

    async def verify(self, response: str, expected: str, sandbox: object = None, **metadata: Any) -> VerifyResult:
        words = response.split()
        right = bool(words) and words[0] == expected
        return VerifyResult(
            reward=1.0 if right else 0.0,
            extracted_answer=words[0] if words else None,
            scoring_details={"method": "first_word", "correct": right},
        )


def number_in(prompt: str) -> int:
    """The i of a prompt of Sums."""
    return int(prompt.split()[3])


def make_request(folder: Path, url: str = "http://127.0.0.1:1/v1", **changes: Any) -> RunRequest:
    request = RunRequest(
        benchmark="sums",
        shards=1,
        repeats=1,
        max_problems=None,
        model_url=url,
        model_id="test",
        key=KeySource("none"),
        shuffle_seed=42,
        requests_in_flight=4,
        output_folder=str(folder),
    )
    return replace(request, **changes)


def make_setup(request: RunRequest, **changes: Any) -> Setup:
    setup = Setup(
        request=request,
        benchmark="sums",
        edition=Edition(FINGERPRINT),
        log="20260101T000000-abcdef-000",
        earlier_logs=(),
        mark=".run-1",
        driver_node="this",
    )
    return replace(setup, **changes)


def events_in(captured: pytest.CaptureFixture[str]) -> list[dict[str, Any]]:
    """The events that were told since the last call."""
    lines = captured.readouterr().out.splitlines()
    return [json.loads(line.removeprefix(MARKER)) for line in lines if line.startswith(MARKER)]

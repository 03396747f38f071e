"""The model, and the judge, as the evaluator's own client and solver see them."""

from dataclasses import asdict, replace

from nemo_evaluator.engine.model_client import ModelClient
from nemo_evaluator.environments.base import SeedResult
from nemo_evaluator.schemas import RetryConfig
from nemo_evaluator.solvers import ChatSolver

from .request import RunRequest


def open_model(request: RunRequest, key: str | None) -> ChatSolver:
    """What asks the model's endpoint, as the request wants it to. It tries once; `ask` tries again."""
    generation = asdict(request.generation)
    client = ModelClient(
        base_url=request.model_url,
        model=request.model_id,
        api_key=key,
        **generation | {"stop": list(request.generation.stop) or None},
        timeout=request.request_timeout_s,
        # More than ever are in flight: what waits in the client would count as latency of the model.
        max_concurrent=2 * request.requests_in_flight,
        # It waits for no `Retry-After`, and holds back only the one question.
        retry=RetryConfig(max_retries=0),
    )
    return ChatSolver(client, system_prompt=request.system_prompt)


def open_judge(request: RunRequest, key: str | None) -> ModelClient | None:
    """What asks the judge, with the client's own retries; None when the run has no judge."""
    if request.judge is None:
        return None
    return ModelClient(
        base_url=request.judge.url,
        model=request.judge.model_id,
        api_key=key,
        temperature=0.0,
        timeout=request.request_timeout_s,
        max_concurrent=request.requests_in_flight,
    )


def with_system_prompt(seed: SeedResult, system_prompt: str | None) -> SeedResult:
    """The evaluator's solver drops the system prompt when a problem brings messages of its own."""
    if not system_prompt or not seed.messages or any(message["role"] == "system" for message in seed.messages):
        return seed
    return replace(seed, messages=[{"role": "system", "content": system_prompt}, *seed.messages])

"""The model as the evaluator's own client and solver see it."""

from nemo_evaluator.engine.model_client import ModelClient
from nemo_evaluator.solvers import ChatSolver

from .request import RunRequest


def open_model(request: RunRequest, key: str | None) -> ChatSolver:
    """What asks the model's endpoint, as the request wants it to."""
    client = ModelClient(
        base_url=request.model_url,
        model=request.model_id,
        api_key=key,
        temperature=request.generation.temperature,
        max_concurrent=request.requests_in_flight,
    )
    return ChatSolver(client, system_prompt=request.system_prompt)

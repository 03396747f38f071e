"""
Runs a benchmark with the evaluator's own unsharded loop and writes its bundle, which a sharded run must equal.

    python unsharded.py --benchmark FILE.py:NAME --repeats N --model-url URL --model-id ID --output FOLDER
"""

import argparse
import asyncio
from pathlib import Path

from nemo_evaluator.engine.artifacts import write_all
from nemo_evaluator.engine.eval_loop import run_evaluation
from nemo_evaluator.engine.model_client import ModelClient
from nemo_evaluator.environments.registry import get_environment
from nemo_evaluator.solvers import ChatSolver

SHUFFLE_SEED = 42
IN_FLIGHT = 32


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--benchmark", required=True)
    parser.add_argument("--repeats", type=int, default=1)
    parser.add_argument("--max-problems", type=int)
    parser.add_argument("--model-url", required=True)
    parser.add_argument("--model-id", required=True)
    parser.add_argument("--output", type=Path, required=True)
    arguments = parser.parse_args()
    environment = get_environment(arguments.benchmark)
    client = ModelClient(arguments.model_url, arguments.model_id, temperature=0.0, max_concurrent=IN_FLIGHT)
    bundle = asyncio.run(
        run_evaluation(
            environment,
            ChatSolver(client),
            n_repeats=arguments.repeats,
            max_problems=arguments.max_problems,
            config={"benchmark": environment.name, "model": arguments.model_id, "repeats": arguments.repeats},
            max_concurrent=IN_FLIGHT,
            shuffle_seed=SHUFFLE_SEED,
        )
    )
    print(write_all(bundle, arguments.output)["bundle"])


if __name__ == "__main__":
    main()

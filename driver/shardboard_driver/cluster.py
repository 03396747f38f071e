"""What the driver wants from Ray besides running the shards."""

import logging
import os

import ray

from .failure import RunFailure, last_line


def connect() -> None:
    """
    :raises RunFailure: reason `environment`, when this process cannot join the cluster that runs the job.
    """
    try:
        # Inside a job Ray sets the address. `auto` otherwise: join what is there, never start a cluster.
        ray.init(address=os.environ.get("RAY_ADDRESS", "auto"), logging_level=logging.WARNING, log_to_driver=True)
    except Exception as error:
        raise RunFailure("environment", f"The driver could not join the Ray cluster: {last_line(error)}.") from error


def warm_up(shards: int) -> list[ray.ObjectRef[None]]:
    """
    Lets workers start and import while the driver loads the benchmark; the shards then find them ready.
    Keep what it gives until the shards are submitted.
    """
    cpus: float = ray.cluster_resources().get("CPU", 0)  # type: ignore[no-untyped-call]
    task = ray.remote(num_cpus=1, max_retries=0)(_import_evaluator)
    return [task.options(name="warm up").remote() for _ in range(min(shards, int(cpus)))]


def _import_evaluator() -> None:
    from . import shard  # noqa: F401

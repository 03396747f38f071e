"""What the driver wants from Ray besides running the shards."""

import logging
import os

import ray

from .failure import RunFailure, last_line
from .processes import Handle, process_count, start_process
from .request import RunRequest


def connect() -> None:
    """
    :raises RunFailure: reason `environment`, when this process cannot join the cluster that runs the job.
    """
    try:
        # Inside a job Ray sets the address. `auto` otherwise: join what is there, never start a cluster.
        ray.init(address=os.environ.get("RAY_ADDRESS", "auto"), logging_level=logging.WARNING, log_to_driver=True)
    except Exception as error:
        raise RunFailure("environment", f"The driver could not join the Ray cluster: {last_line(error)}.") from error


def start_processes(request: RunRequest) -> list[Handle]:
    """
    Lets the processes start and import while the driver loads the benchmark; the shards then find them ready.

    :raises RunFailure: reason `environment`, when the cluster can never start one.
    """
    cpus: float = ray.cluster_resources().get("CPU", 0)  # type: ignore[no-untyped-call]
    return [start_process(request) for _ in range(process_count(request, cpus))]

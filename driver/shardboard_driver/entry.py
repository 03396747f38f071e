"""
The driver proper: what can fail before Ray and the evaluator are there, and the last word however the run ends.

The imports below stand in the order in which they are of use: the endpoint is asked while Ray is imported, and the
cluster starts its processes while the evaluator is.
"""

import logging
import os
import signal
import sys
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from functools import partial
from pathlib import Path
from typing import NoReturn

from . import events
from .endpoint_check import check_all, endpoint_checks
from .evaluator_check import check_evaluator
from .failure import RunFailure, last_line
from .handover import bring_earlier_answers, resolve_output_folder
from .key import Keys, remove_key_files, take_keys
from .output import prepare_folder, take_folder
from .request import parse_request
from .tally import Tally

logger = logging.getLogger(__name__)

BAD_REQUEST, FAILED, ENDPOINT_FAILED, STOPPED = 2, 4, 5, 143
EXIT_CODES = {"request": BAD_REQUEST, "endpoint": ENDPOINT_FAILED}


def run(request_file: str) -> NoReturn:
    """Runs what the file asks for, and ends the process."""
    sys.stdout = events.WholeLines(sys.stdout.fileno())
    _leave(main(request_file))


def main(request_file: str) -> int:
    """Runs what the file asks for; gives the exit code when the last event has been told."""
    tally: Tally | None = None
    try:
        request = resolve_output_folder(parse_request(Path(request_file).read_text(encoding="utf-8")))
        tally = Tally(request)
        _end_when_stopped(tally)
        folder = prepare_folder(request.output_folder)
        take_folder(folder)
        bring_earlier_answers(folder)
        keys = take_keys(request)
        checks = endpoint_checks(request, keys)
        first_check: Future[None] = ThreadPoolExecutor(1).submit(check_all, checks)
        return _run_on_ray(tally, keys, first_check, partial(check_all, checks[:1]))
    except RunFailure as failure:
        outcome = failure
    except Exception as error:
        # The person gets one sentence.
        logger.exception("The driver failed.")
        outcome = RunFailure("internal", f"The driver failed: {last_line(error)}. Its log has more.")
    finally:
        # The extension does it too, but it may not be there when the run ends.
        if tally:
            remove_key_files(tally.request)
    if tally:
        tally.end("failed", outcome.message, outcome.reason)
    else:
        events.end("failed", outcome.message, reason=outcome.reason)
    return EXIT_CODES.get(outcome.reason, FAILED)


def _run_on_ray(tally: Tally, keys: Keys, first_check: "Future[None]", check: Callable[[], None]) -> int:
    events.stage("connecting")
    check_evaluator(tally.request.repeats)
    try:
        from .cluster import connect, start_processes

        connect()
        # Ray has set a handler of its own.
        _end_when_stopped(tally)
        actors = start_processes(tally.request)
        from .run import Preparation, execute
    except ImportError as error:
        raise RunFailure(
            "environment",
            f"The Python of the cluster cannot run the benchmark: {last_line(error)}. "
            "Install nemo-evaluator[ray,stats] in it.",
        ) from error
    return execute(tally, Preparation(keys, first_check, check, actors, tally.should_end))


def _end_when_stopped(tally: Tally) -> None:
    """A stopped job gets SIGTERM, and three seconds later SIGKILL."""

    def stop(_signal: int, _frame: object) -> None:
        tally.is_stopped = True
        if tally.phase == "preparing":
            # Whatever it waits for may take longer than there is time.
            tally.end("stopped", "The run was stopped. Nothing was asked.")
            remove_key_files(tally.request)
            _leave(STOPPED)

    signal.signal(signal.SIGTERM, stop)
    signal.signal(signal.SIGINT, stop)


def _leave(code: int) -> NoReturn:
    # Not sys.exit: Ray's farewell takes more than half a second, and every fact has been told.
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(code)

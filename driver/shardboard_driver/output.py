"""Checks the output folder before anything is asked."""

from pathlib import Path

from .answers import FILE, Fingerprint, refuse_another_run
from .failure import RunFailure


def prepare_folder(output_folder: str) -> Path:
    """
    Makes the folder and tries to write into it.

    :raises RunFailure: reason `disk`.
    """
    folder = Path(output_folder)
    if not folder.is_absolute():
        # It would lie inside Ray's copy of the package, and vanish with it.
        raise RunFailure("disk", f"The output folder {folder} is no absolute path. Give one that begins with /.")
    try:
        folder.mkdir(parents=True, exist_ok=True)
        probe = folder / ".writable"
        probe.touch()
        probe.unlink()
    except OSError as error:
        raise RunFailure(
            "disk",
            f"The output folder {folder} cannot be written on the machine of the cluster ({error.strerror}). "
            "No question was asked. Choose another one.",
        ) from error
    return folder


def refuse_other_results(folder: Path, fingerprint: Fingerprint) -> None:
    """
    A folder is either new or of the very same run, which then goes on.

    :raises RunFailure: reason `request`.
    """
    logs = sorted(folder.glob(f"shards/shard-*/{FILE}"))
    for log in logs:
        refuse_another_run(log, fingerprint)
    if not logs and (any(folder.glob("*eval-*.json")) or (folder / "results.jsonl").exists()):
        raise RunFailure(
            "request",
            f"The folder {folder} has results of something else. No question was asked. Choose another folder.",
        )

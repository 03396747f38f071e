"""
Results for an extension on another machine: they come through the dashboard, which hands out what lies below the logs
of Ray's session.

The folder is for its owner alone. The dashboard's agent runs as the same user, so whoever reaches the dashboard with
its token can read it, as they can the job's log; other users of the machine cannot.
"""

import hashlib
import shutil
from dataclasses import replace
from pathlib import Path

from . import events
from .answers import FOLDER, SUFFIX, has_answers
from .failure import RunFailure
from .request import RunRequest

PLACE = Path("logs") / "shardboard"
EARLIER = "earlier"
"""Where the package has the answers of an earlier run, relative to the working directory."""

BLOCK = 1 << 20


def resolve_output_folder(request: RunRequest) -> RunRequest:
    """
    The request with an absolute output folder.

    :raises RunFailure: reason `environment`, when Ray's session cannot be found; reason `request` for a name that is
        no name.
    """
    if request.output_place == "folder":
        return request
    name = request.output_folder
    if Path(name).name != name or name.startswith("."):
        raise RunFailure("request", f"The output folder {name} is no plain name. Submit the run again.")
    # A job works in Ray's own copy of its package, inside the session's folder.
    session = next((path for path in Path.cwd().parents if path.name.startswith("session_")), None)
    if session is None:
        raise RunFailure(
            "environment", "The driver does not run inside the folder of a Ray session. No question was asked."
        )
    (session / PLACE).mkdir(mode=0o700, exist_ok=True)
    folder = session / PLACE / name
    folder.mkdir(mode=0o700, exist_ok=True)
    return replace(request, output_folder=str(folder))


def bring_earlier_answers(folder: Path) -> None:
    """Puts answers that came with the package where the run looks for them: its first cluster may be gone."""
    earlier = Path(EARLIER) / FOLDER
    if earlier.is_dir() and not has_answers(folder):
        (folder / FOLDER).mkdir(exist_ok=True)
        for log in sorted(earlier.glob(f"*{SUFFIX}")):
            shutil.copy(log, folder / FOLDER / log.name)


def tell_files(folder: Path, node_id: str) -> None:
    """Tells which files there are to be fetched, and how to know that they came whole."""
    told: list[dict[str, str | int]] = []
    for path in sorted(folder.rglob("*")):
        if path.is_file() and not path.name.startswith("."):
            digest = hashlib.sha256()
            with path.open("rb") as file:
                while block := file.read(BLOCK):
                    digest.update(block)
            name = path.relative_to(folder).as_posix()
            told.append({"name": name, "size": path.stat().st_size, "sha256": digest.hexdigest()})
    events.files(node_id, (PLACE.relative_to("logs") / folder.name).as_posix(), told)

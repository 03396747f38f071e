"""Whether the Python of the cluster has the evaluator that the driver is made for."""

from importlib.machinery import PathFinder
from importlib.metadata import PackageNotFoundError, version
from importlib.util import find_spec

from .failure import RunFailure

SUPPORTED = "0.3"
"""The extension has it once more, in `supportedVersions.ts`; a test holds the two together."""


def check_evaluator(repeats: int) -> None:
    """
    Looks without importing anything: it is not worth a second, and an import that fails may leave half a module behind.

    :raises RunFailure: reason `evaluator`, when the evaluator is missing, not of a supported version, or would fail
        after every answer has been paid for.
    """
    try:
        found = version("nemo-evaluator")
    except PackageNotFoundError as error:
        raise RunFailure("evaluator", _sentence("has no NeMo Evaluator")) from error
    if not found.startswith(f"{SUPPORTED}."):
        said = _sentence(f"has NeMo Evaluator {found}, and {SUPPORTED} is supported")
        launcher = " Its own launcher can be used as it is: python -m nemo_evaluator.engine.ray_launcher --help"
        raise RunFailure("evaluator", f"{said}{launcher if _has_launcher() else ''}")
    if repeats > 1 and not find_spec("scipy"):
        raise RunFailure("evaluator", _sentence("has no scipy, without which a run with repeats cannot be scored"))


def _has_launcher() -> bool:
    # Part by part: to find the whole name, Python would import the package.
    spec = find_spec("nemo_evaluator")
    for part in ("engine", "ray_launcher"):
        spec = spec and PathFinder.find_spec(part, list(spec.submodule_search_locations or []))
    return spec is not None


def _sentence(what: str) -> str:
    return (
        f"The Python of the cluster {what}. Install nemo-evaluator[ray,stats]~={SUPPORTED}.0 in it, "
        "or let Ray install it for the run alone."
    )

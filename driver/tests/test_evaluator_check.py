"""What is looked for before Ray is joined."""

from importlib.machinery import ModuleSpec
from importlib.metadata import PackageNotFoundError

import pytest

from shardboard_driver import evaluator_check
from shardboard_driver.evaluator_check import check_evaluator
from shardboard_driver.failure import RunFailure


def test_this_environment_will_do() -> None:
    check_evaluator(2)


@pytest.mark.parametrize(("found", "said"), [(None, "has no NeMo Evaluator"), ("0.2.8", "0.2.8, and 0.3 is")])
def test_an_evaluator_that_is_missing_or_another(monkeypatch: pytest.MonkeyPatch, found: str | None, said: str) -> None:
    def version(name: str) -> str:
        assert name == "nemo-evaluator"
        if found is None:
            raise PackageNotFoundError(name)
        return found

    monkeypatch.setattr(evaluator_check, "version", version)
    with pytest.raises(RunFailure, match=said) as failure:
        check_evaluator(1)
    assert failure.value.reason == "evaluator"


@pytest.mark.parametrize("has_one", [True, False])
def test_the_launcher_of_another_evaluator_is_named_when_it_has_one(
    monkeypatch: pytest.MonkeyPatch, has_one: bool
) -> None:
    monkeypatch.setattr(evaluator_check, "version", lambda _name: "0.4.0")
    if not has_one:
        monkeypatch.setattr(evaluator_check, "find_spec", lambda _name: None)
    with pytest.raises(RunFailure) as failure:
        check_evaluator(1)
    assert ("nemo_evaluator.engine.ray_launcher" in failure.value.message) == has_one


def test_scipy_is_asked_for_only_by_repeats(monkeypatch: pytest.MonkeyPatch) -> None:
    def find_spec(name: str) -> ModuleSpec | None:
        assert name == "scipy"
        return None

    monkeypatch.setattr(evaluator_check, "find_spec", find_spec)
    check_evaluator(1)
    with pytest.raises(RunFailure, match="no scipy"):
        check_evaluator(2)

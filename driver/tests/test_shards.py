"""What becomes of shards that fail. Ray is played by a table of what each attempt of a shard comes to."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from ray.exceptions import ActorDiedError, RayTaskError

from shardboard_driver import processes, shards
from shardboard_driver.answers import AnswerLog, Edition, log_path
from shardboard_driver.asker import Batch, Opened, Setup, ShardWork, StopKind
from shardboard_driver.benchmark import Benchmark
from shardboard_driver.failure import RunFailure
from shardboard_driver.key import Keys
from shardboard_driver.plan import make_plan
from shardboard_driver.rows import AnswerKey, Row, compact, to_line
from shardboard_driver.shards import EndKind, Missing, Run, run_shards
from shardboard_driver.tally import Tally

from .support import events_in, make_request

PROBLEMS = 6


@dataclass(frozen=True)
class Whole:
    """All that is left of the shard is answered."""


@dataclass(frozen=True)
class Stops:
    """The shard ends early, after so many answers."""

    kind: StopKind
    message: str = "It stopped."
    after: int = 0


@dataclass(frozen=True)
class Dies:
    """The process dies: after so many answers that were told, and so many more that were only written."""

    after: int = 0
    untold: int = 0


type Attempt = Whole | Stops | Dies

NO_ENDPOINT = Stops("endpoint", "The endpoint failed 8 times in a row.")


def row_of(position: int, key: AnswerKey) -> Row:
    problem, repeat = key
    ours = {"position": position, "outcome": "ok"}
    return {
        "problem_idx": problem,
        "repeat": repeat,
        "reward": 1.0,
        "latency_ms": 1.0,
        "tokens": 1,
        "shardboard": ours,
    }


@dataclass
class FakeRay:
    """Gives what each shard's attempts come to, in the order in which they are asked."""

    attempts: dict[int, list[Attempt]]
    shares_folder: bool = True
    opening: Exception | None = None
    asked: list[tuple[int, list[int]]] = field(default_factory=list)
    """Each attempt: the shard, and the problems that were to be asked."""
    finished: int = 0
    started: int = 0
    together: list[set[int]] = field(default_factory=list)
    """The shards that the process of each attempt had at that moment."""

    def start(self, *_: object) -> "FakeActor":
        self.started += 1
        return FakeActor(self)

    def get_runtime_context(self) -> "FakeRay":
        return self

    def get_node_id(self) -> str:
        return "node-id"

    def wait(self, refs: Sequence[Any], **_: object) -> tuple[list[Any], list[Any]]:
        return list(refs), []

    def get(self, ref: Any) -> Any:
        if isinstance(ref, list):
            return [self.get(each) for each in ref]
        value = ref()
        if isinstance(value, Exception):
            raise value
        return value


class Method:
    """A method of an actor as Ray hands it out."""

    def __init__(self, call: Callable[..., Any]) -> None:
        self.remote = call

    def options(self, **_: object) -> "Method":
        return self


class FakeActor:
    def __init__(self, ray: FakeRay) -> None:
        self._ray = ray
        self._shards: set[int] = set()
        self.open = Method(self._open)
        self.ask_shard = Method(self._ask)
        self.limit = Method(lambda _limit: None)
        self.forget = Method(lambda: None)
        self.finish = Method(self._finish)

    def _open(self, setup: Setup, _keys: Keys) -> Callable[[], Opened | Exception]:
        self._setup = setup
        opened = Opened("node", "node-id", self._ray.shares_folder)
        # Each reference is one of its own.
        return lambda: self._ray.opening or opened

    def _finish(self, _grace: float) -> None:
        self._ray.finished += 1

    def _ask(self, work: ShardWork) -> Iterator[Callable[[], Any]]:
        self._ray.asked.append((work.index, [problem for _, (problem, _) in work.questions]))
        self._shards.add(work.index)
        self._ray.together.append(set(self._shards))
        return self._batches(work, self._ray.attempts[work.index].pop(0))

    def _batches(self, work: ShardWork, attempt: Attempt) -> Iterator[Callable[[], Any]]:
        rows = [row_of(*question) for question in work.questions]
        match attempt:
            case Whole():
                yield self._batch(rows, is_last=True)
            case Stops(kind, message, after):
                yield self._batch(rows[:after])
                yield self._batch([], is_last=True, stop=(kind, message))
            case Dies(after, untold):
                yield self._batch(rows[:after])
                if untold and self._ray.shares_folder:
                    path = log_path(Path(self._setup.request.output_folder), self._setup.log)
                    with AnswerLog(path, self._setup.edition) as log:
                        log.write(to_line(rows[after]))
                yield lambda: ActorDiedError()
        self._shards.discard(work.index)

    def _batch(self, rows: list[Row], **how: Any) -> Callable[[], Batch]:
        return lambda: Batch([(compact(row), to_line(row)) for row in rows], 0, 0, 0, **how)


@dataclass
class Outcome:
    tally: Tally
    missing: dict[int, Missing]
    ray: FakeRay

    def answered(self) -> set[int]:
        return {problem for problem, _ in self.tally.answers}


type Runner = Callable[..., Outcome]


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Runner:
    def run(
        attempts: dict[int, list[Attempt]],
        *,
        endpoint_lives: bool = True,
        should_end: Callable[[], EndKind | None] = lambda: None,
        shares_folder: bool = True,
        opening: Exception | None = None,
        affordable: int | None = None,
    ) -> Outcome:
        fake = FakeRay(attempts, shares_folder, opening)
        for module in (shards, processes):
            monkeypatch.setattr(module, "ray", fake)
        monkeypatch.setattr(shards, "start_process", fake.start)
        request = make_request(tmp_path, shards=len(attempts), shuffle_seed=None)
        plan = make_plan(request, Benchmark("sums", "sums", PROBLEMS))
        tally = Tally(request, expected=PROBLEMS)
        what = Run(
            tally=tally,
            plan=plan,
            secrets=Keys(),
            keys=plan.keys,
            edition=Edition(plan.fingerprint),
            name="log",
            mark=".run",
            affordable=affordable,
            stored={},
            endpoint_lives=lambda: endpoint_lives,
            should_end=lambda _in_flight: should_end(),
        )
        missing = run_shards(what, [fake.start()], lambda: None)
        return Outcome(tally, missing, fake)

    return run


def states(captured: pytest.CaptureFixture[str], shard: int) -> list[tuple[int, str]]:
    """What was told of a shard."""
    return [
        (event["attempt"], event.get("state", "done"))
        for event in events_in(captured)
        if event["type"] in ("shard", "shard_done") and event["shard"] == shard
    ]


def test_all_good(run: Runner, capsys: pytest.CaptureFixture[str]) -> None:
    outcome = run({0: [Whole()], 1: [Whole()]})
    assert (outcome.answered(), outcome.missing) == (set(range(PROBLEMS)), {})
    assert states(capsys, 1) == [(0, "queued"), (0, "running"), (0, "done")]


def test_a_lost_shard_goes_on_in_another_process_from_what_was_told(
    run: Runner, capsys: pytest.CaptureFixture[str]
) -> None:
    outcome = run({0: [Dies(after=2), Whole()], 1: [Whole(), Whole()]})
    assert (outcome.answered(), outcome.missing) == (set(range(PROBLEMS)), {})
    assert [problems for shard, problems in outcome.ray.asked if shard == 0] == [[0, 1, 2], [2]]
    assert outcome.ray.started == 2
    failed = next(event for event in events_in(capsys) if event.get("state") == "failed")
    assert failed["message"] == "Its process died."


def test_what_a_dead_process_had_written_and_not_told_is_not_asked_again(run: Runner) -> None:
    outcome = run({0: [Dies(after=1, untold=1), Whole()]})
    assert [problems for _, problems in outcome.ray.asked] == [[0, 1, 2, 3, 4, 5], [2, 3, 4, 5]]
    assert outcome.answered() == set(range(PROBLEMS))


def test_answers_that_are_written_elsewhere_are_written_here_too(run: Runner, tmp_path: Path) -> None:
    run({0: [Whole()]}, shares_folder=False)
    [log] = (tmp_path / "answers").iterdir()
    assert len(log.read_text().splitlines()) == 1 + PROBLEMS


def test_three_times_lost_is_missing_and_the_others_go_on(run: Runner) -> None:
    outcome = run({0: [Dies(), Dies(), Dies()], 1: [Whole(), Whole()]})
    assert outcome.answered() == {3, 4, 5}
    assert outcome.missing == {0: Missing("lost", "Its process died.")}


def test_a_lost_shard_is_asked_alone(run: Runner) -> None:
    """Or a question that ends its process would take the shards beside it with it, each time."""
    outcome = run({0: [Dies(), Dies(), Dies()], 1: [Dies(), Whole()], 2: [Whole(), Whole()]})
    assert set(outcome.missing) == {0}
    again = [together for (shard, _), together in zip(outcome.ray.asked, outcome.ray.together, strict=True)]
    assert outcome.answered() == {2, 3, 4, 5}
    assert {0} in again


def test_a_broken_scorer_is_not_tried_again(run: Runner) -> None:
    outcome = run({0: [Stops("scorer", "The scorer failed.", after=1)], 1: [Whole()]})
    assert outcome.missing == {0: Missing("scorer", "The scorer failed.")}
    # What it could score is kept.
    assert outcome.answered() == {0, 3, 4, 5}


def test_a_dead_endpoint_ends_all_shards(run: Runner, capsys: pytest.CaptureFixture[str]) -> None:
    stopped = Stops("stopped")
    outcome = run({0: [NO_ENDPOINT], 1: [stopped], 2: [stopped]}, endpoint_lives=False)
    assert outcome.answered() == set()
    assert outcome.missing[0] == Missing("endpoint", NO_ENDPOINT.message)
    assert outcome.ray.finished == 1
    # Only the first has asked in vain; perhaps the others have asked nothing.
    why = "Given up because another shard found the endpoint failing."
    assert {outcome.missing[shard].message for shard in (1, 2)} == {why}
    assert {missing.kind for missing in outcome.missing.values()} == {"endpoint"}


def test_an_endpoint_that_is_back_is_asked_again(run: Runner) -> None:
    outcome = run({0: [NO_ENDPOINT, Whole()], 1: [Whole()]})
    assert (outcome.answered(), outcome.missing) == (set(range(PROBLEMS)), {})


def test_a_full_disk_ends_all_shards(run: Runner) -> None:
    outcome = run({0: [Stops("disk", "No space left on device.")], 1: [Stops("stopped")]})
    assert outcome.missing == {
        0: Missing("disk", "No space left on device."),
        1: Missing("disk", "Given up because another shard could not keep its answers."),
    }


def test_a_benchmark_that_needs_a_judge_ends_all_shards(run: Runner) -> None:
    outcome = run({0: [Stops("judge", "It needs a judge.")], 1: [Stops("stopped")]})
    assert {missing.kind for missing in outcome.missing.values()} == {"judge"}


def test_a_process_that_cannot_begin_is_tried_a_few_times(run: Runner) -> None:
    failure = RayTaskError("open", "", RunFailure("benchmark", "It could not be loaded."))  # type: ignore[no-untyped-call]
    outcome = run({0: []}, opening=failure)
    assert outcome.missing == {0: Missing("lost", "It could not be loaded.")}
    assert outcome.ray.started == shards.ATTEMPTS


@pytest.mark.parametrize("kind", ["stopped", "budget"])
def test_a_run_that_is_to_end_keeps_what_came(run: Runner, kind: EndKind) -> None:
    # It is asked before each look: the first opens the process, the second asks the shards.
    said: list[EndKind | None] = [None, None]
    outcome = run({0: [Whole()], 1: [Stops("stopped", after=2)]}, should_end=lambda: said.pop() if said else kind)
    assert outcome.answered() == {0, 1, 2, 3, 4}
    assert outcome.missing == {1: shards.ENDED[kind]}
    assert outcome.ray.finished == 1


def test_a_run_that_is_to_end_at_once_asks_nothing(run: Runner) -> None:
    outcome = run({0: [], 1: []}, should_end=lambda: "stopped")
    assert (outcome.ray.asked, set(outcome.missing)) == ([], {0, 1})


@pytest.mark.parametrize("affordable", [0, 2, 4])
def test_no_more_is_asked_than_the_budget_has_answers(run: Runner, affordable: int) -> None:
    outcome = run({0: [Whole()], 1: [Whole()]}, affordable=affordable)
    assert outcome.answered() == set(range(affordable))
    assert all(missing == shards.ENDED["budget"] for missing in outcome.missing.values())
    assert set(outcome.missing) == {shard for shard in (0, 1) if affordable < 3 * (shard + 1)}


def test_nothing_is_asked_when_everything_is_there(
    run: Runner, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Tally, "unanswered", lambda _tally, _keys: [])
    outcome = run({0: [], 1: []})
    assert (outcome.ray.asked, outcome.missing) == ([], {})

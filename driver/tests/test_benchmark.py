from pathlib import Path

import pytest

from shardboard_driver.benchmark import open_benchmark
from shardboard_driver.failure import RunFailure

HEAD = """
from nemo_evaluator.environments.base import SeedResult
from nemo_evaluator.environments.custom import benchmark, scorer
"""


def write(folder: Path, name: str, arguments: str) -> str:
    file = folder / f"{name}.py"
    file.write_text(f'{HEAD}\n@benchmark(name="{name}", {arguments})\n@scorer\ndef score(sample):\n    return {{}}\n')
    return str(file)


def test_knows_the_size_and_the_name(tmp_path: Path) -> None:
    spec = write(tmp_path, "three_rows", 'dataset=lambda: [{"q": i} for i in range(3)], prompt="{q}"')
    opened = open_benchmark(spec)
    assert (opened.name, opened.size) == ("three_rows", 3)
    # With the name: in a process that has loaded the file already, the evaluator does not find it by the file alone.
    assert open_benchmark(opened.spec).name == "three_rows"


@pytest.mark.parametrize(
    ("name", "arguments", "said"),
    [
        ("no_rows", "dataset=lambda: []", "has no problems"),
        ("no_data", 'dataset=lambda: open("/no/such/file")', "No such file"),
        (
            "pictures",
            'dataset=lambda: [{}], seed_fn=lambda row, i: SeedResult("?", "!", images=["a.png"])',
            "pictures",
        ),
        (
            "containers",
            'dataset=lambda: [{}], seed_fn=lambda row, i: SeedResult("?", "!", sandbox_spec=object())',
            "containers",
        ),
        ("bad_seed", "dataset=lambda: [{}], seed_fn=lambda row, i: 1 / 0", "ZeroDivisionError"),
    ],
)
def test_says_why_it_cannot_be_run(tmp_path: Path, name: str, arguments: str, said: str) -> None:
    with pytest.raises(RunFailure, match=said) as caught:
        open_benchmark(write(tmp_path, name, arguments))
    assert caught.value.reason == "benchmark"
    assert "Traceback" not in caught.value.message


@pytest.mark.parametrize("content", ["import no_such_module", "raise SystemExit(3)", "def broken("])
def test_a_file_that_cannot_be_imported(tmp_path: Path, content: str) -> None:
    file = tmp_path / "broken.py"
    file.write_text(content)
    with pytest.raises(RunFailure, match="could not be loaded") as caught:
        open_benchmark(str(file))
    assert caught.value.reason == "benchmark"


def test_a_name_that_does_not_exist_lists_those_that_do() -> None:
    with pytest.raises(RunFailure, match="gsm8k"):
        open_benchmark("no_such_benchmark")

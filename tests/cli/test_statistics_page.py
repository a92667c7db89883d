"""The examples of docs/statistics.md are what the commands print."""

import re
import shlex
import subprocess
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest

from convex_evals.core.distribution import checkout_root

Command = Callable[..., subprocess.CompletedProcess[str]]
EXAMPLE = re.compile(r"^```sh no-run\n(?P<script>.*?)^```\n\n```\n(?P<shown>.*?)^```$", re.MULTILINE | re.DOTALL)
RUN = re.compile(r"run ([0-9a-z]{8}) · ")


@dataclass(frozen=True)
class Example:
    commands: list[list[str]]
    shown: list[str]


def examples() -> list[Example]:
    root = checkout_root()
    assert root is not None
    page = (root / "docs" / "statistics.md").read_text()
    return [
        Example([shlex.split(line)[1:] for line in found["script"].splitlines()], found["shown"].splitlines())
        for found in EXAMPLE.finditer(page)
    ]


@pytest.fixture
def folder(tmp_path: Path, hello_suite: Callable[..., Path]) -> Path:
    hello_suite(3)
    for name, wrong in (("fair", (1, 2)), ("good", ())):
        for number in range(3):
            answer = tmp_path / name / "000-basics" / f"{number:03}-hello"
            answer.mkdir(parents=True)
            (answer / "hello.txt").write_text("hello\n")
            (answer / "to.txt").write_text("nobody\n" if number in wrong else "world\n")
    return tmp_path


def plain(lines: list[str], folder: Path) -> list[str]:
    """Without what differs from time to time: ids of runs, clock times, and where the folder is."""
    text = "\n".join(lines).replace(f"{folder}/", "")
    text = re.sub(r"(?<=run )[0-9a-z]{8}|(?<=replay:(?:fair|good) )[0-9a-z]{8}", "00000000", text)
    return re.sub(r"\b\d+:\d\d\b", "0:00", text).splitlines()


def test_there_are_examples_of_trials_a_comparison_and_until_sure() -> None:
    assert [example.commands[-1][0] for example in examples()] == ["run", "compare", "run"]


@pytest.mark.parametrize("example", examples(), ids=lambda example: " ".join(example.commands[-1]))
def test_an_example_is_what_the_commands_print(convex_evals: Command, folder: Path, example: Example) -> None:
    runs: list[str] = []
    for command in example.commands:
        names = iter(runs)
        result = convex_evals(*(next(names) if word == "RUN" else word for word in command))
        assert result.returncode == 0, result.stderr
        runs += RUN.findall(result.stdout)
    said = iter(plain([*result.stderr.splitlines(), *result.stdout.splitlines()], folder))
    for line in plain(example.shown, folder):
        assert line in said, f"{line!r} is not what {example.commands[-1]} prints there"

"""Shell blocks in the documentation are executed in a copy of the repository.

A block's first line may say ```sh no-run, or ```sh exit=0,1 to list the exit codes that are fine.
"""

import re
import subprocess
from dataclasses import dataclass
from pathlib import Path

import pytest
from tests.examples import examples

from convex_evals.cli.app import command_tree
from convex_evals.core.distribution import checkout_root

BLOCK = re.compile(r"^```sh(?P<marks>[^\n]*)\n(?P<script>.*?)^```$", re.MULTILINE | re.DOTALL)
PAGES = ("README.md", "CONTRIBUTING.md", "CHANGELOG.md", "docs/*.md")


@dataclass(frozen=True)
class Block:
    page: str
    marks: tuple[str, ...]
    script: str

    @property
    def runs(self) -> bool:
        return "no-run" not in self.marks

    @property
    def exit_codes(self) -> set[int]:
        listed = [mark.removeprefix("exit=") for mark in self.marks if mark.startswith("exit=")]
        return {int(code) for code in ",".join(listed or ["0"]).split(",")}


def pages() -> list[Path]:
    root = checkout_root()
    assert root is not None
    return [path for pattern in PAGES for path in sorted(root.glob(pattern))]


def blocks() -> list[Block]:
    return [
        Block(page.name, tuple(found["marks"].split()), found["script"])
        for page in pages()
        for found in BLOCK.finditer(page.read_text())
    ]


def name_of(block: Block) -> str:
    return f"{block.page}: {block.script.splitlines()[0]}"


@pytest.mark.parametrize(
    "block",
    examples((block for block in blocks() if block.runs), [block for block in blocks() if block.page == "README.md"]),
    ids=name_of,
)
def test_a_shell_block_runs(block: Block, ready_clone: Path) -> None:
    command = ["sh", "-e", "-c", block.script]
    result = subprocess.run(command, cwd=ready_clone, capture_output=True, text=True, timeout=280)
    assert result.returncode in block.exit_codes, result.stderr
    assert "Traceback" not in result.stderr


@pytest.mark.parametrize("block", [block for block in blocks() if not block.runs], ids=name_of)
def test_a_shell_block_that_is_not_run_names_only_commands_that_exist(block: Block) -> None:
    for name in re.findall(r"convex-evals ([a-z]\S*)", block.script):
        assert name in command_tree().commands


def test_the_readme_shows_the_first_commands_and_runs_them() -> None:
    run = [line for block in blocks() if block.runs and block.page == "README.md" for line in block.script.splitlines()]
    assert {"./convex-evals doctor", "./convex-evals validate --filter empty_functions"} <= set(run)
    shown = [line for block in blocks() if block.page == "README.md" for line in block.script.splitlines()]
    assert "./convex-evals test" in shown


@pytest.mark.parametrize("page", pages(), ids=lambda page: page.name)
def test_links_between_pages_lead_somewhere(page: Path) -> None:
    for target in re.findall(r"\]\((?!https?:)([^)#]+)\)", page.read_text()):
        assert (page.parent / target).exists(), target


def test_every_page_is_in_the_index() -> None:
    root = checkout_root()
    assert root is not None
    index = root / "docs" / "README.md"
    others = [page for page in pages() if page.parent == index.parent and page != index]
    assert len(others) > 10
    for page in others:
        assert f"]({page.name})" in index.read_text()

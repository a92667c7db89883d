from pathlib import Path

import pytest
import typer
from typer.core import TyperGroup

from convex_evals.cli.app import command_tree
from convex_evals.cli.reference import command_reference
from convex_evals.cli.tree import help_record


def contexts(context: typer.Context) -> list[typer.Context]:
    found = [context]
    if isinstance(context.command, TyperGroup):
        for name, child in context.command.commands.items():
            found += contexts(typer.Context(child, info_name=name, parent=context))
    return found


TREE = command_tree()
CONTEXTS = contexts(typer.Context(TREE, info_name="convex-evals", **TREE.context_settings))


@pytest.fixture
def page(repository: Path) -> str:
    return (repository / "docs" / "commands.md").read_text()


def test_the_page_is_current(page: str) -> None:
    assert page == command_reference(), "run scripts/docs"


@pytest.mark.parametrize("context", CONTEXTS, ids=lambda context: context.command_path)
def test_every_command_and_option_is_on_the_page_and_explained(page: str, context: typer.Context) -> None:
    section = page.partition(f"\n## {context.command_path}\n")[2].partition("\n## ")[0]
    assert context.command.help
    for parameter in context.command.get_params(context):
        record = help_record(parameter, context)
        assert record is not None and record[1], f"{parameter.name} has no help text"
        assert f"`{record[0]}`".replace("|", "\\|") in section

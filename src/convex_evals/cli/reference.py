"""The command reference in docs/commands.md, written from the live command tree by `scripts/docs`."""

from collections.abc import Iterator

import typer
from typer.core import TyperGroup

from convex_evals.cli.app import command_tree
from convex_evals.cli.tree import examples_of, help_record, text_of
from convex_evals.core.distribution import PROGRAM

INTRODUCTION = """\
# Commands

Written by `scripts/docs` from the commands themselves; a test fails when this page is out of date.

| exit code | meaning |
| --- | --- |
| 0 | done, and whatever was checked is in order |
| 1 | something that was checked is not in order |
| 2 | the command, an option or a file given to it is wrong; one sentence on standard error says what to do |
| 3 | this machine, the network or convex-evals itself failed, so there is no verdict |
| 130 | interrupted |
"""


def command_reference() -> str:
    tree = command_tree()
    return "\n".join([INTRODUCTION, *_pages(typer.Context(tree, info_name=PROGRAM, **tree.context_settings))])


def _pages(context: typer.Context) -> Iterator[str]:
    yield _page(context)
    command = context.command
    if isinstance(command, TyperGroup):
        for name in command.list_commands(context):
            child = command.get_command(context, name)
            if child is not None and not child.hidden:
                yield from _pages(typer.Context(child, info_name=name, parent=context))


def _page(context: typer.Context) -> str:
    usage = context.get_usage().removeprefix("Usage: ")
    rows = "".join(f"| `{name}` | {text} |\n" for name, text in _records(context))
    table = f"\n| option | meaning |\n| --- | --- |\n{rows}" if rows else ""
    help = context.command.help
    examples = "".join(f"{line}\n" for line in examples_of(help))
    shown = f"\n```\n{examples}```\n" if examples else ""
    return f"## {context.command_path}\n\n```\n{usage}\n```\n\n{text_of(help)}\n{shown}{table}"


def _records(context: typer.Context) -> Iterator[tuple[str, str]]:
    for parameter in context.command.get_params(context):
        record = help_record(parameter, context)
        if record is not None:
            yield record[0].replace("|", "\\|"), record[1].replace("|", "\\|")

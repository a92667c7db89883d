"""The command tree. Command modules are imported here, so they import nothing heavy themselves at the top."""

import functools
import os
import sys
from collections.abc import Mapping
from typing import Annotated, Any, Final

import typer
from typer.core import TyperGroup
from typer.main import get_command

from convex_evals import __version__
from convex_evals.cli.commands.analyze import analyze
from convex_evals.cli.commands.backend import backend
from convex_evals.cli.commands.bench import bench
from convex_evals.cli.commands.benchmark import benchmark, leaderboard
from convex_evals.cli.commands.cache import cache
from convex_evals.cli.commands.conformance import conformance
from convex_evals.cli.commands.controls import controls
from convex_evals.cli.commands.db import db
from convex_evals.cli.commands.doctor import doctor
from convex_evals.cli.commands.models import models
from convex_evals.cli.commands.run import ablate, demo, run, validate
from convex_evals.cli.commands.runs import compare, open_eval, runs, show, status
from convex_evals.cli.commands.schedule import schedule
from convex_evals.cli.commands.serve import publish, serve
from convex_evals.cli.commands.suite import list_evals, new_eval, task
from convex_evals.cli.commands.sync import sync
from convex_evals.cli.commands.test import test
from convex_evals.cli.commands.token import token
from convex_evals.cli.tree import Commands, OurGroup, write_list

SUMMARY = """Measures how well language models write Convex backends, and explains why they fail.

Examples:
  convex-evals demo
  convex-evals run -m openai/gpt-5.2
  convex-evals show latest --failed
  convex-evals serve --open
"""
SECTIONS: Final[Mapping[str, tuple[str, ...]]] = {
    "Models": ("demo", "run", "models", "ablate", "schedule", "cache"),
    "Results": (
        *("status", "show", "open", "compare", "leaderboard", "analyze", "serve", "publish", "sync", "runs"),
        *("db", "token"),
    ),
    "Evals": ("list", "task", "validate", "controls", "new-eval", "benchmark"),
    "This machine": ("doctor", "backend", "conformance", "bench", "test"),
}
"""Every command, in the order of the help."""


def show_version(asked: bool) -> None:
    if asked:
        typer.echo(f"convex-evals {__version__}")
        raise typer.Exit


def root(
    context: typer.Context,
    debug: Annotated[bool, typer.Option("--debug", help="Show the traceback when something goes wrong.")] = False,
    version: Annotated[
        bool, typer.Option("--version", help="Show the version and exit.", is_eager=True, callback=show_version)
    ] = False,
) -> None:
    if context.invoked_subcommand is not None:
        return
    if sys.stdin.isatty() and sys.stdout.isatty() and os.environ.get("TERM") != "dumb":
        from convex_evals.cli.menu import open_menu

        raise typer.Exit(open_menu())
    typer.echo(context.get_help())


class Root(OurGroup):
    def list_commands(self, ctx: Any) -> list[str]:
        return [name for names in SECTIONS.values() for name in names]

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        for title, names in SECTIONS.items():
            with formatter.section(title):
                write_list([(name, self.commands[name].get_short_help_str()) for name in names], formatter)


@functools.cache
def command_tree() -> TyperGroup:
    app = Commands(cls=Root)
    settings = {"help_option_names": ["-h", "--help"]}
    app.callback(help=SUMMARY, invoke_without_command=True, context_settings=settings)(root)
    app.command("run")(run)
    app.command("validate")(validate)
    app.add_typer(controls, name="controls")
    app.command("new-eval")(new_eval)
    app.command("status")(status)
    app.command("show")(show)
    app.command("open")(open_eval)
    app.command("compare")(compare)
    app.command("leaderboard")(leaderboard)
    app.add_typer(benchmark, name="benchmark")
    app.add_typer(analyze, name="analyze")
    app.command("serve")(serve)
    app.command("publish")(publish)
    app.command("sync")(sync)
    app.command("list")(list_evals)
    app.command("task")(task)
    app.add_typer(models, name="models")
    app.add_typer(cache, name="cache")
    app.command("ablate")(ablate)
    app.command("backend")(backend)
    app.add_typer(bench, name="bench")
    app.command("conformance")(conformance)
    app.add_typer(db, name="db")
    app.add_typer(runs, name="runs")
    app.add_typer(token, name="token")
    app.add_typer(schedule, name="schedule")
    app.command("doctor")(doctor)
    app.command("demo")(demo)
    app.command("test")(test)
    tree = get_command(app)
    assert isinstance(tree, TyperGroup)
    return tree

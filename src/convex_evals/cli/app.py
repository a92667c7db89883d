"""The command tree. Command modules are imported here, so they import nothing heavy themselves at the top."""

import sys
from typing import Annotated, Any

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
from convex_evals.cli.commands.db import db
from convex_evals.cli.commands.doctor import doctor
from convex_evals.cli.commands.models import models
from convex_evals.cli.commands.run import ablate, demo, run, validate
from convex_evals.cli.commands.runs import compare, show, status
from convex_evals.cli.commands.suite import controls, list_evals, new_eval
from convex_evals.cli.commands.test import test

SUMMARY = "Measures how well language models write Convex backends, and explains why they fail."


class QuickGroup(TyperGroup):
    """Typer's own flags (help, completion) have no default, and it loads pydantic to find out what that means."""

    def get_params(self, ctx: Any) -> list[Any]:
        parameters = super().get_params(ctx)
        for parameter in parameters:
            if getattr(parameter, "is_flag", False) and parameter.default is None:
                parameter.default = False
        return parameters


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
    if sys.stdin.isatty() and sys.stdout.isatty():
        from convex_evals.cli.menu import open_menu

        raise typer.Exit(open_menu())
    typer.echo(context.get_help())


def command_tree() -> TyperGroup:
    app = typer.Typer(cls=QuickGroup, rich_markup_mode=None, pretty_exceptions_enable=False)
    settings = {"help_option_names": ["-h", "--help"]}
    app.callback(help=SUMMARY, invoke_without_command=True, context_settings=settings)(root)
    app.command("run")(run)
    app.command("validate")(validate)
    app.command("controls")(controls)
    app.command("new-eval")(new_eval)
    app.command("status")(status)
    app.command("show")(show)
    app.command("compare")(compare)
    app.command("leaderboard")(leaderboard)
    app.add_typer(benchmark, name="benchmark")
    app.add_typer(analyze, name="analyze")
    app.command("list")(list_evals)
    app.add_typer(models, name="models")
    app.add_typer(cache, name="cache")
    app.command("ablate")(ablate)
    app.command("backend")(backend)
    app.add_typer(bench, name="bench")
    app.command("conformance")(conformance)
    app.add_typer(db, name="db")
    app.command("doctor")(doctor)
    app.command("demo")(demo)
    app.command("test")(test)
    tree = get_command(app)
    assert isinstance(tree, TyperGroup)
    return tree

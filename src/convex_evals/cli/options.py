"""Options: those that several commands share, and commands whose options are the fields of a dataclass.

Each is spelled, explained and typed once.
"""

import inspect
from collections.abc import Callable, Collection
from dataclasses import fields
from pathlib import Path
from typing import Annotated, Any, Literal, TypeVar, get_args, get_type_hints

import typer
from typer.models import OptionInfo

Options = TypeVar("Options")
Categories = Annotated[
    list[str] | None,
    typer.Option(
        "--category", "-c", metavar="CATEGORY", help="Only this category (000-fundamentals, 000 or fundamentals)."
    ),
]
Filter = Annotated[
    str | None,
    typer.Option("--filter", "-f", metavar="REGEX", help="Only evals whose category/name contains a match."),
]
Names = Annotated[
    list[str] | None, typer.Option("--name", metavar="EVAL", help="Only this eval (name or category/name, exactly).")
]
EvalsFolder = Annotated[
    Path | None,
    typer.Option("--evals", metavar="DIR", help="The suite: a folder of categories, or one that contains evals/."),
]
Json = Annotated[bool, typer.Option("--json", help="Print JSON to standard output.")]
JsonFile = Annotated[
    str | None,
    typer.Option("--json", metavar="FILE", help="Write the results as JSON to this file; - is standard output."),
]
Events = Annotated[
    str | None,
    typer.Option("--events", metavar="FILE", help="Write each event as a line of JSON; - is standard output."),
]
Db = Annotated[
    str | None,
    typer.Option(
        "--db", metavar="URL", help="The scores database: a SQLite file or postgresql://… (default: scores/scores.db)."
    ),
]
Models = Annotated[
    list[str] | None,
    typer.Option(
        "--model", "-m", metavar="MODEL", help="Run this model: provider/model, reference, replay:DIR or replay:RUN."
    ),
]
Experiment = Annotated[
    str | None, typer.Option("--experiment", "-e", metavar="NAME", help="How models are prompted (default: default).")
]
Guidelines = Annotated[
    Path | None, typer.Option("--guidelines", metavar="FILE", help="Use these guidelines instead of ours.")
]
BaseUrl = Annotated[
    str | None, typer.Option("--base-url", metavar="URL", help="Where local/NAME is served (OpenAI's chat protocol).")
]
Budget = Annotated[
    float | None,
    typer.Option("--budget", min=0, metavar="USD", help="Stop generating once this many dollars are spent."),
]
Jobs = Annotated[
    int | None, typer.Option("--jobs", "-j", min=1, help="Answers to grade in parallel (default: one per core).")
]
Trials = Annotated[int | None, typer.Option("--trials", min=1, metavar="N", help="Trials per task (default: 1).")]
Backend = Annotated[
    str | None,
    typer.Option(
        "--backend", metavar="BACKEND", help="Where to deploy: embedded, official or a URL (default: embedded)."
    ),
]
AdminKey = Annotated[
    str | None, typer.Option("--admin-key", metavar="KEY", help="The admin key of the deployment at --backend URL.")
]
AnswerFiles = Annotated[
    str | None,
    typer.Option(
        "--answer-files", metavar="GLOBS", help="Globs of the reference answer's files to use ('*.ts,package.json')."
    ),
]
PackagesBefore = Annotated[
    str | None,
    typer.Option("--packages-before", metavar="DATE", help="Install packages as of this date (default: the suite's)."),
]
LinterName = Annotated[
    Literal["oxlint", "eslint"] | None, typer.Option("--linter", help="The linter (default: oxlint).")
]
CompilerVersion = Annotated[
    Literal["7", "5.9"] | None, typer.Option("--compiler", help="The TypeScript version (default: 7).")
]
SandboxMode = Annotated[
    Literal["required", "available", "none"] | None,
    typer.Option(
        "--sandbox",
        help="Confine answers fully or refuse to grade (required), as far as possible (available) or not (none).",
    ),
]
Keep = Annotated[bool, typer.Option("--keep", help="Keep the working folder instead of deleting it.")]
Scores = Annotated[
    str | None,
    typer.Option(
        "--scores", metavar="URL", help="The scores database: a file or postgresql://… (default: scores/scores.db)."
    ),
]


def takes(
    kind: type[Options], *, without: Collection[str] = (), **instead: Any
) -> Callable[[Callable[[Options], None]], Callable[..., None]]:
    """Makes a command of a function of its options: every field of `kind` that is annotated with a typer option is one,
    in the order of the fields. `instead` has other annotations for some."""

    def decorate(function: Callable[[Options], None]) -> Callable[..., None]:
        def command(**given: Any) -> None:
            function(kind(**given))

        command.__name__, command.__doc__ = function.__name__, function.__doc__
        command.__annotations__ = {}
        command.__signature__ = inspect.Signature(_parameters(kind, without, instead))  # type: ignore[attr-defined]
        return command

    return decorate


def flag_of(kind: type[object], name: str) -> str:
    """`--model` for the field `models`."""
    option = _option(get_type_hints(kind, include_extras=True)[name])
    assert option is not None, f"{name} is no option"
    return str(option.default)  # where typer keeps the first name of an annotated option


def _parameters(kind: type[Any], without: Collection[str], instead: dict[str, Any]) -> list[inspect.Parameter]:
    hints = {**get_type_hints(kind, include_extras=True), **instead}
    return [
        inspect.Parameter(
            field.name, inspect.Parameter.KEYWORD_ONLY, default=field.default, annotation=hints[field.name]
        )
        for field in fields(kind)
        if field.name not in without and _option(hints[field.name]) is not None
    ]


def _option(annotation: Any) -> OptionInfo | None:
    return next((each for each in get_args(annotation) if isinstance(each, OptionInfo)), None)

"""Options: those that several commands share, and commands whose options are the fields of a dataclass.

Each is spelled, explained and typed once.
"""

import inspect
import os
from collections.abc import Callable, Collection
from dataclasses import MISSING, dataclass, fields
from pathlib import Path
from typing import Annotated, Any, Final, Literal, TypeVar, get_args, get_type_hints

import typer
from typer.models import ArgumentInfo, OptionInfo

from convex_evals.cli.completion import (
    complete_category,
    complete_eval,
    complete_experiment,
    complete_model,
    complete_run,
)
from convex_evals.core.errors import UsageError
from convex_evals.core.text import listed

Options = TypeVar("Options")
OPTIONS: Final = "options"
"""What a function calls the options that it `takes`."""
Shape = Literal["text", "json", "csv", "markdown", "junit"]
"""How results are printed."""


def writable(given: str | None) -> str | None:
    """Raises UsageError before any work is done whose results could not be written."""
    if given is None or given == "-":
        return given
    path = Path(given)
    if path.is_dir():
        raise UsageError(f"A file was expected to write to, but {given} is a folder.")
    if not path.parent.is_dir():
        raise UsageError(f"{given} cannot be written, because there is no folder {path.parent}.")
    if not os.access(path if path.exists() else path.parent, os.W_OK):
        raise UsageError(f"{given} cannot be written; choose another file.")
    return given


def in_existing_folder(given: str | None) -> str | None:
    """Raises UsageError for scores in a folder that does not exist, other than the default one: it may be mistyped."""
    if given is None:
        return given
    from convex_evals.scores import find_location, is_service

    path = None if is_service(given) else find_location(given).path
    if path is None or path == find_location().path or path.parent.is_dir():
        return given
    raise UsageError(f"The folder {path.parent} of --scores {given} does not exist; create it, or name another file.")


def only_one(**given: bool) -> Shape:
    """The option that was given, by name. Raises UsageError for more than one."""
    chosen = [name for name in get_args(Shape) if given.get(name)]
    if len(chosen) > 1:
        raise UsageError(f"Choose one of {listed(f'--{name}' for name in given)}.")
    return chosen[0] if chosen else "text"


Categories = Annotated[
    list[str] | None,
    typer.Option(
        "--category",
        "-c",
        metavar="CATEGORY",
        autocompletion=complete_category,
        help="Only this category (000-fundamentals, 000 or fundamentals).",
    ),
]
Filter = Annotated[
    str | None,
    typer.Option("--filter", "-f", metavar="REGEX", help="Only evals whose category/name contains a match."),
]
Names = Annotated[
    list[str] | None,
    typer.Option(
        "--name",
        metavar="EVAL",
        autocompletion=complete_eval,
        help="Only this eval (012-index_and_filter or index_and_filter).",
    ),
]
TagNames = Annotated[
    list[str] | None,
    typer.Option(
        "--tag",
        metavar="TAG",
        help="Only evals with this tag: a concept, or easy, medium or hard. Given twice: with either.",
    ),
]
EvalsFolder = Annotated[
    Path | None,
    typer.Option("--evals", metavar="DIR", help="The suite: a folder of categories, or one that contains evals/."),
]
Json = Annotated[bool, typer.Option("--json", help="Print JSON to standard output.")]
JsonFile = Annotated[
    str | None,
    typer.Option(
        "--json",
        metavar="FILE",
        callback=writable,
        help="Write the results as JSON to standard output, or to this file.",
    ),
]
Csv = Annotated[bool, typer.Option("--csv", help="Print CSV to standard output.")]
Markdown = Annotated[bool, typer.Option("--markdown", help="Print a Markdown table to standard output.")]
JunitFile = Annotated[
    str | None,
    typer.Option(
        "--junit", metavar="FILE", callback=writable, help="Write the results as JUnit XML, which CI services read."
    ),
]
Events = Annotated[
    str | None,
    typer.Option(
        "--events", metavar="FILE", callback=writable, help="Write each event as a line of JSON; - is standard output."
    ),
]


def model_option(help: str) -> Any:
    return typer.Option("--model", "-m", metavar="MODEL", autocompletion=complete_model, help=help)


def experiment_option(help: str) -> Any:
    return typer.Option("--experiment", "-e", metavar="NAME", autocompletion=complete_experiment, help=help)


def base_url_option(help: str) -> Any:
    return typer.Option("--base-url", metavar="URL", help=help)


def budget_option(help: str) -> Any:
    return typer.Option("--budget", min=0, metavar="USD", help=help)


Models = Annotated[
    list[str] | None,
    model_option(
        "Run this model: provider/model, local/NAME, sample/NAME, reference, empty, replay:DIR or replay:RUN."
    ),
]
RUN_HELP: Final = "A run id or its first characters, latest, latest:MODEL, or -1, -2 … counting back from the latest."
Run = Annotated[str, typer.Argument(metavar="RUN", autocompletion=complete_run, help=RUN_HELP)]
EVAL_OF_RUN: Final = typer.Argument(
    metavar="EVAL", autocompletion=complete_eval, help="One eval of it (name or category/name)."
)
Experiment = Annotated[str | None, experiment_option("How models are prompted (default: default).")]
Guidelines = Annotated[
    Path | None, typer.Option("--guidelines", metavar="FILE", help="Use these guidelines instead of ours.")
]
BaseUrl = Annotated[
    str | None, base_url_option("Where local/NAME is served (OpenAI's chat protocol; usually ends in /v1).")
]
Budget = Annotated[float | None, budget_option("Stop generating once this many dollars are spent.")]
Jobs = Annotated[
    int | None, typer.Option("--jobs", "-j", min=1, help="Answers to grade in parallel (default: one per core).")
]
MOST_TRIALS = 1000
"""More would tell nothing, and only planning them takes minutes."""
Trials = Annotated[
    int | None,
    typer.Option("--trials", min=1, max=MOST_TRIALS, metavar="N", help="Trials per task (default: 1)."),
]
Backend = Annotated[
    str | None,
    typer.Option(
        "--backend", metavar="BACKEND", help="Where to deploy: embedded, official or a URL (default: embedded)."
    ),
]
AdminKey = Annotated[
    str | None, typer.Option("--admin-key", metavar="KEY", help="The admin key of the deployment at --backend URL.")
]
Executor = Annotated[
    str | None,
    typer.Option(
        "--executor",
        metavar="EXECUTOR",
        help="Where to grade: local, ray (the cluster at RAY_ADDRESS) or ray://HOST:PORT (default: local).",
    ),
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
Trial = Annotated[int, typer.Option("--trial", min=1, help="Which trial of the eval.")]
Author = Annotated[str | None, typer.Option("--author", help="Your name (default: from git or the system).")]
Why = Annotated[str, typer.Option("--why", metavar="TEXT", help="The reason, in a sentence; it is recorded.")]
Keep = Annotated[bool, typer.Option("--keep", help="Keep the working folder instead of deleting it.")]
Scores = Annotated[
    str | None,
    typer.Option(
        "--scores",
        "--db",
        metavar="URL",
        callback=in_existing_folder,
        help="The scores: a file, postgresql://…, or a service at https://… to read (default: scores/scores.db).",
    ),
]
To = Annotated[
    str | None,
    typer.Option(
        "--to",
        metavar="SERVICE",
        help="A scores service: its name in convex-evals.toml, its URL, or local for none (default: CONVEX_EVAL_URL).",
    ),
]


@dataclass(frozen=True, slots=True)
class TableOptions:
    """Whose table is printed, and how."""

    json: Json = False
    csv: Csv = False
    markdown: Markdown = False
    scores: Scores = None

    @property
    def shape(self) -> Shape:
        """Raises UsageError."""
        return only_one(json=self.json, csv=self.csv, markdown=self.markdown)


def takes(
    kind: type[Options], *, only: Collection[str] | None = None, without: Collection[str] = (), **instead: Any
) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Makes a command of a function of its options: every field of `kind` that is annotated with a typer option or
    argument is one, in the order of the fields, or `only` some of them. `instead` has other annotations. What else the
    function takes (a context, arguments) comes first."""

    chosen = {field.name for field in fields(kind) if only is None or field.name in only} - set(without)  # type: ignore[arg-type]

    def decorate(function: Callable[..., None]) -> Callable[..., None]:
        hints = get_type_hints(function, include_extras=True)
        own = [
            each.replace(annotation=hints[name], kind=inspect.Parameter.KEYWORD_ONLY)
            for name, each in inspect.signature(function).parameters.items()
            if name != OPTIONS
        ]

        def command(**given: Any) -> None:
            first = {each.name: given.pop(each.name) for each in own}
            function(**first, options=kind(**given))

        command.__name__, command.__doc__ = function.__name__, function.__doc__
        command.__annotations__ = {}
        signature = inspect.Signature([*own, *_parameters(kind, chosen, instead)])
        command.__signature__ = signature  # type: ignore[attr-defined]
        return command

    return decorate


def flag_of(kind: type[object], name: str) -> str:
    """`--model` for the field `models`."""
    option = _declared(get_type_hints(kind, include_extras=True)[name])
    assert isinstance(option, OptionInfo), f"{name} is not an option"
    return str(option.default)  # where typer keeps the first name of an annotated option


def _parameters(kind: type[Any], chosen: Collection[str], instead: dict[str, Any]) -> list[inspect.Parameter]:
    hints = {**get_type_hints(kind, include_extras=True), **instead}
    return [
        inspect.Parameter(
            field.name,
            inspect.Parameter.KEYWORD_ONLY,
            default=inspect.Parameter.empty if field.default is MISSING else field.default,
            annotation=hints[field.name],
        )
        for field in fields(kind)
        if field.name in chosen and _declared(hints[field.name]) is not None
    ]


def _declared(annotation: Any) -> OptionInfo | ArgumentInfo | None:
    return next((each for each in get_args(annotation) if isinstance(each, (OptionInfo, ArgumentInfo))), None)

"""Options that several commands share, so that they are spelled and explained once."""

from pathlib import Path
from typing import Annotated, Literal

import typer

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

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
        "--db", metavar="URL", help="The scores: a SQLite file or postgresql://…; otherwise scores/scores.db."
    ),
]
Models = Annotated[
    list[str] | None,
    typer.Option(
        "--model", "-m", metavar="MODEL", help="Run this model: provider/model, reference, replay:DIR or replay:RUN."
    ),
]
Experiment = Annotated[
    str | None, typer.Option("--experiment", "-e", metavar="NAME", help="How models are asked; otherwise default.")
]
Guidelines = Annotated[
    Path | None, typer.Option("--guidelines", metavar="FILE", help="Ask with these guidelines instead of ours.")
]
BaseUrl = Annotated[
    str | None, typer.Option("--base-url", metavar="URL", help="Where local/NAME is served (OpenAI's chat protocol).")
]
Budget = Annotated[
    float | None, typer.Option("--budget", min=0, metavar="USD", help="Start no generation beyond so many dollars.")
]
Jobs = Annotated[
    int | None, typer.Option("--jobs", "-j", min=1, help="Grade so many answers at once; otherwise one per core.")
]
Trials = Annotated[int | None, typer.Option("--trials", min=1, metavar="N", help="Trials per task (default: 1).")]
Backend = Annotated[
    str | None,
    typer.Option(
        "--backend", metavar="BACKEND", help="Deploy to embedded (usual), official or the deployment at a URL."
    ),
]
AdminKey = Annotated[
    str | None, typer.Option("--admin-key", metavar="KEY", help="The admin key of the deployment at --backend URL.")
]
AnswerFiles = Annotated[
    str | None,
    typer.Option(
        "--answer-files", metavar="GLOBS", help="Which files of reference answers count ('*.ts,package.json')."
    ),
]
PackagesBefore = Annotated[
    str | None,
    typer.Option("--packages-before", metavar="DATE", help="Install packages as of this day, not the suite's."),
]
LinterName = Annotated[
    Literal["oxlint", "eslint"] | None, typer.Option("--linter", help="Lint with oxlint (usual) or eslint.")
]
CompilerVersion = Annotated[
    Literal["7", "5.9"] | None, typer.Option("--compiler", help="Check types with TypeScript 7 (usual) or 5.9.")
]
SandboxMode = Annotated[
    Literal["required", "available", "none"] | None,
    typer.Option(
        "--sandbox",
        help="Lock answers in or grade nothing (required, the default), as far as possible (available), or not (none).",
    ),
]
Keep = Annotated[bool, typer.Option("--keep", help="Keep the temporary folder with everything that was written.")]
Scores = Annotated[
    str | None,
    typer.Option("--scores", metavar="URL", help="Where results are: a file or postgresql://…; else scores/scores.db."),
]

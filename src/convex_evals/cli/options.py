"""Options that several commands share, so that they are spelled and explained once."""

from pathlib import Path
from typing import Annotated

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
Db = Annotated[
    str | None,
    typer.Option(
        "--db", metavar="URL", help="The scores: a SQLite file or postgresql://…; otherwise scores/scores.db."
    ),
]

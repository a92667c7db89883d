"""`convex-evals publish`: the pages as plain files."""

from pathlib import Path
from typing import Annotated

import typer

from convex_evals.cli.options import EvalsFolder, Scores
from convex_evals.cli.output import print_lines


def publish(
    folder: Annotated[Path, typer.Argument(metavar="FOLDER", help="Where to write; empty, or published before.")],
    runs: Annotated[
        int,
        typer.Option(
            "--runs",
            min=0,
            help="Also publish this many of the newest runs in detail (default: 0).",
            show_default=False,
        ),
    ] = 0,
    evals: EvalsFolder = None,
    scores: Scores = None,
) -> None:
    """Write the pages as plain files, for any web host or to open from the disk.

    The leaderboard is the first page. Of each model and experiment the newest complete run is published in detail. CSV
    and JSON are beside the pages. Publishing again writes only what has changed and removes what is gone.

    Examples:
      convex-evals publish site
    """
    import asyncio

    from convex_evals.cli.commands.serve import find_site_suite
    from convex_evals.cli.output import count
    from convex_evals.scores import ScoresStore
    from convex_evals.web import Site
    from convex_evals.web import publish as write_pages

    with ScoresStore.open(scores) as store:
        site = Site(store, store.deployment.name(), suite=find_site_suite(evals))
        done = asyncio.run(write_pages(site, folder, runs))
    changes = f"{done.written} written, {done.unchanged} unchanged, {done.removed} removed"
    print_lines([f"{count(done.total, 'file')} in {folder}: {changes}. Open {folder / 'index.html'}."])

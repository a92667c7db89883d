"""Commands about the pages: `serve` shows them and the scores service, `publish` writes them as plain files."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from convex_evals.cli.options import EvalsFolder, Scores
from convex_evals.cli.output import print_lines

if TYPE_CHECKING:
    from pathlib import Path

    from convex_evals.suite import Suite

Read = Literal["open", "token"]


def serve(
    host: Annotated[
        str, typer.Option("--host", metavar="ADDRESS", help="The address to listen on; 0.0.0.0 is every network.")
    ] = "127.0.0.1",
    port: Annotated[
        int | None,
        typer.Option(
            "--port", "-p", min=0, max=65535, help="The port (default: 8484, or a free one if that is taken; 0: any)."
        ),
    ] = None,
    read: Annotated[
        Read | None,
        typer.Option("--read", help="Who may read: everyone who can connect (open), or holders of a token (token)."),
    ] = None,
    name: Annotated[
        str | None,
        typer.Option("--name", metavar="NAME", help="Mark the scores as this deployment's (production, development)."),
    ] = None,
    allow_host: Annotated[
        list[str] | None,
        typer.Option("--allow-host", metavar="HOST", help="Also answer requests for this host (repeatable)."),
    ] = None,
    open_page: Annotated[bool, typer.Option("--open", help="Open the page in the browser.")] = False,
    evals: EvalsFolder = None,
    scores: Scores = None,
) -> None:
    """Show the scores as pages and serve them to programs, until interrupted.

    Without --host only this machine can connect.

    Examples:
      convex-evals serve --open
      convex-evals serve --host 0.0.0.0 --read token --name production
    """
    import asyncio

    from convex_evals.cli.output import remark
    from convex_evals.core.errors import UsageError
    from convex_evals.core.settings import read_settings
    from convex_evals.scores import ScoresStore
    from convex_evals.web import Listener, Site, announced, create_app, is_loopback, serve_until_stopped

    if read is None and not is_loopback(host):
        raise UsageError(
            f"With --host {host}, others can connect: choose who may read with --read open or --read token."
        )
    listener = Listener.open(host, port)
    if listener.moved is not None:
        remark(f"Port {listener.moved} is taken by something else, so another one is used.")
    with ScoresStore.open(scores) as store:
        if name is not None:
            store.deployment.mark(name)
        site = Site(
            store,
            store.deployment.name(),
            read or "open",
            find_site_suite(evals),
            access=listener.access(allow_host or ()),
            desk=read is None,
        )

        def on_start() -> None:
            typer.echo(f"Scores of {store.location} ({site.name}): {listener.url}")
            if open_page:
                typer.launch(listener.url)

        with announced(store, read_settings(), listener.url):
            asyncio.run(serve_until_stopped(create_app(site), listener, on_start))


def find_site_suite(evals: "Path | None") -> "Suite | None":
    """Pages show what was recorded, also where there is no suite; one that is named must be there."""
    from convex_evals.core.errors import SuiteError
    from convex_evals.suite import find_suite, load_suite

    try:
        return load_suite(find_suite(evals))
    except SuiteError:
        if evals is not None:
            raise
        return None


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

    from convex_evals.cli.output import count, progress_bar, remark
    from convex_evals.scores import ScoresStore
    from convex_evals.web import Site
    from convex_evals.web import publish as write_pages

    with ScoresStore.open(scores) as store:
        site = Site(store, store.deployment.name(), suite=find_site_suite(evals))
        try:
            with progress_bar("files") as tell:
                done = asyncio.run(write_pages(site, folder, runs, tell))
        except KeyboardInterrupt:
            remark(f"Interrupted: {folder} is not complete. The same command goes on with it.")
            raise
    changes = f"{done.written} written, {done.unchanged} unchanged, {done.removed} removed"
    print_lines([f"{count(done.total, 'file')} in {folder}: {changes}. Open {folder / 'index.html'}."])

"""`convex-evals backend`: one embedded deployment in the foreground."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Literal

import typer

LOOPBACK = ("127.0.0.1", "localhost", "::1")


def backend(
    db: Annotated[Path | None, typer.Argument(metavar="DB", help="The database file (default: in memory).")] = None,
    port: Annotated[
        int, typer.Option("--port", "-p", min=0, max=65535, help="Where clients and the CLI connect.")
    ] = 3210,
    site_proxy_port: Annotated[
        int, typer.Option("--site-proxy-port", min=0, max=65535, help="Where HTTP actions are served.")
    ] = 3211,
    instance_name: Annotated[
        str | None, typer.Option("--instance-name", metavar="NAME", help="The deployment's name, part of admin keys.")
    ] = None,
    instance_secret: Annotated[
        str | None,
        typer.Option(
            "--instance-secret",
            metavar="SECRET",
            help="The secret behind admin keys (default: random, kept in DB.secret).",
        ),
    ] = None,
    local_storage: Annotated[
        Path | None, typer.Option("--local-storage", metavar="DIR", help="The folder for uploaded files.")
    ] = None,
    convex_origin: Annotated[
        str, typer.Option("--convex-origin", metavar="URL", help="What functions read as CONVEX_CLOUD_URL.")
    ] = "",
    convex_site: Annotated[
        str, typer.Option("--convex-site", metavar="URL", help="What functions read as CONVEX_SITE_URL.")
    ] = "",
    allow_host: Annotated[
        list[str] | None,
        typer.Option("--allow-host", metavar="HOST", help="Also answer requests for this host (repeatable)."),
    ] = None,
    allow_origin: Annotated[
        list[str] | None,
        typer.Option(
            "--allow-origin", metavar="URL", help="Also allow requests from pages of this origin (repeatable)."
        ),
    ] = None,
    redact_logs_to_client: Annotated[
        bool, typer.Option("--redact-logs-to-client", help="Hide log lines and error details from clients.")
    ] = False,
    interface: Annotated[
        str,
        typer.Option("--interface", "-i", metavar="ADDRESS", help="Ignored: only this machine can connect."),
    ] = LOOPBACK[0],
    disable_beacon: Annotated[
        bool, typer.Option("--disable-beacon", help="Ignored: nothing is ever reported.")
    ] = False,
    beacon_tag: Annotated[
        str | None, typer.Option("--beacon-tag", metavar="TAG", help="Ignored: nothing is ever reported.")
    ] = None,
    do_not_require_ssl: Annotated[
        bool, typer.Option("--do-not-require-ssl", help="Ignored: the database is a file.")
    ] = False,
    node_modules: Annotated[
        Path | None,
        typer.Option(
            "--node-modules",
            metavar="DIR",
            help="Where Node.js actions find the packages that convex.json declares external.",
        ),
    ] = None,
    network: Annotated[
        Literal["none", "loopback", "internet"],
        typer.Option("--network", help="What functions may connect to: nothing, this machine or the internet."),
    ] = "loopback",
) -> None:
    """Run an embedded Convex deployment until interrupted.

    It takes the options of a local Convex backend and can replace one.

    Examples:
      convex-evals backend
      convex-evals backend --port 0 --site-proxy-port 0 data.sqlite3
    """
    import asyncio
    import errno

    from convex_evals.backend import (
        DEFAULT_NAME,
        DeploymentSettings,
        Network,
        SystemFailure,
        run_backend_in_foreground,
        secret_for,
    )
    from convex_evals.cli.output import remark
    from convex_evals.core.errors import InfrastructureError, UsageError
    from convex_evals.core.http import InvalidAddress
    from convex_evals.core.settings import read_settings
    from convex_evals.core.toolchain import find_toolchain

    if interface not in LOOPBACK:
        remark(f"Listening on {LOOPBACK[0]} instead of {interface}: only this machine can connect.")
    with _private_files():
        toolchain = asyncio.run(find_toolchain(read_settings()))
        settings = DeploymentSettings(
            port=port,
            site_port=site_proxy_port,
            database=db,
            storage=local_storage,
            instance_name=instance_name or DEFAULT_NAME,
            instance_secret=instance_secret or (secret_for(db) if db else ""),
            redact=redact_logs_to_client,
            network=Network(network),
            strict=False,
            origin=convex_origin.rstrip("/"),
            site_origin=convex_site.rstrip("/"),
            allow_hosts=tuple(allow_host or ()),
            allow_origins=tuple(allow_origin or ()),
            sdk=toolchain.packages.node_modules / "convex" if toolchain else None,
            node_modules=node_modules,
        )
        try:
            asyncio.run(run_backend_in_foreground(settings, typer.echo))
        except InvalidAddress as error:
            raise UsageError(str(error)) from error
        except SystemFailure as error:
            raise InfrastructureError(f"The deployment failed: {error}.") from error
        except OSError as error:
            if error.errno != errno.EADDRINUSE:
                raise
            raise InfrastructureError(
                f"Port {port} or {site_proxy_port} is taken; choose others with --port and --site-proxy-port (0: any)."
            ) from error


@contextmanager
def _private_files() -> Iterator[None]:
    """What the deployment stores is its user's, and nobody else's to read."""
    before = os.umask(0o077)
    try:
        yield
    finally:
        os.umask(before)

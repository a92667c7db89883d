"""`convex-evals token`: who may record, read, label and administer scores over HTTP."""

import re
from datetime import timedelta
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from convex_evals.cli.options import Json, Scores
from convex_evals.cli.tree import Commands

if TYPE_CHECKING:
    from datetime import datetime

    from convex_evals.scores import Right, TokenRecord

Deployment = Literal["production", "development"]
UNITS = {"h": timedelta(hours=1), "d": timedelta(days=1), "w": timedelta(weeks=1)}
DROP = ("last used (UTC)", "created (UTC)", "expires (UTC)")

token = Commands()


@token.callback()
def group() -> None:
    """Create, list and revoke tokens of the scores service.

    Examples:
      convex-evals token create nightly --can record --expires 90d
      convex-evals token list
      convex-evals token revoke nightly
    """


@token.command("create")
def create(
    name: Annotated[str, typer.Argument(metavar="NAME", help="The token's name, recorded with everything it does.")],
    can: Annotated[
        list[str],
        typer.Option("--can", metavar="RIGHT", help="What it allows: record, read, label or admin (repeatable)."),
    ],
    expires: Annotated[
        str | None, typer.Option("--expires", metavar="TIME", help="How long it is valid: 12h, 90d or 4w.")
    ] = None,
    deployment: Annotated[
        Deployment | None, typer.Option("--for", help="Its deployment (default: the one that these scores are).")
    ] = None,
    scores: Scores = None,
) -> None:
    """Create a token and print it once; only its hash is kept.

    `admin` includes every right; `label` includes `read`.

    Examples:
      convex-evals token create laptop --can record --can read
      convex-evals token create reader --can read --expires 30d
    """
    from convex_evals.cli.output import remark
    from convex_evals.scores import ScoresStore

    with ScoresStore.open(scores) as store:
        made = store.tokens.create(name, _rights(can), deployment, None if expires is None else _duration(expires))
    until = f", until {made.record.expires_at:%Y-%m-%d %H:%M} UTC" if made.record.expires_at else ""
    remark(f"{name} can {', '.join(can)} in {made.record.deployment}{until}. Keep it now; it is not shown again:")
    typer.echo(made.token)


@token.command("list")
def list_tokens(json: Json = False, scores: Scores = None) -> None:
    """List the tokens: what they allow, for which deployment, and when they were made, expire and were last used.

    Examples:
      convex-evals token list
    """
    from convex_evals.cli.output import print_json, print_lines, print_table, table
    from convex_evals.cli.runs.lookup import existing_scores

    with existing_scores(scores) as store:
        found = store.tokens.list()
    if json:
        print_json([_as_json(each) for each in found])
        return
    rows = table(["name", "can", "for", "state", "created (UTC)", "expires (UTC)", "last used (UTC)"], drop=DROP)
    for each in found:
        moments = (each.created_at, each.expires_at, each.used_at)
        rows.add_row(each.name, ", ".join(each.rights), each.deployment, _state(each), *map(_moment, moments))
    if found:
        print_table(rows)
    else:
        print_lines(["There is no token yet; `convex-evals token create NAME --can read` makes one."])


@token.command("revoke")
def revoke(
    name: Annotated[str, typer.Argument(metavar="NAME", help="The token's name.")], scores: Scores = None
) -> None:
    """Revoke a token. Every server on these scores refuses it from then on.

    Examples:
      convex-evals token revoke laptop
    """
    from convex_evals.cli.runs.lookup import existing_scores

    with existing_scores(scores) as store:
        store.tokens.revoke(name)
    typer.echo(f"{name} is revoked.")


def _rights(given: list[str]) -> list["Right"]:
    from convex_evals.core.errors import UsageError
    from convex_evals.scores import RIGHTS

    unknown = next((right for right in given if right not in RIGHTS), None)
    if unknown is not None:
        raise UsageError(f"--can must be {', '.join(RIGHTS[:-1])} or {RIGHTS[-1]}, not {unknown!r}.")
    return [right for right in RIGHTS if right in given]


def _duration(text: str) -> timedelta:
    from convex_evals.core.errors import UsageError

    found = re.fullmatch(r"([1-9]\d{0,4})([hdw])", text, re.ASCII)
    if found is None:
        raise UsageError(f"--expires must be a number of hours, days or weeks such as 12h, 90d or 4w, not {text!r}.")
    return int(found[1]) * UNITS[found[2]]


def _state(each: "TokenRecord") -> str:
    from datetime import UTC, datetime

    if each.revoked_at is not None:
        return "revoked"
    return "expired" if each.expires_at is not None and each.expires_at <= datetime.now(UTC) else "valid"


def _moment(moment: "datetime | None") -> str:
    return "" if moment is None else f"{moment:%Y-%m-%d %H:%M}"


def _as_json(each: "TokenRecord") -> dict[str, object]:
    moments = {"created": each.created_at, "expires": each.expires_at, "lastUsed": each.used_at}
    return {
        "name": each.name,
        "rights": list(each.rights),
        "deployment": each.deployment,
        "state": _state(each),
        **{name: moment and moment.isoformat() for name, moment in moments.items()},
        "revoked": each.revoked_at and each.revoked_at.isoformat(),
    }

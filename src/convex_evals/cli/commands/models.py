"""`convex-evals models`: which models there are, and whether one can be asked."""

from typing import Annotated

import typer

from convex_evals.cli.options import BaseUrl, EvalsFolder, Json, Scores

models = typer.Typer(help="List models.", rich_markup_mode=None, pretty_exceptions_enable=False)


@models.callback(invoke_without_command=True)
def list_models(context: typer.Context, evals: EvalsFolder = None, json: Json = False, scores: Scores = None) -> None:
    """List models: whether there is a key for each, its last score, and its tags.

    The last score is that of the latest complete run of the suite as it is today; runs of some evals have none.
    Listed are those of convex-evals, of ./models.toml, and others that have runs. docs/adding-a-model.md says how to
    add one.
    """
    from convex_evals.cli import models as listed
    from convex_evals.cli.output import print_json
    from convex_evals.core.settings import read_settings
    from convex_evals.models import load_registry

    if context.invoked_subcommand is not None:
        return
    found = listed.list_models(load_registry(), read_settings(), scores, evals)
    if json:
        print_json({"models": [listed.listed_json(each) for each in found]})
    else:
        listed.print_models(found)


@models.command("check")
def check(
    slug: Annotated[str, typer.Argument(metavar="SLUG", help="The model, as provider/model.")],
    base_url: BaseUrl = None,
    name: Annotated[
        str, typer.Option("--name", metavar="EVAL", help="The eval to run.")
    ] = "000-fundamentals/000-empty_functions",
    evals: EvalsFolder = None,
    json: Json = False,
    scores: Scores = None,
) -> None:
    """Check that a model works: one tiny request, then one eval from start to finish.

    The exit code is 0 when both were answered, whether or not the eval passed, 2 when a key or an address is missing,
    and 3 when there is no answer.
    """
    from convex_evals.cli.models import Check, check_model
    from convex_evals.cli.output import print_json
    from convex_evals.core.settings import read_settings
    from convex_evals.models import load_registry

    entry = load_registry().find(slug)
    result, code = check_model(Check(entry, base_url, name, evals, scores), read_settings())
    if json:
        print_json(result)
    raise typer.Exit(code)

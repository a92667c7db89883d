"""`convex-evals models`: which models there are, and whether one can be asked."""

from typing import Annotated

import typer

from convex_evals.cli.completion import complete_eval, complete_model, complete_provider
from convex_evals.cli.options import BaseUrl, EvalsFolder, Json, JsonFile, Scores
from convex_evals.cli.tree import Commands

models = Commands()


@models.callback(invoke_without_command=True)
def all_models(context: typer.Context, evals: EvalsFolder = None, json: Json = False, scores: Scores = None) -> None:
    """List models, check one, or discover new ones. Without a command it lists them.

    Examples:
      convex-evals models list
      convex-evals models check openai/gpt-5.2
      convex-evals models discover --since 2026-10-01
    """
    if context.invoked_subcommand is None:
        list_models(evals, json, scores)


@models.command("list")
def list_models(evals: EvalsFolder = None, json: Json = False, scores: Scores = None) -> None:
    """List models: whether there is a key for each, its last score, and its tags.

    The last score is that of the latest complete run of the suite as it is today; partial runs have no score.
    Lists built-in models, those in ./models.toml, and any others that have runs. docs/adding-a-model.md says how to add
    one.

    Examples:
      convex-evals models list
    """
    from convex_evals.cli import models as listed
    from convex_evals.cli.output import print_json
    from convex_evals.core.settings import read_settings
    from convex_evals.models import load_registry

    found = listed.list_models(load_registry(), read_settings(), scores, evals)
    if json:
        print_json({"models": [listed.listed_json(each) for each in found]})
    else:
        listed.print_models(found)


@models.command("check")
def check(
    slug: Annotated[
        str, typer.Argument(metavar="SLUG", autocompletion=complete_model, help="The model, as provider/model.")
    ],
    base_url: BaseUrl = None,
    name: Annotated[
        str, typer.Option("--name", metavar="EVAL", autocompletion=complete_eval, help="The eval to run.")
    ] = "000-fundamentals/000-empty_functions",
    evals: EvalsFolder = None,
    json: JsonFile = None,
    scores: Scores = None,
) -> None:
    """Check that a model works: one tiny request, then one eval from start to finish.

    The exit code is 0 when both were answered, whether or not the eval passed, 2 when a key or an address is missing,
    and 3 when there is no answer.

    Examples:
      convex-evals models check openai/gpt-5.2
      convex-evals models check local/qwen3 --base-url http://127.0.0.1:8080/v1
    """
    from convex_evals.cli.models import Check, check_model
    from convex_evals.cli.output import write_json
    from convex_evals.core.settings import read_settings
    from convex_evals.models import load_registry

    entry = load_registry().find(slug)
    result, code = check_model(Check(entry, base_url, name, evals, scores), read_settings())
    if json is not None:
        write_json(result, json)
    raise typer.Exit(code)


@models.command("discover")
def discover(
    provider: Annotated[
        list[str] | None,
        typer.Option(
            "--provider",
            metavar="NAME",
            autocompletion=complete_provider,
            help="Ask only this provider (default: all with a key).",
        ),
    ] = None,
    since: Annotated[
        str | None, typer.Option("--since", metavar="DATE", help="Only models released on or after this date.")
    ] = None,
    json: Json = False,
) -> None:
    """Show models that providers list and that are not in the registry, as entries for ./models.toml.

    OpenRouter and every provider with OpenAI's list of models can be asked. Nothing is added; append what you want to
    ./models.toml. The exit code is 3 when a provider does not answer.

    Examples:
      convex-evals models discover --since 2026-11-01
    """
    from convex_evals.cli.models import discover_models
    from convex_evals.core.settings import read_settings
    from convex_evals.models import load_registry

    raise typer.Exit(discover_models(load_registry(), read_settings(), provider or (), since, json))

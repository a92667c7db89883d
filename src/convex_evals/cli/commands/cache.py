"""`convex-evals cache`: responses that were paid for."""

from typing import Annotated

from convex_evals.cli.options import Json, model_option
from convex_evals.cli.tree import Commands

cache = Commands()


@cache.callback()
def group() -> None:
    """Manage the response cache: what models answered, kept so that nothing is paid for twice.

    Examples:
      convex-evals cache list
      convex-evals cache clear -m openai/gpt-5.2
    """


@cache.command("list")
def list_cached(json: Json = False) -> None:
    """List cached responses by model and their size, and the size of cached packages.

    Examples:
      convex-evals cache list
    """
    from convex_evals.cli.output import count, print_json, print_lines, print_table, remark, table
    from convex_evals.core.settings import read_settings
    from convex_evals.core.toolchain import PROJECTS_QUOTA, PackageCache
    from convex_evals.models import ResponseCache

    settings = read_settings()
    found = ResponseCache.of(settings, remark)
    summaries = found.summaries()
    packages = PackageCache(settings.cache_folder / "projects")
    sets = packages.sets()
    taken = sum(each.size.bytes for each in sets)
    if json:
        models = [
            {"model": each.model, "responses": each.responses, "bytes": each.size, "newest": each.newest.isoformat()}
            for each in summaries
        ]
        shelved = {"folder": str(packages.root), "sets": len(sets), "bytes": taken, "quota": PROJECTS_QUOTA}
        print_json({"folder": str(found.folder), "models": models, "packages": shelved})
        return
    rows = table(["model", "responses", "kB", "newest (UTC)"], drop=("newest (UTC)", "kB"))
    for each in summaries:
        rows.add_row(each.model, str(each.responses), f"{each.size / 1000:,.0f}", f"{each.newest:%Y-%m-%d %H:%M}")
    if summaries:
        print_table(rows)
    responses = count(sum(each.responses for each in summaries), "response")
    size = f"{taken / 1e6:,.0f} of {PROJECTS_QUOTA / 1e6:,.0f} MB"
    kept = f"{count(len(sets), 'set')} of packages in {packages.root}: {size}; the least recently used go first"
    print_lines([f"{responses} in {found.folder}", kept])


@cache.command("clear")
def clear(
    model: Annotated[str | None, model_option("Only responses of this model.")] = None,
) -> None:
    """Remove cached responses. Stored results stay.

    Examples:
      convex-evals cache clear -m openai/gpt-5.2
    """
    from convex_evals.cli.output import count, print_lines, remark
    from convex_evals.core.errors import UsageError
    from convex_evals.core.settings import read_settings
    from convex_evals.models import ResponseCache

    found = ResponseCache.of(read_settings(), remark)
    models = [each.model for each in found.summaries()]
    if model is not None and model not in models:
        raise UsageError(f"The cache has nothing of {model!r}; it has: {', '.join(models) or 'nothing at all'}.")
    print_lines([f"{count(found.clear(model), 'response')} removed from {found.folder}"])

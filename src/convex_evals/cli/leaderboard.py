"""The leaderboard: read from scores, shown as lines for people, as CSV and Markdown."""

from collections.abc import Iterator

from convex_evals.cli.output import count, csv_text, markdown_table, table, table_lines, visible
from convex_evals.cli.runs.summaries import short_interval_text
from convex_evals.core.errors import UsageError
from convex_evals.core.ids import prefix
from convex_evals.core.text import points
from convex_evals.runner import (
    NO_TAGS,
    UNMINTED,
    Guidelines,
    Leaderboard,
    RankedModel,
    TagsOfEvals,
    current_benchmark,
    find_benchmark,
    read_leaderboard,
    tag_names,
)
from convex_evals.scores import RemoteScores, ScoresStore
from convex_evals.statistics import Score

NAMED = 5
METHOD = (
    "score: mean over evals of the pass rate; interval: Wilson for one trial of each, else Student's t over evals; "
    "rank: all pairs, Holm at 5%"
)
NOT_MINTED = (
    "No benchmark version is minted, so nothing is ranked officially: these are complete runs that were asked and "
    "graded alike. `convex-evals validate`, then `convex-evals benchmark mint v1` makes a version."
)
HEADINGS = ("rank", "model", "score", "95% interval", "runs", "cost", "generation")
COLUMNS = (
    "rank_best",
    "rank_worst",
    "model",
    "score",
    "low",
    "high",
    "evals",
    "trials",
    "runs",
    "cost_usd",
    "cost_unknown",
)


def find_leaderboard(
    store: ScoresStore, benchmark: str | None, experiment: str, tags: TagsOfEvals = NO_TAGS
) -> Leaderboard:
    """Of the newest version unless one is named; of the newest complete run if none is minted.

    A service ranks its runs itself, so that not all of them are sent.
    """
    version = find_benchmark(store, benchmark)
    if isinstance(store, RemoteScores):
        named = {"benchmark": version.name} if version else {}
        return store.reader.one(Leaderboard, "/leaderboard", {**named, "experiment": experiment})
    version = version or current_benchmark(store)
    if version is None:
        raise UsageError(
            "No run can be ranked: no benchmark version is minted, and no complete run could stand in for one; "
            "`convex-evals run -m MODEL` without a filter makes one."
        )
    return read_leaderboard(store, version, experiment, tags)


def leaderboard_lines(found: Leaderboard, *, by_tag: bool = False) -> Iterator[str]:
    version = found.benchmark
    yield f"benchmark {version.name} · {count(len(version.evals), 'eval')} · experiment {found.experiment}"
    if version.name == UNMINTED:
        yield NOT_MINTED
    if not found.standings:
        yield "No complete run belongs to it yet."
    else:
        yield from standing_lines(found)
        yield METHOD
        if by_tag:
            yield from _tag_lines(found)
    if found.guidelines is not None:
        yield _guidelines_line(found.guidelines)
    for left in found.left_out[:NAMED]:
        yield f"not ranked: run {prefix(left.run.id)} of {visible(left.run.model)}: {left.why}"
    if len(found.left_out) > NAMED:
        yield f"not ranked: {count(len(found.left_out) - NAMED, 'more run')} (--json lists them)"


def standing_lines(found: Leaderboard) -> Iterator[str]:
    rows = table(HEADINGS, drop=("generation", "cost", "runs"))
    for each in found.standings:
        rows.add_row(*_row(each))
    yield from table_lines(rows)


def _tag_lines(found: Leaderboard) -> Iterator[str]:
    names = tag_names(found.standings)
    if not names:
        yield "No eval of this version has a tag in the suite at hand."
        return
    rows = table(_tag_headings(found))
    for name in names:
        rows.add_row(*_tag_row(found, name))
    yield ""
    yield from table_lines(rows)


def _tag_headings(found: Leaderboard) -> tuple[str, ...]:
    return ("tag", "evals", *(visible(each.ranked.name) for each in found.standings))


def _tag_row(found: Leaderboard, name: str) -> tuple[str, ...]:
    """The scores of all models with their intervals: most tags have a few evals only."""
    scores = [each.tags.get(name) for each in found.standings]
    evals = max(scored.evals for scored in scores if scored)
    return (name, str(evals), *("–" if scored is None else short_interval_text(scored) for scored in scores))


def leaderboard_csv(found: Leaderboard, *, by_tag: bool = False) -> str:
    """With a column for the score at each tag, if that is asked for."""
    names = tag_names(found.standings) if by_tag else ()
    rows = ((*_csv_row(each), *(_rounded(each.tags.get(name)) for name in names)) for each in found.standings)
    return csv_text((*COLUMNS, *(f"tag:{name}" for name in names)), rows)


def _rounded(scored: Score | None) -> str:
    return "" if scored is None else f"{scored.value:.4f}"


def leaderboard_markdown(found: Leaderboard, *, by_tag: bool = False) -> str:
    """With a second table, of the tags, if that is asked for."""
    ranking = markdown_table(HEADINGS, map(_row, found.standings))
    names = tag_names(found.standings) if by_tag else ()
    tags = markdown_table(_tag_headings(found), (_tag_row(found, name) for name in names)) if names else ""
    return f"{ranking}\n{tags}" if tags else ranking


def _csv_row(each: RankedModel) -> tuple[object, ...]:
    scored = each.ranked.score
    interval = (f"{scored.interval.low:.4f}", f"{scored.interval.high:.4f}")
    cost = "" if each.cost.value is None else f"{each.cost.value:.4f}"
    counts = (scored.evals, scored.trials, len(each.runs), cost, each.cost.unknown)
    return (each.ranked.best, each.ranked.worst, each.ranked.name, f"{scored.value:.4f}", *interval, *counts)


def _guidelines_line(found: Guidelines) -> str:
    worth = found.worth
    interval = f"95% interval {points(worth.interval.low)} to {points(worth.interval.high)}"
    told = f"guidelines are worth {points(worth.difference)} points ({interval}, p = {worth.p:.3g})"
    return f"{told} over {count(len(found.models), 'model')} and {count(worth.evals, 'eval')}, paired by eval"


def _row(each: RankedModel) -> tuple[str, ...]:
    scored = each.ranked.score
    interval = f"{scored.interval.low:.1%} to {scored.interval.high:.1%}"
    name = visible(each.ranked.name)
    spread = "" if each.spread is None else f" (spread {each.spread * 100:.1f})"
    runs = f"{len(each.runs)}{spread}"
    return (each.ranked.rank, name, f"{scored.value:.1%}", interval, runs, _cost(each), _time(each))


def _cost(each: RankedModel) -> str:
    """Of one run of the suite."""
    if each.cost.value is None:
        return "unknown" if each.cost.unknown else "–"
    return f"${each.cost.value:.2f}" if not each.cost.unknown else f"≥ ${each.cost.value:.2f}"


def _time(each: RankedModel) -> str:
    return "–" if each.generation is None else f"{each.generation.median / 1000:.1f} s"

"""What is said when a run is over, and what asking took or is going to take. What is not known is never shown as 0."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Final

from convex_evals.cli.output import count, table, table_lines, visible
from convex_evals.cli.progress import clock_time
from convex_evals.cli.runs.lookup import can_resume
from convex_evals.core.ids import prefix
from convex_evals.core.steps import StepResult
from convex_evals.core.text import shortened
from convex_evals.models import CHARACTERS_PER_TOKEN
from convex_evals.runner import (
    NOT_SCORES,
    VALIDATE,
    Estimate,
    RunScore,
    Spending,
    Standing,
    Sum,
    TagsOfEvals,
    by_difficulty,
    dollars,
    tallies,
)
from convex_evals.scores import AttemptDetails, AttemptRecord, AttemptStatus, RunRecord, ScoresStore
from convex_evals.statistics import Repeats, Score, Tally

UNKNOWN = "unknown"
LONGEST_REASON = 120
MOST_NAMED = 5
NOT_SEEN = "`convex-evals doctor` says what is missing to see them"
MISSED: Final[tuple[AttemptStatus, ...]] = ("failed", "skipped", "infrastructure")


def spending_line(spending: Spending) -> str | None:
    """None: no provider was asked, so there is nothing to say."""
    if not spending.asked and not spending.cached:
        return None
    parts = [_tokens(spending), f"cost {cost_text(spending)}"] if spending.asked else ["nothing was asked"]
    if spending.cached:
        parts.append(f"{count(spending.cached, 'answer')} from the cache, not paid for again")
    return " · ".join(parts)


def cost_text(spending: Spending) -> str:
    """`$0.42 (provider)`, `at least $0.42 (estimated; 2 of 9 unknown)`, `unknown`; empty when nobody was asked."""
    cost = spending.cost
    if not spending.asked:
        return ""
    if cost.value is None:
        return UNKNOWN
    sources = " and ".join(spending.sources)
    if not cost.unknown:
        return f"{dollars(cost.total)} ({sources})"
    return f"at least {dollars(cost.total)} ({sources}; {cost.unknown} of {cost.known + cost.unknown} unknown)"


def spending_json(spending: Spending) -> dict[str, Any]:
    """`usage` and `cost` of a whole run; null is "not known", and `…Unknown` says of how many answers it is not."""
    return {
        "usage": {
            "asked": spending.asked,
            "fromCache": spending.cached,
            "inputTokens": spending.input.value,
            "cachedTokens": spending.cached_input.value,
            "outputTokens": spending.output.value,
            "reasoningTokens": spending.reasoning.value,
            "unknown": max(spending.input.unknown, spending.output.unknown),
        },
        "cost": spending.cost.value,
        "costSource": " and ".join(spending.sources) or UNKNOWN,
        "costUnknown": spending.cost.unknown,
    }


def estimate_lines(estimate: Estimate) -> Iterator[str]:
    """What would be asked, what it would take, and how that is known."""
    name = estimate.model if estimate.experiment == "default" else f"{estimate.model} · {estimate.experiment}"
    asked = [f"{count(estimate.asked, 'answer')} to ask for"]
    asked += [f"{estimate.cached} in the cache"] if estimate.cached else []
    asked += [f"{estimate.stored} stored"] if estimate.stored else []
    if not estimate.asked:
        yield f"{name}: {', '.join(asked)}; it costs nothing"
        return
    tokens = f"about {estimate.input_tokens:,} tokens in, {estimate.output_tokens:,} out"
    yield f"{name}: {', '.join(asked)} · {tokens} · {estimate_cost_text(estimate)}"
    yield f"  estimated: {CHARACTERS_PER_TOKEN} characters of a prompt are a token; {estimate.basis.shown}"


def estimate_cost_text(estimate: Estimate) -> str:
    return "price unknown" if estimate.cost_usd is None else f"about {dollars(estimate.cost_usd)}"


def estimate_json(estimate: Estimate) -> dict[str, Any]:
    return {
        "model": estimate.model,
        "experiment": estimate.experiment,
        "asked": estimate.asked,
        "fromCache": estimate.cached,
        "stored": estimate.stored,
        "inputTokens": estimate.input_tokens,
        "outputTokens": estimate.output_tokens,
        "cost": estimate.cost_usd,
        "outputBasis": {"tokens": estimate.basis.tokens, "generations": estimate.basis.generations},
    }


def _tokens(spending: Spending) -> str:
    inside = _part(spending.cached_input, "cached")
    outside = _part(spending.reasoning, "reasoning")
    return f"{_figure(spending.input)} tokens in{inside}, {_figure(spending.output)} out{outside}"


def _part(sum_: Sum, name: str) -> str:
    return f" ({_figure(sum_)} {name})" if sum_.total else ""


def _figure(sum_: Sum) -> str:
    if sum_.value is None:
        return UNKNOWN
    return f"at least {sum_.total:,.0f}" if sum_.unknown else f"{sum_.total:,.0f}"


def summary_lines(store: ScoresStore, run: RunRecord, tags: TagsOfEvals) -> Iterator[str]:
    """What did not pass and why, the counts and the score, what asking took, and what to do next."""
    results = store.results(run.id)
    missed = store.result_details(run.id, statuses=MISSED)
    yield from _missed_lines(missed, results, run)
    yield from scored_lines(run, RunScore.of(run, results))
    yield from difficulty_lines(run, results, tags)
    if (unseen := unseen_line(store, run)) is not None:
        yield unseen
    spent = spending_line(Spending.of_run(store, run.id))
    if spent is not None:
        yield spent
    if run.reason is not None and run.reason != "interrupted":
        yield f"It ended early. {visible(run.reason)}"
    yield from _next_lines(store, run, missed)


def unseen_line(store: ScoresStore, run: RunRecord) -> str | None:
    """None: every page was looked at."""
    unseen = store.passed_unseen(run.id)
    if not unseen:
        return None
    return f"{count(len(unseen), 'eval')} passed without a look at the pages ({named(unseen, 2)}); {NOT_SEEN}"


def _next_lines(store: ScoresStore, run: RunRecord, missed: Sequence[AttemptDetails]) -> Iterator[str]:
    this = prefix(run.id)
    if missed:
        first = missed[0].attempt
        trial = f" --trial {first.trial}" if first.trial > 1 else ""
        name = short_name(first.eval, (each.eval for each in store.planned(run.id)))
        yield f"`convex-evals show {this} {name}{trial}` shows everything about the first of them."
    if run.counts.failed and not NOT_SCORES & set(run.labels):
        yield f"`convex-evals analyze {this}` explains the failures; `convex-evals serve` shows them in a browser."
    if can_resume(store, run):
        yield f"`convex-evals run --resume {this}` continues what has no verdict."


def _missed_lines(missed: Sequence[AttemptDetails], results: Sequence[AttemptRecord], run: RunRecord) -> Iterator[str]:
    """One line per eval: how many of several trials passed, and why the first of the others did not."""
    trials = Counter(result.eval for result in results)
    lost = Counter(details.attempt.eval for details in missed)
    first = {details.attempt.eval: details for details in reversed(missed)}
    several = run.counts.total > run.evals
    passed = {
        name: f" (passed {trials[name] - lost[name]} of {trials[name]} trials)" if several else "" for name in lost
    }
    names = {name: f"{name}{passed[name]}" for name in lost}
    rows = table(("eval", "why"), fold="why")
    for name, shown in names.items():
        rows.add_row(f"  {shown}", reason(first[name]))
    yield from table_lines(rows)[1:]


def short_name(eval: str, others: Iterable[str]) -> str:
    """Its name without the category, if no other eval has the same, so that a command line with it is short."""
    name = eval.partition("/")[2]
    return name if sum(each.partition("/")[2] == name for each in others) == 1 else eval


def scored_lines(run: RunRecord, found: RunScore) -> Iterator[str]:
    """The headline with the score; what several trials say has a line of its own, and one for flaky evals."""
    if found.score is None or NOT_SCORES & set(run.labels):
        yield headline(run)
    elif found.repeats is None:
        yield f"{headline(run)} · pass rate {interval_text(found.score)}"
    else:
        yield headline(run)
        yield f"pass@1 {interval_text(found.score)} · {repeats_text(found.repeats, run.evals)}"
    if found.flaky and VALIDATE not in run.labels:
        yield f"flaky: {named(found.flaky)}"


def difficulty_lines(run: RunRecord, results: Iterable[AttemptRecord], tags: TagsOfEvals) -> Iterator[str]:
    """`by difficulty: easy 60 of 69 passed, hard 1 of 5`, where an eval of the run has a difficulty."""
    groups = by_difficulty(tallies(results, run.trials), tags)
    if groups and not NOT_SCORES & set(run.labels):
        yield difficulty_text({name: passed_text(group.values()) for name, group in groups.items()})


def difficulty_text(counts: Mapping[str, str]) -> str:
    first, *others = (f"{name} {each}" for name, each in counts.items())
    return f"by difficulty: {', '.join([f'{first} passed', *others])}"


def passed_text(found: Iterable[Tally]) -> str:
    """`60 of 69`: trials that passed, of those with a verdict."""
    tallies = tuple(found)
    return f"{sum(each.passed for each in tallies)} of {sum(each.trials for each in tallies)}"


def interval_text(found: Score) -> str:
    return f"{found.value:.1%} ({found.interval.low:.1%} to {found.interval.high:.1%})"


def short_interval_text(found: Score) -> str:
    """For the cell of a table: `92.4% (83% to 97%)`."""
    return f"{found.value:.1%} ({found.interval.low:.0%} to {found.interval.high:.0%})"


def repeats_text(found: Repeats, evals: int) -> str:
    """`pass@2 95.5% · pass^2 86.4% · 6 of 66 evals flaky`."""
    k, flaky = found.trials, found.flakiness
    known = "" if found.evals == evals else f" (of {found.evals} evals with {k} verdicts)"
    parts = [f"pass@{k} {found.pass_at:.1%}", f"pass^{k} {found.pass_all:.1%}{known}"]
    return " · ".join([*parts, f"{len(flaky.flaky)} of {count(flaky.repeated, 'eval')} flaky"])


def named(names: Sequence[str], most: int = MOST_NAMED) -> str:
    more = f" and {len(names) - most} more" if len(names) > most else ""
    return ", ".join(names[:most]) + more


def headline(run: RunRecord) -> str:
    parts = [f"run {prefix(run.id)}", run.model, *([] if run.experiment == "default" else [run.experiment])]
    parts.append(counted(run))
    if run.finished_at is not None:
        parts.append(clock_time(run.worked.total_seconds()))
    return " · ".join(parts)


def labels_text(run: RunRecord) -> str:
    """What was said about the run: `baseline, hidden`."""
    return visible(", ".join([*run.labels, *(["hidden"] if run.hidden else [])]))


def counted(run: RunRecord) -> str:
    """`61 of 66 passed, 5 failed`; with several trials `66 evals × 2 trials: 120 of 132 trials passed, 12 failed`."""
    counts = run.counts
    text = f"{counts.passed} of {counts.total} passed, {counts.failed} failed"
    if counts.total != run.evals:
        of_trials = f"{counts.passed} of {count(counts.total, 'trial')} passed, {counts.failed} failed"
        text = f"{planned_text(run)}: {of_trials}"
    if counts.infrastructure:
        text += f", {counts.infrastructure} without verdict"
    return f"{text}, {counts.remaining} not done" if counts.remaining else text


def planned_text(run: RunRecord) -> str:
    """`66 evals`, `66 evals × 2 trials`, or with some trials more `66 evals, 80 trials`."""
    evals, total = count(run.evals, "eval"), run.counts.total
    if total == run.evals:
        return evals
    return f"{evals} × {run.trials} trials" if total == run.evals * run.trials else f"{evals}, {total} trials"


def reason(details: AttemptDetails) -> str:
    """Why an attempt did not pass, in one line: the step, the tests, the beginning of the excerpt."""
    attempt, decisive = details.attempt, decisive_step(details)
    said = attempt.broken or (decisive.cause if decisive else "") or "; ".join(attempt.notes) or attempt.failure or ""
    first = " · ".join([line.strip() for line in said.splitlines() if line.strip()][:2])
    tests = f" {attempt.tests.passed}/{attempt.tests.total}" if attempt.failed_step == "tests" and attempt.tests else ""
    where = "broken" if attempt.broken else decisive.name if decisive else attempt.status
    short = shortened(first, LONGEST_REASON)
    return visible(f"{where}{tests}: {short}" if short else f"{where}{tests}")


def decisive_step(details: AttemptDetails) -> StepResult | None:
    """The one that an attempt has its status from."""
    return next((step for step in details.steps if step.status == details.attempt.status), None)


def standing(found: Standing | None) -> str:
    if found is None:
        return "not run"
    if found.verdicts > 1:
        step = f", failed at {found.failed_step}" if found.failed else ""
        return f"{found.passed}/{found.verdicts} passed{step}"
    if not found.verdicts:
        return "no verdict"
    return "passed" if found.passed else f"failed at {found.failed_step}"

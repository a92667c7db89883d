"""Carries out `ablate`: plans or resumes the runs of an ablation, compares them, and prints what each part is worth."""

import sys
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import Any, Final, Self, TextIO, cast

from convex_evals.cli.main import INTERRUPTED
from convex_evals.cli.output import count, print_lines, print_table, remark, table, table_lines, write_json
from convex_evals.cli.runs.command import open_scores
from convex_evals.cli.runs.options import AblationOptions, RunOptions
from convex_evals.cli.runs.plans import Prepared, prepare_request
from convex_evals.cli.runs.session import Session, carry_out_plans
from convex_evals.cli.runs.summaries import cost_text, estimate_cost_text, estimate_json, planned_text
from convex_evals.core.errors import InfrastructureError, UsageError
from convex_evals.core.ids import PREFIX_LENGTH, new_id, prefix
from convex_evals.core.settings import Settings, read_settings
from convex_evals.models import Connections, ProviderModel, Variant, VariantKind, find_model, plan_variants
from convex_evals.runner import ABLATION, Estimate, Plan, Spending, dollars, plan_rest, plan_run, suite_of, tallies
from convex_evals.scores import RunRecord, ScoresStore
from convex_evals.statistics import RESAMPLES, SEED, SIGNIFICANT, Comparison, Tallies, compare, holm, score
from convex_evals.suite import find_suite, load_suite

_NOTE = "ablation"
NOTHING, EVERYTHING = "nothing", "all guidelines"
METHOD: Final = (
    f"Change: the pass rate less that with all sections, per eval over its trials, and then the mean over the evals "
    f"that have a verdict in both. Interval: 95%, paired bootstrap over these evals, {RESAMPLES:,} samples with seed "
    f"{SEED}, percentiles. p: McNemar's exact test, with several trials a sign-flip permutation test, corrected for "
    f"the number of rows (Holm). It says nothing about other evals or other models."
)


@dataclass(frozen=True, slots=True)
class AblatedRun:
    """A run, and what was left out of its guidelines. `tokens` is roughly how long that is."""

    run: RunRecord
    ablation: str
    kind: VariantKind
    section: str | None
    tokens: int

    @classmethod
    def of(cls, run: RunRecord) -> Self | None:
        note = run.options.get(_NOTE)
        if note is None:
            return None
        return cls(run, note["id"], cast(VariantKind, note["kind"]), note["section"], int(note["tokens"]))


def plan_ablation(asked: RunOptions, sections: Sequence[str], store: ScoresStore, settings: Settings) -> Prepared:
    """A run with all sections, one without each, one without any. Raises UsageError."""
    [name] = asked.models or []
    request, problems = prepare_request(asked)
    connections, identifier = Connections(settings, cache(remark), estimates=asked.dry_run), new_id()
    plans: list[Plan] = []
    for variant in plan_variants(request.asking.experiment, sections):
        asking = replace(request.asking, experiment=variant.experiment)
        model = find_model(name, store, request.options.answer_files, asking=asking, connections=connections)
        if not isinstance(model, ProviderModel):
            raise UsageError(f"{model.name} is not sent a prompt, so leaving out guidelines would change nothing.")
        labelled = replace(
            request,
            asking=asking,
            trials=asked.trials or 1,
            labels=(ABLATION,),
            notes={**request.notes, _NOTE: _note(identifier, variant)},
        )
        plans.append(plan_run(model, labelled))
    return Prepared(tuple(plans), problems)


def plan_rest_of(runs: Sequence[AblatedRun], store: ScoresStore, settings: Settings) -> Prepared:
    """Whatever has no verdict yet."""
    connections = Connections(settings, remark)
    plans = []
    for each in runs:
        plan = plan_rest(each.run, load_suite(find_suite(suite_of(each.run))), store, None, connections)
        if plan.work:
            plans.append(plan)
    return Prepared(tuple(plans))


def find_ablation(store: ScoresStore, reference: str) -> tuple[AblatedRun, ...]:
    """By the beginning of its id, or of the id of one of its runs. Raises UsageError."""
    known = [each for run in store.runs() if (each := AblatedRun.of(run)) is not None]
    wanted = {
        each.ablation for each in known if each.ablation.startswith(reference) or each.run.id.startswith(reference)
    }
    if len(reference) < 4 or len(wanted) != 1:
        some = ", ".join(dict.fromkeys(prefix(each.ablation) for each in known)) or "none yet"
        raise UsageError(
            f"{reference!r} must be the id of an ablation, or its first {PREFIX_LENGTH} characters; there are: {some}."
        )
    return runs_of(store, wanted.pop())


def runs_of(store: ScoresStore, ablation: str) -> tuple[AblatedRun, ...]:
    """In the order in which they were planned."""
    found = [each for run in store.runs() if (each := AblatedRun.of(run)) is not None and each.ablation == ablation]
    return tuple(reversed(found))


def _note(identifier: str, variant: Variant) -> dict[str, Any]:
    return {"id": identifier, "kind": variant.kind, "section": variant.section, "tokens": variant.tokens}


@dataclass(frozen=True, slots=True)
class Finding:
    """`measured` is by how many tokens a prompt was shorter, as the provider counts; None when it does not say.

    `p` is that of the change, corrected for how many rows there are.
    """

    ablated: AblatedRun
    rate: float | None
    change: Comparison | None
    measured: float | None
    spending: Spending
    p: float | None = None

    @property
    def is_certain(self) -> bool:
        """Whether the direction of the change is beyond doubt."""
        return self.change is not None and self.change.verdict != "cannot tell" and (self.p or 0) < SIGNIFICANT

    @property
    def left_out(self) -> str:
        return self.ablated.section or (NOTHING if self.ablated.kind == "all" else EVERYTHING)


@dataclass(frozen=True, slots=True)
class Findings:
    """The first finding is the run with all sections, which the others are compared with."""

    findings: tuple[Finding, ...]

    @classmethod
    def of(cls, runs: Sequence[AblatedRun], store: ScoresStore) -> Self:
        verdicts = {each.run.id: tallies(store.results(each.run.id)) for each in runs}
        spent = {each.run.id: Spending.of_run(store, each.run.id) for each in runs}
        whole = next(each for each in runs if each.kind == "all").run.id
        found = [
            Finding(
                ablated=each,
                rate=_rate(verdicts[each.run.id]),
                change=None if each.kind == "all" else compare(verdicts[whole], verdicts[each.run.id]),
                measured=_shorter(spent[whole], spent[each.run.id]) if each.kind != "all" else None,
                spending=spent[each.run.id],
            )
            for each in runs
        ]
        return cls(_corrected(found))

    @property
    def whole(self) -> Finding:
        return self.findings[0]


def findings_json(found: Findings) -> dict[str, Any]:
    first = found.whole.ablated
    return {
        "ablation": {
            "id": first.ablation,
            "model": first.run.model,
            "experiment": first.run.experiment,
            "trials": first.run.trials,
            "method": METHOD,
        },
        "variants": [_finding_json(each) for each in found.findings],
    }


def _finding_json(each: Finding) -> dict[str, Any]:
    change, counts = each.change, each.ablated.run.counts
    return {
        "kind": each.ablated.kind,
        "section": each.ablated.section,
        "run": each.ablated.run.id,
        "status": each.ablated.run.status,
        "passed": counts.passed,
        "failed": counts.failed,
        "total": counts.total,
        "passRate": each.rate,
        "change": None
        if change is None
        else {
            "mean": change.difference,
            "low": change.interval.low,
            "high": change.interval.high,
            "evals": change.evals,
            "p": change.p,
            "pCorrected": each.p,
            "certain": each.is_certain,
        },
        "tokens": each.ablated.tokens,
        "measuredTokens": each.measured,
        "cost": each.spending.cost.value,
        "costUnknown": each.spending.cost.unknown,
    }


def _corrected(findings: Sequence[Finding]) -> tuple[Finding, ...]:
    compared = [each for each in findings if each.change is not None]
    corrected = dict(zip(map(id, compared), holm([each.change.p for each in compared if each.change]), strict=True))
    return tuple(replace(each, p=corrected.get(id(each))) for each in findings)


def _rate(verdicts: Tallies) -> float | None:
    found = score(verdicts)
    return found.value if found else None


def _shorter(whole: Spending, part: Spending) -> float | None:
    if whole.input.unknown or part.input.unknown or not whole.input.known or not part.input.known:
        return None
    return whole.input.total / whole.input.known - part.input.total / part.input.known


def perform(asked: AblationOptions) -> int:
    """Does what was asked for and returns the exit code."""
    asked.check()
    sections, resume, asked = asked.sections or (), asked.resume, replace(asked, resume=None)
    settings = read_settings()
    with open_scores(asked) as store:
        old = find_ablation(store, resume) if resume is not None else ()

        def plan() -> Prepared:
            if old:
                return plan_rest_of(old, store, settings)
            return plan_ablation(asked, sections, store, settings)

        if asked.dry_run:
            _print_estimates(plan(), asked, store)
            return 0
        held = [each.run.id for each in old]
        session = carry_out_plans(plan, held, asked, settings, store)
        runs = runs_of(store, old[0].ablation if old else _first(session).ablation)
        _report(runs, asked, store)
        return _exit_code(session, runs)


def _print_estimates(prepared: Prepared, asked: RunOptions, store: ScoresStore) -> None:
    """Of every run what is left out in it and what it would take, and the same of all of them."""
    found = [(_left_out(plan), each) for plan in prepared.plans if (each := Estimate.of(plan, store)) is not None]
    total = _total_cost([each for _, each in found])
    if asked.json is not None:
        estimates = [{**estimate_json(each), "leftOut": name} for name, each in found]
        answers = sum(each.asked for _, each in found)
        write_json({"estimates": estimates, "total": {"asked": answers, "cost": total}}, asked.json)
    if asked.json == "-":
        return
    rows = table(["left out", "answers", "tokens in", "tokens out", "cost"], drop=("tokens out", "tokens in"))
    for name, each in found:
        figures = (each.asked, each.input_tokens, each.output_tokens)
        rows.add_row(name, *(f"{figure:,}" for figure in figures), estimate_cost_text(each))
    figures = tuple(
        sum(getattr(each, name) for _, each in found) for name in ("asked", "input_tokens", "output_tokens")
    )
    cost = "price unknown" if total is None else f"about {dollars(total)}"
    rows.add_row(f"all {len(found)} runs", *(f"{figure:,}" for figure in figures), cost, style="bold")
    print_table(rows)


def _left_out(plan: Plan) -> str:
    note = plan.run.options[_NOTE]
    return str(note["section"] or (NOTHING if note["kind"] == "all" else EVERYTHING))


def _total_cost(estimates: Sequence[Estimate]) -> float | None:
    costs = [0.0 if not each.asked else each.cost_usd for each in estimates]
    return None if None in costs else sum(cost for cost in costs if cost is not None)


def _report(runs: Sequence[AblatedRun], asked: RunOptions, store: ScoresStore) -> None:
    found = Findings.of(runs, store)
    _print(found, sys.stderr if asked.json == "-" else sys.stdout)
    if asked.json is not None:
        write_json(findings_json(found), asked.json)


def _print(found: Findings, out: TextIO) -> None:
    rows = table(
        ["left out", "tokens", "pass rate", "change", "95% interval", "p", "evals", "cost", "run"],
        drop=("evals", "cost", "p", "tokens", "run"),
    )
    for each in found.findings:
        rows.add_row(*_cells(each), style="bold" if each.is_certain else "")
    first = found.whole.ablated
    head = [f"ablation {prefix(first.ablation)}", first.run.model, first.run.experiment]
    print_lines([" · ".join([*head, planned_text(first.run) + " each"])], out)
    for line in table_lines(rows):
        print(line, file=out)
    print_lines(["", METHOD, "Tokens: ~ is 4 characters each; without it, what the provider counted per prompt."], out)
    unfinished = sum(
        each.ablated.run.counts.remaining or each.ablated.run.counts.infrastructure for each in found.findings
    )
    if unfinished:
        again = f"`convex-evals ablate --resume {prefix(first.ablation)}` continues with them"
        print_lines([f"{count(unfinished, 'answer')} without verdict; {again}."], out)


def _cells(each: Finding) -> tuple[str, ...]:
    tokens = f"~{each.ablated.tokens:,}" if each.measured is None else f"{each.measured:,.0f}"
    change = each.change
    return (
        each.left_out,
        "" if each.ablated.kind == "all" else tokens,
        "" if each.rate is None else f"{each.rate:.0%}",
        "" if change is None else _points(change.difference),
        "" if change is None else f"{_points(change.interval.low)} to {_points(change.interval.high)}",
        "" if each.p is None else f"{each.p:.2g}",
        "" if change is None else str(change.evals),
        cost_text(each.spending),
        prefix(each.ablated.run.id),
    )


def _points(share: float) -> str:
    return f"{share:+.0%}" if round(share * 100) else "0%"


def _first(session: Session) -> AblatedRun:
    found = AblatedRun.of(session.runs[0])
    assert found is not None, "every run of an ablation says so"
    return found


def _exit_code(session: Session, runs: Sequence[AblatedRun]) -> int:
    if not session.complete:
        return INTERRUPTED
    without = any(each.run.counts.infrastructure or each.run.counts.remaining for each in runs)
    return InfrastructureError.exit_code if without else 0

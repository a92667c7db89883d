"""What an ablation found out: for each part that was left out, what changed and what the part costs."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Final, Self

from convex_evals.cli.ablation.plans import AblatedRun
from convex_evals.runner import Spending, tallies
from convex_evals.scores import ScoresStore
from convex_evals.statistics import RESAMPLES, SEED, SIGNIFICANT, Comparison, Tallies, compare, holm, score

NOTHING, EVERYTHING = "nothing", "all guidelines"
METHOD: Final = (
    f"Change: the pass rate less that with all sections, per eval over its trials, and then the mean over the evals "
    f"that have a verdict in both. Interval: 95%, paired bootstrap over these evals, {RESAMPLES:,} samples with seed "
    f"{SEED}, percentiles. p: McNemar's exact test, with several trials a sign-flip permutation test, corrected for "
    f"the number of rows (Holm). It says nothing about other evals or other models."
)


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
        spent = {each.run.id: Spending.of(store.generations(each.run.id)) for each in runs}
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

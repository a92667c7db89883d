"""What an ablation found out: for each part that was left out, what changed and what the part costs."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Self

from convex_evals.cli.ablation.planning import AblatedRun
from convex_evals.models.ablation import METHOD, Change, paired_change
from convex_evals.runner import Spending, standings
from convex_evals.scores import ScoresStore

NOTHING, EVERYTHING = "nothing", "all guidelines"


@dataclass(frozen=True, slots=True)
class Finding:
    """`measured` is by how many tokens a prompt was shorter, as the provider counts; None when it does not say."""

    ablated: AblatedRun
    rate: float | None
    change: Change | None
    measured: float | None
    spending: Spending

    @property
    def left_out(self) -> str:
        return self.ablated.section or (NOTHING if self.ablated.kind == "all" else EVERYTHING)


@dataclass(frozen=True, slots=True)
class Findings:
    """The first finding is the run with all sections, which the others are compared with."""

    findings: tuple[Finding, ...]

    @classmethod
    def of(cls, runs: Sequence[AblatedRun], store: ScoresStore) -> Self:
        rates = {each.run.id: _rates(store, each) for each in runs}
        spent = {each.run.id: Spending.of(store.generations(each.run.id)) for each in runs}
        whole = next(each for each in runs if each.kind == "all").run.id
        return cls(
            tuple(
                Finding(
                    ablated=each,
                    rate=_mean(list(rates[each.run.id].values())),
                    change=None if each.kind == "all" else paired_change(rates[whole], rates[each.run.id]),
                    measured=_shorter(spent[whole], spent[each.run.id]) if each.kind != "all" else None,
                    spending=spent[each.run.id],
                )
                for each in runs
            )
        )

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
        else {"mean": change.mean, "low": change.low, "high": change.high, "evals": change.evals},
        "tokens": each.ablated.tokens,
        "measuredTokens": each.measured,
        "cost": each.spending.cost.value,
        "costUnknown": each.spending.cost.unknown,
    }


def _rates(store: ScoresStore, each: AblatedRun) -> dict[str, float]:
    found = standings(store.results(each.run.id)).items()
    return {name: standing.rate for name, standing in found if standing.rate is not None}


def _mean(values: Sequence[float]) -> float | None:
    return sum(values) / len(values) if values else None


def _shorter(whole: Spending, part: Spending) -> float | None:
    if whole.input.unknown or part.input.unknown or not whole.input.known or not part.input.known:
        return None
    return whole.input.total / whole.input.known - part.input.total / part.input.known

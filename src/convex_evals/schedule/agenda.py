"""What the schedule says now, for commands, pages and programs."""

from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from convex_evals.core.settings import Settings
from convex_evals.models import Registry
from convex_evals.schedule.facts import candidates, newest_minting, spent_this_month
from convex_evals.schedule.policy import Spent, Turn, plan
from convex_evals.schedule.rules import Rules, read_rules

if TYPE_CHECKING:
    from convex_evals.scores import ScoresStore


@dataclass(frozen=True, slots=True)
class Agenda:
    """What the schedule says now."""

    turns: tuple[Turn, ...]
    rules: Rules
    spent: Spent

    @property
    def due(self) -> tuple[Turn, ...]:
        return tuple(turn for turn in self.turns if turn.state == "due")


def read_agenda(store: "ScoresStore", settings: Settings, registry: Registry, now: datetime | None = None) -> Agenda:
    now = now or datetime.now(UTC)
    rules, spent = read_rules(settings.project_file), spent_this_month(store, now)
    turns = plan(candidates(registry, store, rules), rules, now, newest_minting(store), spent)
    return Agenda(turns, rules, spent)


def agenda_json(agenda: Agenda) -> dict[str, Any]:
    return {
        "spentThisMonth": agenda.spent.month,
        "budgetPerMonth": agenda.rules.budget_per_month,
        "budgetPerTick": agenda.rules.budget_per_tick,
        "turns": [
            {
                "model": turn.candidate.model,
                "experiment": turn.candidate.experiment,
                "state": turn.state,
                "at": turn.at.isoformat(),
                "why": turn.why,
                "expectedCost": turn.cost,
                "lastRun": turn.candidate.last_run.isoformat() if turn.candidate.last_run else None,
                "resumes": turn.candidate.unfinished,
            }
            for turn in agenda.turns
        ],
    }

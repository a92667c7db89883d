"""Which models are to be run when, and why: rules, policy, and what is known about the models."""

from convex_evals.schedule.agenda import (
    SCHEDULED,
    Agenda,
    agenda_json,
    candidates,
    newest_minting,
    read_agenda,
    spent_since,
    spent_this_month,
)
from convex_evals.schedule.policy import Candidate, SimulatedRun, Spent, State, Turn, interval, plan, simulate
from convex_evals.schedule.rules import ModelRule, Rules, read_rules

__all__ = [
    "SCHEDULED",
    "Agenda",
    "Candidate",
    "ModelRule",
    "Rules",
    "SimulatedRun",
    "Spent",
    "State",
    "Turn",
    "agenda_json",
    "candidates",
    "interval",
    "newest_minting",
    "plan",
    "read_agenda",
    "read_rules",
    "simulate",
    "spent_since",
    "spent_this_month",
]

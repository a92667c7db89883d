"""Do graders tell right from wrong? Answers whose verdict is known beforehand are graded, and the verdicts compared."""

from convex_evals.controls.checkup import Case, Checkup, Listener, check, plan_checkup
from convex_evals.controls.control import Control, Draft, controls_folder, load_controls, read_control, strays
from convex_evals.controls.findings import (
    FILE,
    Caught,
    Findings,
    Judged,
    RecordedCheck,
    RecordedControls,
    findings_json,
    read_recorded,
)
from convex_evals.controls.mutants import OPERATORS, Mutant, generate_mutants, select_mutants
from convex_evals.controls.scaffold import Scaffold, plan_eval, suite_for_writing
from convex_evals.controls.survival import TARGET, JudgedMutant, Survival, catch_rate, share

__all__ = [
    "FILE",
    "OPERATORS",
    "TARGET",
    "Case",
    "Caught",
    "Checkup",
    "Control",
    "Draft",
    "Findings",
    "Judged",
    "JudgedMutant",
    "Listener",
    "Mutant",
    "RecordedCheck",
    "RecordedControls",
    "Scaffold",
    "Survival",
    "catch_rate",
    "check",
    "controls_folder",
    "findings_json",
    "generate_mutants",
    "load_controls",
    "plan_checkup",
    "plan_eval",
    "read_control",
    "read_recorded",
    "select_mutants",
    "share",
    "strays",
    "suite_for_writing",
]

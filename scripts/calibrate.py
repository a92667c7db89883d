"""Writes what blind attempts say about the evals: `calibrate.py RESULTS.json ...`, one file per sample or several.

RESULTS.json is what `convex-evals run -m sample/blind-N -f '^(007|008|009|01)' --json RESULTS.json` wrote. The table in
docs/calibration.md is written again between its markers, and so is the difficulty in each eval.json. Evals that the
files say nothing about keep what the table says.
"""

import json
import re
import sys
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parent.parent
PAGE = ROOT / "docs" / "calibration.md"
BEGIN, END = "<!-- attempts -->", "<!-- end of attempts -->"
LEVELS = ("hard", "medium", "medium", "easy")
"""By the share of attempts that passed."""
NOT_THE_ANSWERS_FAULT = {
    ("013-testing_and_http/002-billing_periods", "blind-1"),
    ("013-testing_and_http/002-billing_periods", "blind-2"),
    ("013-testing_and_http/006-local_calendars", "blind-3"),
}
"""Attempts that failed because of a task which has been mended since. They do not count."""

EXCUSED = " (the task's fault)"
ROW = re.compile(r"^\| `([^`]+)` \| (.+) \| (?:easy|medium|hard|see below) \|$", re.M)
NONE = "–"

Outcomes = dict[str, str]
"""What became of the attempts at one eval, by sample: `passed`, or the step that failed."""


def read_table(page: str) -> dict[str, Outcomes]:
    """What the page says already."""
    samples = re.findall(r"blind-\d+", page.split("| difficulty |")[0].rsplit("| eval |", 1)[-1])
    rows = {match[1]: zip(samples, match[2].split(" | "), strict=True) for match in ROW.finditer(page)}
    return {name: {sample: cell for sample, cell in cells if cell != NONE} for name, cells in rows.items()}


def read_results(file: Path) -> dict[str, Outcomes]:
    """An eval that a sample has no answer to has no result."""
    found = json.loads(file.read_bytes())
    sample = found["run"]["model"].removeprefix("sample/")
    judged = (result for result in found["evals"] if result["status"] in ("passed", "failed"))
    return {result["eval"]: {sample: outcome(sample, result)} for result in judged}


def outcome(sample: str, result: dict[str, Any]) -> str:
    if result["status"] == "passed":
        return "passed"
    tests = result["tests"]
    share = f" {tests['passed']} of {tests['total']}" if result["failedStep"] == "tests" and tests else ""
    excused = EXCUSED if (result["eval"], sample) in NOT_THE_ANSWERS_FAULT else ""
    return f"{result['failedStep']}{share}{excused}"


def counted(outcomes: Outcomes) -> list[bool]:
    """Whether each attempt passed."""
    return [each == "passed" for each in outcomes.values() if not each.endswith(EXCUSED)]


def level(outcomes: Outcomes) -> str | None:
    """None: no attempt says anything about it."""
    judged = counted(outcomes)
    return LEVELS[round(sum(judged) / len(judged) * (len(LEVELS) - 1))] if judged else None


def table(attempts: dict[str, Outcomes]) -> str:
    samples = sorted({sample for each in attempts.values() for sample in each})
    rows = [f"| eval | {' | '.join(samples)} | difficulty |", "| --- " * (len(samples) + 2) + "|"]
    for name, each in sorted(attempts.items()):
        cells = " | ".join(each.get(sample, NONE) for sample in samples)
        rows.append(f"| `{name}` | {cells} | {level(each) or 'see below'} |")
    judged = [passed for each in attempts.values() for passed in counted(each)]
    share = f"{sum(judged)} of {len(judged)} attempts passed ({100 * sum(judged) / len(judged):.0f} %)."
    return "\n".join([*rows, "", share])


def write_difficulty(attempts: dict[str, Outcomes]) -> None:
    for name, outcomes in attempts.items():
        found = level(outcomes)
        if found is None:
            continue
        file = ROOT / "evals" / name / "eval.json"
        settings = json.loads(file.read_bytes()) if file.exists() else {}
        difficulty = {"level": found, "source": "calibration"}
        settings["tags"] = {**settings.get("tags", {}), "difficulty": difficulty}
        file.write_text(f"{json.dumps(settings)}\n")


if __name__ == "__main__":
    before, rest = PAGE.read_text().split(BEGIN)
    known, after = rest.split(END)
    attempts = read_table(known)
    for argument in sys.argv[1:]:
        for name, outcomes in read_results(Path(argument)).items():
            attempts[name] = {**attempts.get(name, {}), **outcomes}
    PAGE.write_text(f"{before}{BEGIN}\n\n{table(attempts)}\n\n{END}{after}")
    write_difficulty(attempts)

"""Writes what blind attempts say about the evals: `calibrate.py RESULTS.json ...`, one file per sample or several.

RESULTS.json is what `convex-evals run -m sample/blind-N -f '^(007|008|009|01)' --json RESULTS.json` wrote. The table in
docs/calibration.md is written again between its markers, and so is the difficulty in each eval.json.
"""

import json
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

Attempts = dict[str, dict[str, Any]]
"""Results of one eval, by sample."""


def read_attempts(files: list[Path]) -> dict[str, Attempts]:
    """An eval that a sample has no answer to has no result; a later file replaces what an earlier one says."""
    attempts: dict[str, Attempts] = {}
    for file in files:
        found = json.loads(file.read_bytes())
        sample = found["run"]["model"].removeprefix("sample/")
        for result in found["evals"]:
            if result["status"] in ("passed", "failed"):
                attempts.setdefault(result["eval"], {})[sample] = result
    return dict(sorted(attempts.items()))


def counted(name: str, attempts: Attempts) -> list[bool]:
    """Whether each attempt passed."""
    theirs = (sample for sample in attempts if (name, sample) not in NOT_THE_ANSWERS_FAULT)
    return [attempts[sample]["status"] == "passed" for sample in theirs]


def table(attempts: dict[str, Attempts]) -> str:
    samples = sorted({sample for each in attempts.values() for sample in each})
    rows = [f"| eval | {' | '.join(samples)} | difficulty |", "| --- " * (len(samples) + 2) + "|"]
    for name, each in attempts.items():
        outcomes = (outcome(name, sample, each.get(sample)) for sample in samples)
        rows.append(f"| `{name}` | {' | '.join(outcomes)} | {level(name, each) or 'see below'} |")
    judged = [passed for name, each in attempts.items() for passed in counted(name, each)]
    share = f"{sum(judged)} of {len(judged)} attempts passed ({100 * sum(judged) / len(judged):.0f} %)."
    return "\n".join([*rows, "", share])


def outcome(name: str, sample: str, result: dict[str, Any] | None) -> str:
    if result is None or result["status"] == "passed":
        return "–" if result is None else "passed"
    tests = result["tests"]
    share = f" {tests['passed']} of {tests['total']}" if result["failedStep"] == "tests" and tests else ""
    excused = " (the task's fault)" if (name, sample) in NOT_THE_ANSWERS_FAULT else ""
    return f"{result['failedStep'] or result['status']}{share}{excused}"


def level(name: str, attempts: Attempts) -> str | None:
    """None: no attempt says anything about it."""
    judged = counted(name, attempts)
    return LEVELS[round(sum(judged) / len(judged) * (len(LEVELS) - 1))] if judged else None


def write_page(attempts: dict[str, Attempts]) -> None:
    before, rest = PAGE.read_text().split(BEGIN)
    after = rest.split(END)[1]
    PAGE.write_text(f"{before}{BEGIN}\n\n{table(attempts)}\n\n{END}{after}")


def write_difficulty(attempts: dict[str, Attempts]) -> None:
    for name, results in attempts.items():
        found = level(name, results)
        if found is None:
            continue
        file = ROOT / "evals" / name / "eval.json"
        settings = json.loads(file.read_bytes()) if file.exists() else {}
        difficulty = {"level": found, "source": "calibration"}
        settings["tags"] = {**settings.get("tags", {}), "difficulty": difficulty}
        file.write_text(f"{json.dumps(settings)}\n")


if __name__ == "__main__":
    found = read_attempts([Path(argument) for argument in sys.argv[1:]])
    write_page(found)
    write_difficulty(found)

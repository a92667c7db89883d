"""Writes what blind attempts say about the evals: `calibrate.py RESULTS.json ...`, one file per attempt.

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

Attempts = list[dict[str, Any]]


def read_attempts(files: list[Path]) -> dict[str, Attempts]:
    attempts: dict[str, Attempts] = {}
    for file in files:
        for result in json.loads(file.read_bytes())["evals"]:
            attempts.setdefault(result["eval"], []).append(result)
    return dict(sorted(attempts.items()))


def table(attempts: dict[str, Attempts]) -> str:
    count = max(map(len, attempts.values()))
    rows = [f"| eval | {' | '.join(f'blind-{number + 1}' for number in range(count))} | difficulty |"]
    rows.append("| --- " * (count + 2) + "|")
    for name, results in attempts.items():
        rows.append(f"| `{name}` | {' | '.join(map(outcome, results))} | {level(results)} |")
    passed = sum(result["status"] == "passed" for results in attempts.values() for result in results)
    total = sum(map(len, attempts.values()))
    return "\n".join([*rows, "", f"{passed} of {total} attempts passed ({100 * passed / total:.0f} %)."])


def outcome(result: dict[str, Any]) -> str:
    if result["status"] == "passed":
        return "passed"
    tests = result["tests"]
    counted = f" {tests['passed']} of {tests['total']}" if result["failedStep"] == "tests" and tests else ""
    return f"{result['failedStep'] or result['status']}{counted}"


def level(results: Attempts) -> str:
    passed = sum(result["status"] == "passed" for result in results)
    return LEVELS[round(passed / len(results) * (len(LEVELS) - 1))]


def write_page(attempts: dict[str, Attempts]) -> None:
    before, rest = PAGE.read_text().split(BEGIN)
    after = rest.split(END)[1]
    PAGE.write_text(f"{before}{BEGIN}\n\n{table(attempts)}\n\n{END}{after}")


def write_difficulty(attempts: dict[str, Attempts]) -> None:
    for name, results in attempts.items():
        file = ROOT / "evals" / name / "eval.json"
        settings = json.loads(file.read_bytes()) if file.exists() else {}
        difficulty = {"level": level(results), "source": "calibration"}
        settings["tags"] = {**settings.get("tags", {}), "difficulty": difficulty}
        file.write_text(f"{json.dumps(settings)}\n")


if __name__ == "__main__":
    found = read_attempts([Path(argument) for argument in sys.argv[1:]])
    write_page(found)
    write_difficulty(found)

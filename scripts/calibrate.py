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
FIRST = ("blind-1", "blind-2", "blind-3")
"""The attempts at all evals. Later ones were made only at evals that these did not all pass."""
FIRST_CATEGORY = "007"
"""Of the harder evals."""
NONE = "–"
ROW = re.compile(rf"^\| `([^`]+)` \| (.+) \| (?:easy|medium|hard|{NONE}) \|$", re.M)

Outcomes = dict[str, str]
"""What became of the attempts at one eval, by sample: `passed`, or the step that failed."""


def read_table(page: str) -> dict[str, Outcomes]:
    """What the page says already."""
    samples = re.findall(r"blind-\d+", page.split("| difficulty |")[0].rsplit("| eval |", 1)[-1])
    rows = {match[1]: zip(samples, match[2].split(" | "), strict=True) for match in ROW.finditer(page)}
    return {name: {sample: cell for sample, cell in cells if cell != NONE} for name, cells in rows.items()}


def read_results(file: Path) -> dict[str, Outcomes]:
    """Of one run or several. An eval that a sample has no answer to has no result."""
    found = json.loads(file.read_bytes())
    read: dict[str, Outcomes] = {}
    for each in found.get("runs", [found]):
        sample = each["run"]["model"].removeprefix("sample/")
        for result in each["evals"]:
            if result["status"] in ("passed", "failed"):
                read.setdefault(result["eval"], {})[sample] = outcome(result)
    return read


def outcome(result: dict[str, Any]) -> str:
    if result["status"] == "passed":
        return "passed"
    tests = result["tests"]
    share = f" {tests['passed']} of {tests['total']}" if result["failedStep"] == "tests" and tests else ""
    return f"{result['failedStep']}{share}"


def level(outcomes: Outcomes) -> str | None:
    """None until all of the first attempts have been made."""
    if any(sample not in outcomes for sample in FIRST):
        return None
    passed = [each == "passed" for each in outcomes.values()]
    return "easy" if all(passed) else "medium" if any(passed) else "hard"


def table(attempts: dict[str, Outcomes]) -> str:
    samples = sorted({sample for each in attempts.values() for sample in each})
    rows = [f"| eval | {' | '.join(samples)} | difficulty |", "| --- " * (len(samples) + 2) + "|"]
    for name, each in sorted(attempts.items()):
        cells = " | ".join(each.get(sample, NONE) for sample in samples)
        rows.append(f"| `{name}` | {cells} | {level(each) or NONE} |")
    return "\n".join(rows)


def summary(attempts: dict[str, Outcomes]) -> str:
    complete = [each for each in attempts.values() if level(each)]
    first = [{sample: cell for sample, cell in each.items() if sample in FIRST} for each in complete]
    later = [{sample: cell for sample, cell in each.items() if sample not in FIRST} for each in complete]
    separating = [each for each in first if level(each) != "easy"]
    text = (
        f"Of the first three attempts, {share(first)} passed; at the {len(separating)} evals that they did not all "
        f"pass, {share(separating)}. Of the later attempts at these {len(separating)}, {share(later)} passed."
    )
    missing = len(attempts) - len(complete)
    if not missing:
        return text
    left = "one eval has" if missing == 1 else f"{missing} evals have"
    return f"{text} So far, {left} fewer than three attempts, and no calibrated difficulty."


def share(attempts: list[Outcomes]) -> str:
    passed = [cell == "passed" for each in attempts for cell in each.values()]
    return f"{sum(passed)} of {len(passed)} ({100 * sum(passed) / len(passed):.0f} %)"


def write_difficulty(attempts: dict[str, Outcomes]) -> None:
    for name, outcomes in attempts.items():
        if level(outcomes) is None:
            continue
        file = ROOT / "evals" / name / "eval.json"
        settings = json.loads(file.read_bytes()) if file.exists() else {}
        difficulty = {"level": level(outcomes), "source": "calibration"}
        settings["tags"] = {**settings.get("tags", {}), "difficulty": difficulty}
        file.write_text(f"{json.dumps(settings)}\n")


if __name__ == "__main__":
    before, rest = PAGE.read_text().split(BEGIN)
    known, after = rest.split(END)
    attempts = read_table(known)
    for argument in sys.argv[1:]:
        for name, outcomes in read_results(Path(argument)).items():
            attempts[name] = {**attempts.get(name, {}), **outcomes}
    for task in ROOT.glob("evals/*/*/TASK.txt"):
        if task.parent.parent.name >= FIRST_CATEGORY:
            attempts.setdefault(f"{task.parent.parent.name}/{task.parent.name}", {})
    PAGE.write_text(f"{before}{BEGIN}\n\n{table(attempts)}\n\n{summary(attempts)}\n\n{END}{after}")
    write_difficulty(attempts)

"""Writes what blind attempts say about the evals: `calibrate.py RESULTS.json ...`, one file per sample or several.

RESULTS.json is what `convex-evals run -m sample/blind-N -f '^(007|008|009|01)' --json RESULTS.json` wrote. The table in
docs/calibration.md is written again between its markers, and so is the difficulty in each eval.json. Evals that the
files say nothing about keep what the table says.
"""

import json
import re
import sys
from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from convex_evals.statistics import Tally, score

ROOT = Path(__file__).parent.parent
PAGE = ROOT / "docs" / "calibration.md"
BEGIN, END = "<!-- attempts -->", "<!-- end of attempts -->"
FIRST = ("blind-1", "blind-2", "blind-3")
"""The attempts at all evals."""
LATER = ("blind-4", "blind-5")
"""Those at evals that the first did not all pass."""
WITHOUT_GUIDELINES = ("blind-3", "blind-5")
FIRST_CATEGORY = "007"
"""Of the harder evals."""
NONE = "–"
ROW = re.compile(rf"^\| `([^`]+/[^`]+)` \| (.+) \| (?:easy|medium|hard|{NONE}) \|$", re.M)

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
    complete = {name: each for name, each in attempts.items() if level(each)}
    first = {name: only(each, FIRST) for name, each in complete.items()}
    later = {name: only(each, LATER) for name, each in complete.items() if only(each, LATER)}
    levels = Counter(level(each) for each in complete.values())
    counted = ", ".join(f"{levels[each]} are `{each}`" for each in ("easy", "medium", "hard"))
    paragraphs = [
        f"Of {len(attempts)} evals, {counted}. "
        f"The first three attempts passed {share(first.values())}: {by_guidelines(first.values(), FIRST)}.",
        f"The later attempts passed {share(later.values())}: {by_guidelines(later.values(), LATER)}. "
        f"{interval(later)} {shape(later)}",
        by_category(first, later),
    ]
    return "\n\n".join(paragraphs)


def only(outcomes: Outcomes, samples: tuple[str, ...]) -> Outcomes:
    return {sample: cell for sample, cell in outcomes.items() if sample in samples}


def share(attempts: Iterable[Outcomes]) -> str:
    tally = count(attempts)
    return f"{tally.passed} of {tally.trials} times ({100 * tally.passed / tally.trials:.0f} %)"


def count(attempts: Iterable[Outcomes]) -> Tally:
    passed = [cell == "passed" for each in attempts for cell in each.values()]
    return Tally(sum(passed), len(passed))


def by_guidelines(attempts: Iterable[Outcomes], samples: tuple[str, ...]) -> str:
    """`84 and 82 of 100 with guidelines, 85 of 100 without`."""
    tallies = {sample: count(only(each, (sample,)) for each in attempts) for sample in samples}
    given = [tallies[sample] for sample in samples if sample not in WITHOUT_GUIDELINES]
    [without] = [tallies[sample] for sample in samples if sample in WITHOUT_GUIDELINES]
    figures = " and ".join(str(each.passed) for each in given)
    return f"{figures} of {given[0].trials} with guidelines, {without.passed} of {without.trials} without"


def interval(attempts: dict[str, Outcomes]) -> str:
    found = score({name: count([each]) for name, each in attempts.items()})
    assert found is not None, "there are later attempts"
    low, high = (100 * bound for bound in (found.interval.low, found.interval.high))
    return f"Over these {len(attempts)} evals, the 95 % interval is {low:.0f} to {high:.0f} %."


def shape(attempts: dict[str, Outcomes]) -> str:
    passed = Counter(count([each]).passed for each in attempts.values())
    return f"{passed[2]} of them were passed twice, {passed[1]} once and {passed[0]} never."


def by_category(first: dict[str, Outcomes], later: dict[str, Outcomes]) -> str:
    rows = ["| category | evals | first three attempts that passed | later attempts that passed |", "| --- " * 4 + "|"]
    for category in sorted({name.partition("/")[0] for name in first}):
        early, late = (
            count(each for name, each in attempts.items() if name.startswith(category)) for attempts in (first, later)
        )
        shown = f"{late.passed} of {late.trials}" if late.trials else NONE
        rows.append(f"| `{category}` | {early.trials // len(FIRST)} | {early.passed} of {early.trials} | {shown} |")
    return "\n".join(rows)


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

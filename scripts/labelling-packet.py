"""Writes cases of a labelled set as plain text for people who label them without knowing our label.

    .venv/bin/python scripts/labelling-packet.py FOLDER [--labels LABELS] [--cases 60] [--size 20]

The sample is the same every time. Classes are sampled apart, the rare ones more often, because that is where readers
can disagree; `labelling-agreement.py` weighs that out. The order and the ids say nothing about the class.
"""

import argparse
import ast
import difflib
import hashlib
import json
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

LABELLED = Path(__file__).parents[1] / "tests" / "analysis" / "labelled"
SHARE_OF_MODEL_FAULTS = 0.4
RULE = "=" * 100

INSTRUCTIONS = """\
A language model was asked to write a Convex backend ("the task"). Its answer was graded (files, install, deploy, type
check, lint, tests) and failed. Say for each case why it failed. Judge from what is shown; ask nobody, run nothing.

The four classes:

MODEL_FAULT     The model genuinely got it wrong: the answer does not do what the task says, uses an API that does not
                exist, lacks what its own code needs, or breaks a rule that finds mistakes. What it added unasked is
                its own responsibility.
OVERLY_STRICT   What the grader, the lint rule or the type check requires is unreasonable for what was asked: the answer
                does what the task says, and the check wants more than that, or the reference would fail it, too.
AMBIGUOUS_TASK  The task is unclear on the point that decides, and the model's interpretation was reasonable.
KNOWN_GAP       GAPS.txt of the eval documents this very cause. This comes before the other three. An entry about
                something else does not count, nor does "none"; nor does an entry that only says that models get
                wrong what the task plainly requires in words, if that is all it says.

GAPS.txt is a file of notes that the eval's authors keep. Where none is shown, there is none.
"The difference" is a diff from the reference answer (-) to the model's answer (+). Other correct answers than the
reference are possible, so a difference alone is no fault.

Answer with one JSON object per line, in the order of the cases, in the file {answers}
(a: first reader, b: second reader; do not look at each other's file):
{{"id": "...", "class": "MODEL_FAULT|OVERLY_STRICT|AMBIGUOUS_TASK|KNOWN_GAP", "why": "one sentence"}}
"""


def blind_id(case: Mapping[str, Any]) -> str:
    return hashlib.sha256(f"blind/{case['id']}".encode()).hexdigest()[:8]


def sampled(cases: Sequence[Mapping[str, Any]], count: int) -> list[Mapping[str, Any]]:
    by_class: defaultdict[str, list[Mapping[str, Any]]] = defaultdict(list)
    for case in sorted(cases, key=blind_id):
        by_class[case.get("labels", {}).get("author", case["class"])].append(case)
    of_models = by_class.pop("MODEL_FAULT")
    each = round(count * (1 - SHARE_OF_MODEL_FAULTS) / len(by_class))
    rare = [case for group in by_class.values() for case in group[:each]]
    return sorted([*rare, *of_models[: count - len(rare)]], key=blind_id)


def shown(case: Mapping[str, Any], number: int) -> Iterator[str]:
    yield f"{RULE}\nCASE {number}   id {blind_id(case)}\n{RULE}\n"
    yield from _section("TASK.txt", case["task"])
    yield from _section("The reference answer", "\n".join(_files(case["answer"])))
    yield from _section("The difference: reference (-), model's answer (+)", "\n".join(_difference(case)))
    yield from _section("Steps", ", ".join(f"{step['name']} {step['status']}" for step in case["steps"]))
    tests = case.get("tests") or {}
    if tests.get("total"):
        yield f"{tests['passed']} of {tests['total']} tests passed.\n\n"
    yield from _section(f"What the step {case['failedStep']} said", case["error"])
    yield from _section("The tests that failed (pytest)", "\n\n".join(_failed_tests(case)))
    yield from _section("The reference answer at the same step", _parity(case))
    yield from _section("GAPS.txt", case["gaps"])


def _section(title: str, text: str) -> Iterator[str]:
    if text.strip():
        yield f"--- {title} ---\n{text.strip()}\n\n"


def _files(files: Mapping[str, str]) -> Iterator[str]:
    for path, text in files.items():
        if path.endswith((".ts", ".tsx")):
            yield f"// {path}\n{text}"


def _difference(case: Mapping[str, Any]) -> Iterator[str]:
    for path, text in case["changes"].items():
        before = case["answer"].get(path, "").splitlines()
        yield from difflib.unified_diff(before, (text or "").splitlines(), path, path, lineterm="", n=4)


def _failed_tests(case: Mapping[str, Any]) -> Iterator[str]:
    """And what they use of the grader."""
    if case["failedStep"] != "tests" or not case.get("grader"):
        return
    tree = ast.parse(case["grader"])
    said = json.dumps(case["diagnostics"])
    named = [node for node in tree.body if isinstance(node, ast.FunctionDef | ast.Assign | ast.AsyncFunctionDef)]
    for node in named:
        name = getattr(node, "name", "")
        if not name.startswith("test_") or name in said:
            yield ast.get_source_segment(case["grader"], node) or ""


def _parity(case: Mapping[str, Any]) -> str:
    parity = case.get("parity")
    if not parity:
        return ""
    raised = parity["complaints"]
    return f"raises the same complaint: {raised}" if raised else "passes"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--labels", type=Path, default=LABELLED / "test.json")
    parser.add_argument("--cases", type=int, default=60)
    parser.add_argument("--size", type=int, default=20)
    asked = parser.parse_args()
    content = json.loads(asked.labels.read_bytes())
    cases = [{**content["shared"][case["shared"]], **case} for case in content["cases"]]
    chosen = sampled(cases, asked.cases)
    asked.folder.mkdir(parents=True, exist_ok=True)
    for number, start in enumerate(range(0, len(chosen), asked.size), start=1):
        texts = [INSTRUCTIONS.format(answers=asked.folder / f"answers-{number}-a.jsonl (or -b)")]
        for place, case in enumerate(chosen[start : start + asked.size], start=1):
            texts.extend(shown(case, place))
        (asked.folder / f"packet-{number}.txt").write_text("\n".join(texts))


if __name__ == "__main__":
    main()

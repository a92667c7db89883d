"""Grades the wrong answers of tests/analysis/labelled/plan.toml and writes what came out as two labelled sets.

    .venv/bin/python scripts/labelled-set.py [--probe-seconds S] [--only REGEX]

Takes about half an hour on one core: every answer goes through the whole pipeline. Evals are split, not cases, so that
development.json and test.json have no task in common. A control that fails where it should pass is reported and left
out; so is a mutant that survives.
"""

import argparse
import asyncio
import hashlib
import json
import re
import shutil
import tempfile
import tomllib
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any

from convex_evals.analysis.evidence import Evidence
from convex_evals.analysis.investigation import complete
from convex_evals.analysis.isolation import Bound, isolate_cause, locate_cause, open_probes
from convex_evals.analysis.parity import examine_parity
from convex_evals.analysis.scoring import case_json
from convex_evals.controls import generate_mutants, load_controls, select_mutants
from convex_evals.core.settings import Settings, read_settings
from convex_evals.core.toolchain import prepare_toolchain
from convex_evals.core.verdicts import FailureClass
from convex_evals.models.responses import parse_response
from convex_evals.pipeline import Assignment, Grade, GradingOptions
from convex_evals.runner import open_workspace
from convex_evals.suite import Eval, load_suite, read_answer

ROOT = Path(__file__).parents[1]
LABELLED = ROOT / "tests" / "analysis" / "labelled"
CLASSES: Mapping[str, FailureClass] = {
    "known_gap": "KNOWN_GAP",
    "ambiguous_task": "AMBIGUOUS_TASK",
    "overly_strict": "OVERLY_STRICT",
    "beside": "MODEL_FAULT",
}


@dataclass(frozen=True)
class Planned:
    """One answer to be graded, and what its failure is."""

    id: str
    eval: Eval
    files: Mapping[str, str]
    failure_class: FailureClass


@dataclass
class Overlaid:
    """The suite, and copies of evals that an overlay has changed."""

    folder: Path
    suite: Any = field(default_factory=lambda: load_suite(ROOT / "evals"))

    def changed(self, number: int, overlay: Mapping[str, Any]) -> Eval:
        root = self.folder / f"overlay-{number}"
        target = root / overlay["eval"]
        target.parent.mkdir(parents=True)
        shutil.copytree(ROOT / "evals" / overlay["eval"], target)
        shutil.copy(ROOT / "evals" / "suite.json", root / "suite.json")
        task = (target / "TASK.txt").read_text()
        for passage in overlay.get("without", ()):
            task = re.sub(r"[ \n]*" + r"\s+".join(map(re.escape, passage.split())), "", task)
        (target / "TASK.txt").write_text(task + overlay.get("add", ""))
        if "gaps" in overlay:
            (target / "GAPS.txt").write_text(overlay["gaps"])
        with (target / "grader.py").open("a") as grader:
            grader.write(f"\n\n{overlay['tests'].strip()}\n" if "tests" in overlay else "")
        return next(iter(load_suite(root).evals))


def planned(overlaid: Overlaid) -> Iterator[Planned]:
    plan = tomllib.loads((LABELLED / "plan.toml").read_text())
    taken: set[str] = set()
    for number, overlay in enumerate(plan["overlay"]):
        for each in _of_overlay(overlaid.changed(number, overlay), overlay):
            taken.add(f"{each.eval.id}/{each.id.partition(' ')[0]}")
            yield each
    yield from _plain(overlaid, plan["plain_controls"], plan["mutants"], taken)
    for eval in overlaid.suite.evals:
        if eval.id in plan["recorded"]:
            yield Planned("recorded", eval, _recorded(eval), "MODEL_FAULT")


def _of_overlay(eval: Eval, overlay: Mapping[str, Any]) -> Iterator[Planned]:
    answer = read_answer(eval, ("**/*",))
    known = {each.name: each.files for each in load_controls(ROOT / "controls", eval, answer).controls}
    for own in overlay.get("answer", ()):
        known[own["name"]] = {**answer, own["file"]: answer[own["file"]].replace(own["old"], own["new"].lstrip("\n"))}
    for key, failure_class in CLASSES.items():
        for name in overlay.get(key, ()):
            yield Planned(f"{name} {key}", eval, known[name], failure_class)


def _plain(overlaid: Overlaid, controls: int, mutants: int, taken: set[str]) -> Iterator[Planned]:
    """A spread over all evals that is the same every time."""
    wrong: list[Planned] = []
    mutated: list[Planned] = []
    for eval in overlaid.suite.evals:
        answer = read_answer(eval, overlaid.suite.settings.answer_files)
        for each in load_controls(ROOT / "controls", eval, answer).controls:
            if each.kind == "wrong" and f"{eval.id}/{each.name}" not in taken:
                wrong.append(Planned(each.name, eval, each.files, "MODEL_FAULT"))
        for mutant in select_mutants(generate_mutants(answer), 1):
            mutated.append(Planned(f"mutant-{mutant.id}", eval, mutant.applied(answer), "MODEL_FAULT"))
    yield from sorted(wrong, key=_shuffled)[:controls]
    yield from sorted(mutated, key=_shuffled)[:mutants]


def _recorded(eval: Eval) -> Mapping[str, str]:
    return parse_response((ROOT / "samples" / "apprentice" / f"{eval.id}.md").read_text()).files


def _shuffled(each: Planned) -> str:
    return hashlib.sha256(f"{each.eval.id}/{each.id}".encode()).hexdigest()


def is_development(eval: str) -> bool:
    """The number is one that gives both halves about as many cases of every class."""
    return hashlib.sha256(f"239/{eval}".encode()).digest()[0] % 2 == 0


async def evidence_of(each: Planned, grade: Grade, probes: Any, seconds: float) -> Evidence:
    failed = next(step for step in grade.steps if step.status == "failed")
    diagnostics = [found for step in grade.steps if step.status == "failed" for found in step.diagnostics[:8]]
    bare = Evidence(
        failed_step=failed.name,
        eval=each.eval.id,
        category=each.eval.category,
        task=each.eval.task,
        error=failed.excerpt,
        steps=grade.steps,
        tests=grade.tests,
        diagnostics=tuple(sorted(diagnostics, key=lambda found: found.step != failed.name)),
        files=each.files,
        answer=read_answer(each.eval, ("**/*",)),
        grader=each.eval.grader.path.read_text() if each.eval.grader else "",
        gaps=each.eval.gaps or "",
    )
    beside = Bound(120, 2)
    try_files = partial(probes.try_files, each.eval, failed.name, GradingOptions(), beside)
    evidence = replace(complete(bare), parity=await examine_parity(bare, try_files))
    if not seconds:
        return replace(evidence, cause=locate_cause(evidence, ""))
    bound = Bound(seconds, 8)
    probe = probes.probe(each.eval, failed.name, GradingOptions(), bound)
    return replace(evidence, cause=await isolate_cause(evidence, probe, bound))


async def grade_all(plan: list[Planned], settings: Settings, seconds: float, only: str) -> list[dict[str, Any]]:
    toolchain = await prepare_toolchain(settings, print)
    cases: list[dict[str, Any]] = []
    with open_workspace(settings.output_folder) as workspace:
        async with open_probes(settings, workspace, toolchain.fingerprint, 1) as probes:
            for number, each in enumerate(plan):
                if not re.search(only, f"{each.eval.id}/{each.id}"):
                    continue
                assignment = Assignment(each.eval, each.files, GradingOptions(), workspace / f"c{number}")
                grade = await probes.pool.grade(assignment)
                ended = f"{grade.status:14} {grade.failed_step or '':8}"
                print(f"{number:3} {ended} {each.failure_class:14} {each.eval.id} {each.id}", flush=True)
                if grade.status == "failed":
                    evidence = await evidence_of(each, grade, probes, seconds)
                    cases.append(case_json(f"{each.eval.id} {each.id}", each.failure_class, evidence))
    return cases


def write(cases: list[dict[str, Any]]) -> None:
    for name, wanted in (("development", True), ("test", False)):
        chosen = [case for case in cases if is_development(case["eval"]) is wanted]
        evals: dict[str, Any] = {}
        for case in chosen:
            shared = {key: case.pop(key) for key in ("task", "answer", "grader", "gaps") if key in case}
            key = hashlib.sha256(json.dumps(shared, sort_keys=True).encode()).hexdigest()[:8]
            evals[key] = shared
            case["shared"] = key
        content = {"shared": evals, "cases": chosen}
        (LABELLED / f"{name}.json").write_text(json.dumps(content, ensure_ascii=False, indent=1) + "\n")
        print(name, len(chosen), dict(Counter(case["class"] for case in chosen)))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--probe-seconds", type=float, default=0.0)
    parser.add_argument("--only", default="")
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        plan = list(planned(Overlaid(Path(folder))))
        write(asyncio.run(grade_all(plan, read_settings(), asked.probe_seconds, asked.only)))


if __name__ == "__main__":
    main()

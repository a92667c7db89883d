"""Grades the wrong answers of tests/analysis/labelled/plan.toml and writes what came out as two labelled sets.

    .venv/bin/python scripts/labelled-set.py [--minutes M] [--only REGEX] [--again]

Every answer goes through the whole pipeline, and the reference through the step that failed: half an hour on one core
for everything, but only what is missing or has changed is graded, and the sets are saved on the way. So `--minutes`
makes pieces of it; run it until it says that nothing is missing. Evals are split, not cases, so that development.json
and test.json have no task in common. A control that fails where it should pass is reported and left out; so is a mutant
that survives.
"""

import argparse
import asyncio
import hashlib
import json
import re
import shutil
import tempfile
import time
import tomllib
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any

from convex_evals.analysis.evidence import Evidence
from convex_evals.analysis.investigation import complete, examine_parity
from convex_evals.analysis.isolation import Bound, GradingProbes, locate_cause, open_probes
from convex_evals.analysis.scoring import case_json
from convex_evals.controls import generate_mutants, load_controls, select_mutants
from convex_evals.core.ids import new_id
from convex_evals.core.plain import to_plain
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

    @property
    def case(self) -> str:
        return f"{self.eval.id} {self.id}"


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
    yield from _own(plan["own"])
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


def _own(answers: list[Mapping[str, Any]]) -> Iterator[Planned]:
    """Of the suite that was written for this set: the reference with one passage changed."""
    evals = {eval.id: eval for eval in load_suite(LABELLED / "suite").evals}
    for each in answers:
        files = dict(read_answer(evals[each["eval"]], ("**/*",)))
        for path in each.get("files", ["convex/index.ts"]):
            if each["old"] not in files[path]:
                raise SystemExit(f"{each['eval']} {each['name']}: {path} has no {each['old']!r}.")
            files[path] = files[path].replace(each["old"], each["new"])
        yield Planned(each["name"], evals[each["eval"]], files, each["class"])


def _plain(overlaid: Overlaid, controls: float, mutants: float, taken: set[str]) -> Iterator[Planned]:
    """These shares of them, spread over all evals. A new eval adds to them and takes none away."""
    wrong: list[Planned] = []
    mutated: list[Planned] = []
    for eval in overlaid.suite.evals:
        answer = read_answer(eval, overlaid.suite.settings.answer_files)
        for each in load_controls(ROOT / "controls", eval, answer).controls:
            if each.kind == "wrong" and f"{eval.id}/{each.name}" not in taken:
                wrong.append(Planned(each.name, eval, each.files, "MODEL_FAULT"))
        for mutant in select_mutants(generate_mutants(answer), 1):
            mutated.append(Planned(f"mutant-{mutant.id}", eval, mutant.applied(answer), "MODEL_FAULT"))
    yield from sorted((each for each in wrong if _shuffled(each) < controls), key=_shuffled)
    yield from sorted((each for each in mutated if _shuffled(each) < mutants), key=_shuffled)


def _recorded(eval: Eval) -> Mapping[str, str]:
    return parse_response((ROOT / "samples" / "apprentice" / f"{eval.id}.md").read_text()).files


def _shuffled(each: Planned) -> float:
    """Evenly spread from 0 to 1, and always the same."""
    digest = hashlib.sha256(f"{each.eval.id}/{each.id}".encode()).digest()
    return int.from_bytes(digest[:4], "big") / 2**32


def is_development(eval: str) -> bool:
    """The number is one that gives both halves about as many cases of every class."""
    return hashlib.sha256(f"239/{eval}".encode()).digest()[0] % 2 == 0


Case = dict[str, Any]


def evidence_of(each: Planned, grade: Grade) -> Evidence:
    failed = next(step for step in grade.steps if step.status == "failed")
    diagnostics = [found for step in grade.steps if step.status == "failed" for found in step.diagnostics[:8]]
    evidence = complete(
        Evidence(
            failed_step=failed.name,
            eval=each.eval.id,
            category=each.eval.category,
            error=failed.excerpt,
            steps=grade.steps,
            tests=grade.tests,
            diagnostics=tuple(sorted(diagnostics, key=lambda found: found.step != failed.name)),
            files=each.files,
            **texts_of(each),
        )
    )
    return replace(evidence, cause=locate_cause(evidence, ""))


def texts_of(each: Planned) -> dict[str, Any]:
    """What cases of one eval share."""
    return {
        "task": each.eval.task,
        "answer": read_answer(each.eval, ("**/*",)),
        "grader": each.eval.grader.path.read_text() if each.eval.grader else "",
        "gaps": each.eval.gaps or "",
    }


@dataclass
class Cases:
    """What is stored of the plan, and what is still missing."""

    plan: list[Planned]
    stored: dict[str, Case] = field(default_factory=dict)

    @classmethod
    def read(cls, plan: list[Planned], again: bool) -> "Cases":
        cases = cls(plan)
        for path in () if again else (LABELLED / "development.json", LABELLED / "test.json"):
            content = json.loads(path.read_bytes())
            whole = ({**content["shared"][case["shared"]], **case} for case in content["cases"])
            cases.stored |= {case["id"]: case for case in whole}
        return cases

    def of(self, each: Planned) -> Case | None:
        """None when there is none, or when the eval, the answer or the label has changed since."""
        case = self.stored.get(each.case)
        if case is None or case.get("labels", {}).get("author", case["class"]) != each.failure_class:
            return None
        changed = {**case["answer"], **case["changes"]}
        files = {path: text for path, text in changed.items() if text is not None}
        same = files == dict(each.files) and all(case[name] == value for name, value in texts_of(each).items())
        return case if same else None

    def missing(self) -> list[Planned]:
        return [each for each in self.plan if "parity" not in (self.of(each) or {})]

    def write(self) -> None:
        """Also what has changed since: it was a failure like any other when it was graded."""
        cases = [case for each in self.plan if (case := self.stored.get(each.case)) is not None]
        for name, wanted in (("development", True), ("test", False)):
            chosen = [dict(case) for case in cases if is_development(case["eval"]) is wanted]
            shared: dict[str, Any] = {}
            for case in chosen:
                texts = {key: case.pop(key) for key in ("task", "answer", "grader", "gaps")}
                case["shared"] = hashlib.sha256(json.dumps(texts, sort_keys=True).encode()).hexdigest()[:8]
                shared[case["shared"]] = texts
            content = {"shared": shared, "cases": chosen}
            (LABELLED / f"{name}.json").write_text(json.dumps(content, ensure_ascii=False, indent=1) + "\n")
            print(name, len(chosen), dict(Counter(case["class"] for case in chosen)))


async def complete_case(each: Planned, known: Case | None, probes: GradingProbes) -> Case | None:
    """Graded if it is not known; with parity. None when the answer does not fail."""
    case = known or await graded(each, probes)
    if case is None:
        return None
    step = case["failedStep"]
    try_files = partial(probes.try_files, each.eval, step, GradingOptions(), Bound(240, 2))
    bare = Evidence(failed_step=step, files=each.files, answer=texts_of(each)["answer"])
    parity = await examine_parity(bare, try_files)
    return {**case, "parity": to_plain(parity)} if parity else case


async def graded(each: Planned, probes: GradingProbes) -> Case | None:
    folder = probes.pool.folder / f"case-{new_id()}"
    grade = await probes.pool.grade(Assignment(each.eval, each.files, GradingOptions(), folder))
    shutil.rmtree(folder, ignore_errors=True)
    print(f"  {grade.status:14} {grade.failed_step or '':8} {each.failure_class:14} {each.case}", flush=True)
    return case_json(each.case, each.failure_class, evidence_of(each, grade)) if grade.status == "failed" else None


async def complete_all(cases: Cases, settings: Settings, minutes: float, only: str) -> None:
    toolchain = await prepare_toolchain(settings, print)
    missing = [each for each in cases.missing() if re.search(only, each.case)]
    ends = time.monotonic() + 60 * minutes
    with open_workspace(settings.output_folder) as workspace:
        async with open_probes(settings, workspace, toolchain.fingerprint, 1) as probes:
            for number, each in enumerate(missing):
                if time.monotonic() > ends:
                    break
                print(f"{number + 1} of {len(missing)}: {each.case}", flush=True)
                case = await complete_case(each, cases.of(each), probes)
                cases.stored.pop(each.case, None)
                cases.stored |= {each.case: case} if case else {}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--minutes", type=float, default=60.0)
    parser.add_argument("--only", default="")
    parser.add_argument("--again", action="store_true", help="grade everything, whatever is stored")
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        cases = Cases.read(list(planned(Overlaid(Path(folder)))), asked.again)
        try:
            asyncio.run(complete_all(cases, read_settings(), asked.minutes, asked.only))
        finally:
            cases.write()
        print(f"{len(cases.missing())} answers of the plan are missing, or did not fail.")


if __name__ == "__main__":
    main()

"""What comes after the findings: on a terminal the question is asked and the answer acted on; elsewhere, commands."""

import shlex
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Final, TextIO

from convex_evals.analysis.changes import TITLES, Change
from convex_evals.analysis.report import FailureReport, Report, open_report
from convex_evals.cli.analysis.apply import ApplyOptions, apply_recommendation
from convex_evals.cli.analysis.command import show_failure
from convex_evals.cli.analysis.labels import add_action, label_failure
from convex_evals.cli.analysis.options import AnalysisOptions
from convex_evals.cli.menu import Offer, ask_one, ask_text
from convex_evals.cli.output import print_lines, visible
from convex_evals.core.errors import UsageError
from convex_evals.core.ids import prefix
from convex_evals.core.text import shortened
from convex_evals.core.verdicts import CLASSES, FailureClass

QUESTION: Final = (
    "These are my findings. Would you like me to implement any of these recommendations, or would you like to discuss "
    "specific failures in more detail?"
)
NOTHING_TO_IMPLEMENT: Final = (
    "These are my findings. No change of an eval is recommended. "
    "Would you like to discuss specific failures in more detail?"
)
LEAVE: Final = "leave"
BACK: Final = Offer("back", "Back")


def end_with_question(report: Report, asked: AnalysisOptions, path: Path, out: TextIO) -> None:
    """Nothing is changed unless it is asked for."""
    if sys.stdin.isatty() and out.isatty():
        Conversation(report, asked, path).hold()
        return
    print_lines(["", question(report), *map(visible, command_lines(report, path, asked.scores))], out)


def question(report: Report) -> str:
    return QUESTION if report.changes else NOTHING_TO_IMPLEMENT


def command_lines(report: Report, path: Path, scores: str | None) -> Iterator[str]:
    """What to type for each of the answers."""
    first, where = report.failures[0], "" if scores is None else f" --scores {shlex.quote(scores)}"
    run, eval = prefix(report.run.id), first.eval.partition("/")[2]
    if report.changes:
        yield f"  convex-evals analyze apply {path} {report.changes[0].id}{where}"
    yield f"  convex-evals analyze eval {run} {eval}{where}"
    yield f'  convex-evals analyze label {run} {eval} {first.failure_class} --why "…"{where}'
    yield f'  convex-evals analyze record-action {path} "…"'


class Conversation:
    def __init__(self, report: Report, asked: AnalysisOptions, path: Path) -> None:
        self._report, self._asked, self._path = report, asked, path

    def hold(self) -> None:
        """Until there is nothing more to do."""
        while (chosen := ask_one(question(self._report), self._offers())) != LEAVE:
            try:
                self._do(chosen)
            except UsageError as error:
                print(f"{error}")

    def _offers(self) -> list[Offer]:
        return [
            *([Offer("apply", "Implement a recommendation")] if self._report.changes else []),
            Offer("discuss", "Discuss a failure"),
            Offer("label", "Label a failure"),
            Offer("record", "Record what was done"),
            Offer(LEAVE, "Leave"),
        ]

    def _do(self, chosen: str) -> None:
        match chosen:
            case "apply":
                self._apply()
            case "discuss":
                if failure := self._failure():
                    show_failure(replace(self._asked, json=None), failure.eval, failure.trial)
            case "label":
                self._label()
            case "record":
                add_action(self._path, ask_text("What was changed, and where?", "", _said), (), None)

    def _apply(self) -> None:
        changes = {each.id: each for each in self._report.changes}
        id = ask_one("Which?", [*(self._offer(each) for each in changes.values()), BACK])
        if id == BACK.value:
            return
        change = changes[id]
        text = change.text if change.kind == "lint" else ask_text("What shall it say?", change.text, _said)
        asked = self._asked
        apply_recommendation(
            ApplyOptions(self._path, id, text, asked.evals, sandbox=asked.sandbox or "required", scores=asked.scores)
        )

    def _offer(self, change: Change) -> Offer:
        actions = open_report(self._path).report.actions
        made = any(change.eval in each.evals and TITLES[change.kind] in each.text for each in actions)
        return Offer(change.id, shortened(f"{change.id} {change}", 100), "made" if made else None)

    def _label(self) -> None:
        failure = self._failure()
        if failure is None:
            return
        chosen: FailureClass = _CLASSES[ask_one("What is it?", [Offer(name, name) for name in CLASSES])]
        why = ask_text("Why?", "", _said)
        run, trial, asked = self._report.run.id, failure.trial, self._asked
        label_failure(run, failure.eval, trial, chosen, why, None, asked.scores)

    def _failure(self) -> FailureReport | None:
        """None: the user chose none of them."""
        offers = [
            Offer(str(number), shortened(f"{each.failure_class:<14} {each.eval}  {each.classification.summary}", 100))
            for number, each in enumerate(self._report.failures)
        ]
        chosen = ask_one("Which failure?", [*offers, BACK])
        return None if chosen == BACK.value else self._report.failures[int(chosen)]


_CLASSES: Final[dict[str, FailureClass]] = {name: name for name in CLASSES}


def _said(text: str) -> str | None:
    return None if text.strip() else "Write a sentence."

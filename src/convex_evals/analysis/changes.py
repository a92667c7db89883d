"""Changes of evals that a report recommends and `analyze apply` can make: as a patch, shown before it is made."""

import difflib
import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final, Literal

from convex_evals.core.errors import InfrastructureError, UsageError
from convex_evals.core.files import write_file
from convex_evals.core.text import listed
from convex_evals.suite import Eval

if TYPE_CHECKING:
    from convex_evals.analysis.report.types import FailureReport, Report

ChangeKind = Literal["lint", "gap", "task"]
TITLES: Final[dict[ChangeKind, str]] = {
    "lint": "do not count a lint rule",
    "gap": "note a gap in GAPS.txt",
    "task": "add a sentence to TASK.txt",
}


@dataclass(frozen=True, slots=True)
class Change:
    """One recommended change of one eval. `text` is the line to add; empty: whoever applies it must say it."""

    id: str  # R1, R2, …
    kind: ChangeKind
    eval: str
    why: str
    rules: tuple[str, ...] = ()
    text: str = ""

    def __str__(self) -> str:
        what = f"{TITLES[self.kind]} ({listed(self.rules)})" if self.rules else TITLES[self.kind]
        return f"{self.eval}: {what}. {self.why}"


def recommend_changes(failures: "Sequence[FailureReport]") -> tuple[Change, ...]:
    """For failures that are not the model's own; each change once."""
    wanted: dict[tuple[ChangeKind, str, tuple[str, ...]], tuple[str, str]] = {}
    for failure in failures:
        for kind, rules, text in _wanted(failure):
            wanted.setdefault((kind, failure.eval, rules), (failure.classification.summary, text))
    return tuple(
        Change(f"R{number}", kind, eval, why, rules, text)
        for number, ((kind, eval, rules), (why, text)) in enumerate(wanted.items(), start=1)
    )


def _wanted(failure: "FailureReport") -> Iterator[tuple[ChangeKind, tuple[str, ...], str]]:
    if failure.failure_class == "MODEL_FAULT" or failure.classification.fault == "nobody":
        return
    rules = tuple(cause.removeprefix("lint:") for cause in failure.causes if cause.startswith("lint:"))
    if failure.failed_step == "eslint" and rules:
        yield "lint", rules, ""
    elif failure.failure_class in ("OVERLY_STRICT", "AMBIGUOUS_TASK"):
        yield "task", (), ""
    if failure.failure_class in ("OVERLY_STRICT", "AMBIGUOUS_TASK"):
        blamed = "task" if failure.failure_class == "AMBIGUOUS_TASK" else "check"
        yield "gap", (), f"- [{blamed}] {failure.classification.summary}"


def find_change(report: "Report", id: str) -> Change:
    """Raises UsageError, which names those there are."""
    found = next((each for each in report.changes if each.id.lower() == id.lower()), None)
    if found is None:
        known = listed((each.id for each in report.changes), most=20) or "none"
        raise UsageError(f"The report has no recommendation {id!r} that can be applied; it has {known}.")
    return found


@dataclass(frozen=True, slots=True)
class Edit:
    """A file before and after. `before` is None when there is no such file yet."""

    path: Path
    before: str | None
    after: str

    def patch(self) -> str:
        """As `git diff` shows it."""
        name = "/".join(self.path.parts[-3:])
        lines = difflib.unified_diff(
            (self.before or "").splitlines(keepends=True),
            self.after.splitlines(keepends=True),
            f"a/{name}" if self.before is not None else "/dev/null",
            f"b/{name}",
        )
        return "".join(line if line.endswith("\n") else f"{line}\n" for line in lines)

    def make(self) -> None:
        self._write(self.after)

    def undo(self) -> None:
        if self.before is None:
            self.path.unlink(missing_ok=True)
        else:
            self._write(self.before)

    def _write(self, text: str) -> None:
        try:
            write_file(self.path, text.encode())
        except OSError as error:
            raise InfrastructureError(f"{self.path} cannot be written: {error.strerror}.") from error


def plan_edit(change: Change, eval: Eval, text: str = "") -> Edit:
    """`text` stands in for the line of the change. Raises UsageError when there is none, or nothing to change."""
    match change.kind:
        case "lint":
            edit = _without_rules(eval, change.rules)
        case "gap":
            edit = _with_line(eval.path / "GAPS.txt", text or change.text)
        case "task":
            edit = _with_line(eval.path / "TASK.txt", text or change.text)
    if edit.after == edit.before:
        raise UsageError(f"{change.id} is made already: {edit.path} says so.")
    return edit


def _without_rules(eval: Eval, rules: Sequence[str]) -> Edit:
    path = eval.path / "eval.json"
    before = path.read_text() if path.is_file() else None
    content = json.loads(before) if before is not None else {}
    content["lintOff"] = [*eval.lint_off, *(rule for rule in rules if rule not in eval.lint_off)]
    same = list(eval.lint_off) == content["lintOff"]
    return Edit(path, before, before if same and before is not None else json.dumps(content, indent=2) + "\n")


def _with_line(path: Path, line: str) -> Edit:
    if not line.strip():
        raise UsageError(f"What {path.name} shall say is not known; give the sentence with --text.")
    before = path.read_text() if path.is_file() else None
    said = (before or "").rstrip("\n")
    if line.strip() in said.splitlines():
        return Edit(path, before, before or "")
    apart = "\n\n" if said and not line.lstrip().startswith("-") else "\n" if said else ""
    return Edit(path, before, f"{said}{apart}{line.strip()}\n")

"""What a grader asks of the process that grades: to run a program that it may not run itself.

The fixture `type_checks` compiles code of the grader's with what the model wrote; `written_tests` runs tests that the
model wrote on variants of the project that they test.
"""

import json
import socket
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final, Literal

from convex_evals.core.plain import from_plain
from convex_evals.pipeline.grading.kit.errors import EvalBroken, ToolCrashed
from convex_evals.pipeline.grading.kit.transport import Clock
from convex_evals.pipeline.grading.types import TypeCheckReply, VariantReport, WrittenReply

PATIENCE_SECONDS: Final = 600.0  # longer than any program may take, so that its own limit decides
GIVEN: Final = "given"
VARIANTS: Final = "variants"
MOST_FAILURES: Final = 3


@dataclass(frozen=True, slots=True)
class Service:
    """`socket` takes one JSON text and answers with another. The clock of the test stands still meanwhile."""

    socket: Path
    clock: Clock

    def ask(self, request: str) -> Any:
        with self.clock.stopped(), socket.socket(socket.AF_UNIX) as connection:
            connection.settimeout(PATIENCE_SECONDS)
            connection.connect(str(self.socket))
            connection.sendall(request.encode())
            connection.shutdown(socket.SHUT_WR)
            with connection.makefile("rb") as reply:
                return json.loads(reply.read())


@dataclass
class TypeChecks:
    service: Service
    _known: dict[str, dict[str, tuple[str, ...]]] = field(default_factory=dict)

    def errors(self, snippets: Mapping[str, str]) -> dict[str, tuple[str, ...]]:
        """What the compiler says about each, none for one that compiles. Each is a module of its own in the folder of
        the functions. All are compiled in one process, and asking for the same ones again costs nothing.
        """
        request = json.dumps(dict(snippets))
        if request not in self._known:
            reply = from_plain(TypeCheckReply, self.service.ask(request))
            if reply.crashed:
                raise ToolCrashed(reply.crashed)
            self._known[request] = reply.errors
        return self._known[request]


@dataclass(frozen=True, slots=True)
class Edit:
    """A text that a given file contains exactly once, and what replaces it."""

    path: str
    old: str
    new: str

    def apply(self, text: str) -> str:
        if text.count(self.old) != 1:
            raise EvalBroken(f"{self.path} must contain {self.old!r} once, and does {text.count(self.old)} times")
        return text.replace(self.old, self.new)


Variant = str | Sequence[Edit]
"""A folder in `variants/` whose files replace the given ones (an empty file deletes one), or changes to them."""


@dataclass(frozen=True, slots=True)
class VariantRun:
    """`broken`: no test ran, a file could not be loaded, or other tests ran than with the first variant."""

    verdict: Literal["passed", "failed", "broken"]
    explanation: str
    """The first tests that failed, each with its message; or what is broken."""


@dataclass
class WrittenTests:
    eval: Path
    service: Service
    _known: dict[str, dict[str, VariantRun]] = field(default_factory=dict)

    def run(self, variants: Mapping[str, Variant]) -> dict[str, VariantRun]:
        """All variants in a few processes. Running the same ones again costs nothing.

        Tests that bring such a process down, hang or forge its report fail as a whole.
        """
        request = json.dumps({name: self._changes(variant) for name, variant in variants.items()})
        if request not in self._known:
            reply = from_plain(WrittenReply, self.service.ask(request))
            if reply.crashed:
                raise ToolCrashed(reply.crashed)
            self._known[request] = dict(_runs(variants, reply))
        return self._known[request]

    def _changes(self, variant: Variant) -> dict[str, str | None]:
        if isinstance(variant, str):
            folder = self.eval / VARIANTS / variant
            files = {path.relative_to(folder).as_posix(): path.read_text() for path in folder.rglob("*.*")}
            if not files:
                raise EvalBroken(f"there is no variant {VARIANTS}/{variant}")
            return {path: text or None for path, text in files.items()}
        changed: dict[str, str | None] = {}
        for edit in variant:
            text = changed.get(edit.path) or (self.eval / GIVEN / edit.path).read_text()
            changed[edit.path] = edit.apply(text)
        return changed


def _runs(variants: Mapping[str, Variant], reply: WrittenReply) -> Iterator[tuple[str, VariantRun]]:
    """The same tests must have run with every variant, so that none is left out where it would not do."""
    expected = [test.name for test in reply.variants[next(iter(variants))].tests] if reply.variants else []
    for name in variants:
        yield name, VariantRun("broken", reply.problem) if reply.problem else _run(reply.variants[name], expected)


def _run(report: VariantReport, expected: list[str]) -> VariantRun:
    names = [test.name for test in report.tests]
    if report.problem or not names:
        return VariantRun("broken", report.problem or "there are no tests")
    if sorted(names) != sorted(expected):
        return VariantRun("broken", "other tests ran than with the first variant")
    failures = [f"{test.name}: {test.message}" for test in report.tests if test.state == "failed"]
    if failures:
        return VariantRun("failed", "\n".join(failures[:MOST_FAILURES]))
    return VariantRun("passed", "") if report.has_passed else VariantRun("broken", "every test was skipped")

"""What would have happened otherwise: without a rule, in another trial, with another model, and what the task says."""

import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from convex_evals.analysis.evidence import Counterfactuals, Demand, Evidence, OtherModel, Repeats
from convex_evals.analysis.task import mentions, read_task
from convex_evals.core.diagnostics import Diagnostic
from convex_evals.models import BUILT_IN
from convex_evals.scores import AttemptDetails, RunRecord

if TYPE_CHECKING:
    from convex_evals.scores import ScoresStore


MOST_RUNS: Final = 40


@dataclass(frozen=True, slots=True)
class Neighbour:
    """One result with a verdict. `checks` are the fingerprints of what its steps complained about."""

    run: str
    model: str
    provider: str
    attempt: str
    eval: str
    trial: int
    passed: bool
    files: str | None  # the artifact
    checks: frozenset[str] = frozenset()

    @property
    def is_built_in(self) -> bool:
        return self.provider == BUILT_IN


def read_neighbours(store: "ScoresStore", run: RunRecord, evals: Collection[str]) -> tuple[Neighbour, ...]:
    """From this run and the newest others, newest first.

    Only what was asked and graded in the same way: a verdict that another grader reached says nothing about this one.
    """
    wanted = {each for each in store.planned(run.id) if each.eval in evals}
    alike = [each for each in store.runs() if each.id != run.id and each.fingerprints.graded_like(run.fingerprints)]
    return tuple(
        neighbour(each, details)
        for each in (run, *alike[:MOST_RUNS])
        if (same := {planned.eval for planned in wanted.intersection(store.planned(each.id))})
        for details in store.details(each.id)
        if details.attempt.eval in same and details.attempt.status in ("passed", "failed")
    )


def neighbour(run: RunRecord, details: AttemptDetails) -> Neighbour:
    attempt, generation = details.attempt, details.generation
    return Neighbour(
        run.id,
        run.model,
        run.provider,
        attempt.id,
        attempt.eval,
        attempt.trial,
        attempt.status == "passed",
        generation.files if generation else None,
        frozenset(each.fingerprint for step in details.steps if step.status == "failed" for each in step.diagnostics),
    )


_ASSERTION: Final = re.compile(
    r"\b(?:same_function_spec|same_schema|function_?[sS]pec|api_?[sS]pec|compareSchema|compareFunctionSpec)\b"
    r"|\.schema\(\)|\.functions\(\)|\bfiles\.",
)
_MESSAGE: Final = re.compile(
    r"the functions differ from those of the task|the schema differs from that of the task"
    r"|\b(?:function|api) ?spec\b|\bfunctionSpec\b|\bapiSpec\b|\bschema (?:mismatch|comparison|differs|difference)\b",
    re.IGNORECASE,
)


_DECLARATION: Final = re.compile(
    r"(?:index|field|table|function|route) \w+|an? (?:public|internal) (?:query|mutation|action)\b"
)


def compares_declarations(test: Diagnostic) -> bool:
    """Whether a test looks at function specs, schemas or sources instead of calling anything."""
    sides = (test.expected or "", test.received or "")
    declared = "nothing" in sides and any(_DECLARATION.match(side) for side in sides)
    return (
        declared
        or source_fragment(test) is not None
        or bool(_ASSERTION.search(test.assertion or "") or _MESSAGE.search(test.message))
    )


_SOURCE: Final = re.compile(r"^(?:in |not in )?['\"].*\b(?:import|export) .*(?:\\n|\bfrom\b)", re.DOTALL)
_IN_SOURCE: Final = re.compile(
    r"\b(?:source|code|file|\w+\.tsx?)\b[^\n]{0,30}\b(?:contains?|includes?|match(?:es)?|us(?:es?|ing)) "
    r"[`'\"](?P<fragment>[^`\n]{2,60}?)[`'\"](?:$|[\s.,;)])",
    re.I,
)


def source_fragment(test: Diagnostic) -> str | None:
    """What a test looks for in the source of the answer, if that is what it does."""
    if (found := _IN_SOURCE.search(test.message)) and test.step == "tests":
        return found["fragment"]
    if test.expected and test.received and _SOURCE.match(test.expected):
        return test.received.strip("'\"")
    return None


MOST: Final = 12
_FUNCTION: Final = re.compile(r"[\"'][\w/]+:(\w+)[\"']")
_KEY: Final = re.compile(r"[\"']?(\w{2,40})[\"']?\s*:(?!//)")
_PHRASE: Final = re.compile(r"\"([^\"\n]{3,80})\"|'([^'\n]{3,80})'")
_STATUS: Final = re.compile(r"(?<![\w.])([1-5]\d\d)(?![\w.])")
_DIFFERENCE: Final = re.compile(r"first difference: (?P<path>[^:\n]+):")
_DECLARED: Final = re.compile(r"^(?P<name>[\w:/]+)(?: (?P<part>args|returns))?: expected ", re.MULTILINE)
_MUST_FAIL: Final = re.compile(r"fails\(\s*[\"']([^\"']+)[\"']")
_CHECKED: Final = re.compile(r"\bassert|\bexpect\b|==|\bfails\(|\braises\b|toThrow|toEqual|toBe")


def read_demands(tests: tuple[Diagnostic, ...], task: str, grader: str) -> tuple[Demand, ...]:
    """In the order in which they are met. Without the task nothing can be said."""
    if not task:
        return ()
    terms = dict.fromkeys(term for test in tests for term in _terms(test, grader))
    declared = dict.fromkeys(each for test in tests for each in _declared(test, task))
    return (*(Demand(term, is_stated(term, task)) for term in list(terms)[:MOST]), *declared)


_INDEX: Final = re.compile(r"expected index [`'\"]?(\w+)[`'\"]?(?: on |,? (?:but )?(?:received|got) )")
_MORE: Final = re.compile(
    r"expected nothing, received (?:an? (?:public|internal) )?(index|field|table|function|route|query|mutation|action)"
    r" ?(\w*)"
)


def _declared(test: Diagnostic, task: str) -> Iterator[Demand]:
    """Names of indexes, word for word; and that there is nothing besides what the task asks for."""
    if fragment := source_fragment(test):
        yield Demand(fragment, fragment.strip(".()") in task)
    compared = f"expected {test.expected}, received {test.received}"
    text = test.message if compared in test.message else f"{test.message}\n{compared}"
    for name in _INDEX.findall(text):
        yield Demand(name, name in task)
    for kind, name in _MORE.findall(text):
        ruled_out = re.search(rf"\b(?:no|only|any|exactly)\b[^.\n]*\b{kind}", task, re.IGNORECASE)
        yield Demand(f"no other {kind} than those it names", bool(ruled_out) or bool(name and name in task))


def is_stated(term: str, task: str) -> bool:
    """As it is, or as the words it is made of."""
    if re.search(rf"(?<!\w){re.escape(term)}(?!\w)", task, re.IGNORECASE):
        return True
    words = [word.lower() for word in re.findall(r"[A-Z]?[a-z]+|\d+", term) if len(word) > 1]
    stated = set(re.findall(r"[a-z]+|\d+", task.lower()))
    return len(words) > 1 and all(word in stated or f"{word}s" in stated for word in words)


def _terms(test: Diagnostic, grader: str) -> Iterator[str]:
    if source_fragment(test):
        return
    assertion, expected = test.assertion or "", test.expected or ""
    yield from _FUNCTION.findall(assertion)
    yield from _MUST_FAIL.findall(assertion)
    if found := _DIFFERENCE.search(test.message):
        yield from (part for part in re.findall(r"[A-Za-z_]\w+", found["path"]) if not part.startswith("at"))
    for declared in _DECLARED.finditer(test.message):
        yield declared["part"] or declared["name"].rpartition(":")[2]
    if "{" in expected:
        yield from (key for key in _KEY.findall(expected) if not key.startswith("_") and not key.isdigit())
    yield from (phrase for phrase in _phrases(expected) if not _is_data(phrase, grader))
    yield from _STATUS.findall(assertion) if "status" in assertion else ()


def _phrases(expected: str) -> Iterator[str]:
    """Sentences that an answer would have to use word for word."""
    for double, single in _PHRASE.findall(expected):
        if " " in (text := double or single):
            yield text


def _is_data(phrase: str, grader: str) -> bool:
    """Whether the grader puts the phrase in itself before it asks for it."""
    return any(phrase in line and not _CHECKED.search(line) for line in grader.splitlines())


_CALLED: Final = re.compile(r"[\"'][\w/]+:(\w+)[\"']")
_DEFINED: Final = re.compile(r"^def (?P<name>\w+)\(.*?(?=^\S|\Z)", re.MULTILINE | re.DOTALL)


def task_of_test(test: Diagnostic, evidence: Evidence) -> str:
    """The part of the task that is about the functions which the test calls, or about none in particular."""
    bodies = {found["name"]: found[0] for found in _DEFINED.finditer(evidence.grader)}
    body = test.assertion or ""
    if not _CALLED.search(body):
        own = bodies.get((test.name or "").partition("[")[0], "")
        body = "\n".join([own, *(text for name, text in bodies.items() if f"{name}(" in own)])
    names, known = set(_CALLED.findall(body)), set(_CALLED.findall(evidence.grader))
    if not names:
        known = {name for text in evidence.answer.values() for name in _EXPORTED.findall(text)}
        names = _spoken_of(test, evidence, known)
    return read_task(evidence.task).about(names, known - names) if names else evidence.task


_EXPORTED: Final = re.compile(r"^export (?:const|(?:async )?function) (\w+)", re.MULTILINE)
LEAST_LINE: Final = 12  # characters of a line that is not just anywhere


def _spoken_of(test: Diagnostic, evidence: Evidence, known: Collection[str]) -> set[str]:
    """The reference's functions that the complaint names, or else those in which the code stands that differs."""
    said = {name for name in known if mentions(f"{test.name or ''} {test.message} {evidence.error}", name)}
    return said or {
        name
        for text in evidence.answer.values()
        for name, body in _functions(text)
        if any(line in body for line in _lines(evidence.cause.expected_snippet))
    }


def _functions(text: str) -> Iterator[tuple[str, str]]:
    starts = list(_EXPORTED.finditer(text))
    for number, found in enumerate(starts):
        yield found[1], text[found.start() : starts[number + 1].start() if number + 1 < len(starts) else len(text)]


def _lines(code: str) -> list[str]:
    return [line for each in code.splitlines() if len(line := each.strip()) >= LEAST_LINE and not line.startswith("//")]


def gather_counterfactuals(
    evidence: Evidence, own: Neighbour | None = None, neighbours: Sequence[Neighbour] = ()
) -> Counterfactuals:
    """What the evidence itself says, and what other results of the same eval add to it."""
    tests = tuple(each for each in evidence.diagnostics if each.step == "tests")
    rules = dict.fromkeys(each.name for each in evidence.diagnostics if each.step == "eslint" and each.name)
    others = [each for each in neighbours if each.eval == evidence.eval and own and each.attempt != own.attempt]
    return Counterfactuals(
        lint_rules=tuple(rules),
        passes_without_lint=_passes_without_lint(evidence),
        behaviour_passes=_behaviour_passes(evidence),
        other_trials=_other_trials(own, others),
        same_answer=_same_answer(own, others),
        other_models=_other_models(own, others),
        demands=read_demands(tests, evidence.task, evidence.grader),
    )


def _passes_without_lint(evidence: Evidence) -> bool | None:
    if evidence.failed_step != "eslint" or not evidence.steps:
        return None
    return all(step.status == "passed" for step in evidence.steps if step.name != "eslint")


def _behaviour_passes(evidence: Evidence) -> bool | None:
    """None when no test ran, or nothing but declarations was tested."""
    failed = [each for each in evidence.diagnostics if each.step == "tests"]
    if not failed:
        ran = evidence.tests is not None and evidence.tests.total > 0
        return evidence.tests.passed == evidence.tests.total if ran and evidence.tests else None
    if not all(compares_declarations(test) for test in failed):
        return False
    return None if evidence.tests is not None and evidence.tests.passed == 0 else True


def _other_trials(own: Neighbour | None, others: Sequence[Neighbour]) -> Repeats | None:
    found = [each for each in others if own and each.run == own.run and each.trial != own.trial]
    return _repeats(found)


def _same_answer(own: Neighbour | None, others: Sequence[Neighbour]) -> Repeats | None:
    """Wherever the very same files were graded: a verdict that changes is not the answer's doing."""
    return _repeats([each for each in others if own and own.files and each.files == own.files])


def _repeats(found: Sequence[Neighbour]) -> Repeats | None:
    passed = sum(each.passed for each in found)
    return Repeats(passed, len(found) - passed) if found else None


def _other_models(own: Neighbour | None, others: Sequence[Neighbour]) -> tuple[OtherModel, ...]:
    """The latest answer of each. Built-in models are not language models, and do not count."""
    latest: dict[str, Neighbour] = {}
    for each in others:
        if own and each.model != own.model and not each.is_built_in:
            latest.setdefault(each.model, each)
    return tuple(
        OtherModel(each.model, each.run, each.passed, bool(own and own.checks & each.checks))
        for each in latest.values()
    )

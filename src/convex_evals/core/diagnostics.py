"""What a step of grading found: complaints of tools, results of tests, and what a failing test compared.

A diagnostic's fingerprint stays the same when the same mistake is made in another file, project or run. It is a kind
and the mistake: `lint:no-debugger`, `type:TS2339 Property 'iter' …`, `deploy:IndexFieldsContainCreationTime`,
`runtime:TypeError: …`, `test:test_lists`. Reports and scores keep fingerprints, so their form must not change.
"""

import re
from dataclasses import dataclass
from typing import Final, Literal, NamedTuple

from convex_evals.core.text import shortened
from convex_evals.core.verdicts import StepName

KINDS: Final[dict[StepName, str]] = {"tsc": "type", "eslint": "lint", "tests": "test"}
"""What the complaints of a step are called in fingerprints and reports, where that is not the step's own name."""
TestStatus = Literal["passed", "failed", "skipped", "unseen", "broken", "hangs", "lost", "crashed"]
"""`broken` and `hangs` are the grader's own fault, `lost` that of the deployment, `crashed` that of a tool of ours.

`unseen` tests need a browser, and there is none: they count neither way, and the step says so.
"""


@dataclass(frozen=True, slots=True)
class Place:
    """`file` is relative to the project, or the name of the grader's file."""

    file: str | None = None
    line: int | None = None
    column: int | None = None

    def __str__(self) -> str:
        """`convex/index.ts:12`, as far as it is known."""
        return f"{self.file}:{self.line}" if self.file and self.line else self.file or ""


NOWHERE: Final = Place()
UNSPECIFIC: Final = frozenset({"Error", "BadDeployment", "InvalidModules", "ModulesFailed"})
"""Codes of deployments that say no more than that something is wrong."""


@dataclass(frozen=True, slots=True)
class Diagnostic:
    """One thing that a tool said about an answer.

    `name` is what the kind of mistake is called: TS2339, a lint rule, a test, a package, or a deployment's code.
    """

    step: StepName
    message: str
    name: str | None = None
    file: str | None = None
    line: int | None = None
    column: int | None = None
    expected: str | None = None
    received: str | None = None
    assertion: str | None = None  # the line of the grader that was not satisfied
    tool: str = ""
    code: str | None = None  # the tool's own word where `name` is ours: npm's E404
    fingerprint: str = ""
    """The same for the same mistake, whatever the paths, line numbers and ids in its message."""

    @property
    def kind(self) -> str:
        return KINDS.get(self.step, self.step)

    @property
    def place(self) -> str:
        return str(Place(self.file, self.line))


@dataclass(frozen=True, slots=True)
class TestResult:
    """One test of a grader. `message` says why it did not pass."""

    __test__ = False  # not a test class: pytest must not collect it

    name: str
    status: TestStatus
    message: str = ""
    file: str | None = None
    line: int | None = None
    expected: str | None = None
    received: str | None = None
    assertion: str | None = None
    duration_ms: float = 0.0

    @property
    def place(self) -> str:
        return str(Place(self.file, self.line))


def comparison(test: Diagnostic, longest: int) -> str | None:
    """What a test expected and received, each in at most so many characters. None where that shows no difference."""
    if test.expected is None or test.received is None:
        return None
    expected, received = shortened(test.expected, longest), shortened(test.received, longest)
    cut = [side.rstrip(" …") for side in (expected, received) if side.endswith("…")]
    if test.message.strip() and any(expected.startswith(side) and received.startswith(side) for side in cut):
        return None
    return f"expected {expected}, received {received}"


def type_error(code: str, message: str, place: Place = NOWHERE) -> Diagnostic:
    first = without_type_arguments(message.partition("\n")[0])
    shown = first if code in _ABOUT_MEMBERS else _QUOTED.sub("'…'", first)
    return _placed("tsc", "tsc", code, message, place, f"type:{code} {normalised(shown)}")


def finding(tool: str, rule: str, message: str, place: Place = NOWHERE) -> Diagnostic:
    """What a linter found."""
    return _placed("eslint", tool, rule, message, place, f"lint:{rule[:LONGEST_NAME]}")


def bundler_error(message: str, place: Place = NOWHERE) -> Diagnostic:
    return _placed("deploy", "esbuild", "bundle", message, place, f"deploy:bundle {normalised(message)}")


def refusal(code: str, message: str, place: Place = NOWHERE) -> Diagnostic:
    """A push that the deployment, or the CLI on its behalf, refused. The fingerprint is the code or, if that says
    nothing, the first line of the message."""
    name = None if code in UNSPECIFIC else code
    if name is not None:
        fingerprint = f"deploy:{name[:LONGEST_NAME]}"
    else:
        fingerprint = f"deploy:refused {normalised(next((line for line in message.splitlines() if line.strip()), ''))}"
    return _placed("deploy", "convex", name, message, place, fingerprint)


def failed_test(tool: str, test: TestResult) -> Diagnostic:
    """The fingerprint is the error that the answer threw, if any: unlike the test, it is the same in other evals."""
    thrown = _THROWN.search(test.message)
    failed = f"test:{test.name.partition('[')[0][:LONGEST_NAME]}"
    return Diagnostic(
        "tests",
        test.message,
        test.name,
        test.file,
        test.line,
        expected=test.expected,
        received=test.received,
        assertion=test.assertion,
        tool=tool,
        fingerprint=f"runtime:{normalised(thrown['error'])}" if thrown else failed,
    )


def stated(step: StepName, failure: str | None, message: str, place: Place = NOWHERE, tool: str = "") -> Diagnostic:
    """A complaint in its own words. `failure` is the kind of failure, which is all that names it in the first steps."""
    name = failure if step in ("filesystem", "install") else None
    fingerprint = f"{KINDS.get(step, step)}:{name or normalised(message.partition(chr(10))[0])}"
    return _placed(step, tool, name, message, place, fingerprint)


def _placed(step: StepName, tool: str, name: str | None, message: str, place: Place, fingerprint: str) -> Diagnostic:
    return Diagnostic(step, message, name, place.file, place.line, place.column, tool=tool, fingerprint=fingerprint)


LONGEST: Final = 160
LONGEST_NAME: Final = 200
_STACK: Final = re.compile(r"^\s+at .*$", re.MULTILINE)
_REPLACED: Final = (
    (re.compile(r"\[Request ID: [0-9a-f]+\]\s*"), ""),
    (re.compile(r"https?://(?:127\.0\.0\.1|localhost)(?::\d+)?\S*"), "URL"),
    (re.compile(r"\b(?=[a-z0-9]*\d)[0-9a-hjkmnp-tv-z]{31,37}\b"), "ID"),
    (re.compile(r"\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b"), "ID"),
    (
        re.compile(r"(?:\.{0,2}/)?(?:[\w.@-]+/)*[\w.-]+\.(?:tsx?|jsx?|mjs|cjs|py|json)(?:[:(]\d+(?:[:,]\d+)?\)?)?"),
        "FILE",
    ),
    # A bundler renames variables, so `o.map` and `e.map` are the same complaint.
    (re.compile(r"\b[A-Za-z]\$?\d?\.(?=\w)"), "_."),
    (re.compile(r"\b\d+(?:\.\d+)?\b"), "N"),
)
# Errors about a name that is not there: the name is the mistake. In others it is whatever the project calls it.
_ABOUT_MEMBERS: Final = frozenset({"TS2305", "TS2307", "TS2339", "TS2353", "TS2551", "TS2561", "TS2614", "TS2724"})
_QUOTED: Final = re.compile(r"'[^']*'")
_TYPE_ARGUMENTS: Final = re.compile(r"'([\w.\"$]+)<[^']*'")
_THROWN: Final = re.compile(r"Uncaught (?P<error>\w*Error: [^\n]+?)(?=\\n|[\"'], [\"']|\n|$)")


def normalised(message: str) -> str:
    """The message without stack, places, ids, addresses and numbers, on one line."""
    text = _STACK.sub("", message[: 100 * LONGEST])
    for pattern, replacement in _REPLACED:
        text = pattern.sub(replacement, text)
    line = " ".join(text.split())
    return line if len(line) <= LONGEST else f"{line[: LONGEST - 1]}…"


def without_type_arguments(message: str) -> str:
    """`type 'OrderedQuery<{ … }>'` is `type 'OrderedQuery'`: arguments name the tables of one project."""
    return _TYPE_ARGUMENTS.sub(r"'\1'", message)


_LABELLED: Final = re.compile(r"^\s*expected: (?P<expected>.*)\n\s*received: (?P<received>.*)$", re.MULTILINE)
_DECLARED: Final = re.compile(
    r"^(?P<what>[^\n]+?): expected (?P<expected>.+), (?:but )?(?:received|got) (?P<received>.+)$", re.MULTILINE
)
_OPERATOR: Final = re.compile(
    r"^assert (?P<received>.+?) (?P<operator>==|<=|>=|<|>|!=|in|not in) (?P<expected>.+)$", re.M
)
_SUBJECT_TO_EQUAL: Final = re.compile(
    r"expected .+? to (?:deeply |strictly )?(?:equal|be|match|contain|include|have)(?: [a-z]+)*? "
    r"(?P<expected>\S.*?)[,;]\s+(?:but )?(?:received|got) (?P<received>[^\n]+?)$",
    re.MULTILINE,
)
_TO_EQUAL: Final = re.compile(
    r"expected (?P<received>[^\n]+?(?:\n {2,}at [^\n]+?)*) to (?:deeply |strictly )?equal "
    r"(?P<expected>.+?)(?: // .*)?$",
    re.MULTILINE,
)
_TO_BE: Final = re.compile(
    r"expected (?P<received>.+?) to (?:be|match|contain|include)(?: [a-z]+)* "
    r"(?P<expected>.+?)(?: // .*)?$",
    re.MULTILINE,
)
_PLAIN: Final = re.compile(
    r"^\s*expected (?P<expected>[^\n]+?)[,;]?\s+(?:but )?(?:received|got) (?P<received>[^\n]+)$", re.MULTILINE
)
_TO_THROW: Final = re.compile(
    r"expected .+? to throw (?:an )?error (?P<how>including|matching|with(?: message)?) "
    r"(?P<words>.+?),? but got (?P<received>.+)$",
    re.MULTILINE,
)
_LENGTH: Final = re.compile(r"expected .+? to have a length of (?P<expected>\d+) but got (?P<received>\d+)")
_MUST_FAIL: Final = re.compile(r"expected a call to fail(?: with (?P<text>.+?))?, but all calls succeeded")
_CALL_FAILED: Final = re.compile(r"CallFailed: (?P<path>\S+) failed on [^:]+: (?P<error>[^\n]+)")


class Comparison(NamedTuple):
    expected: str | None = None
    received: str | None = None


def compared(message: str) -> Comparison:
    if thrown := _TO_THROW.search(message):
        return Comparison(f"an error {thrown['how']} {thrown['words']}", thrown["received"].strip("'\""))
    if length := _LENGTH.search(message):
        return Comparison(f"a length of {length['expected']}", f"a length of {length['received']}")
    for pattern in (_LABELLED, _DECLARED, _SUBJECT_TO_EQUAL, _TO_EQUAL, _TO_BE):
        if found := pattern.search(message):
            return Comparison(found["expected"].strip(), found["received"].strip())
    if failing := _MUST_FAIL.search(message):
        return Comparison(f"an error {failing['text'] or ''}".strip(), "success")
    if called := _CALL_FAILED.search(message):
        return Comparison("success", called["error"])
    if compared := _OPERATOR.search(message):
        sign = "" if compared["operator"] == "==" else f"{compared['operator']} "
        return Comparison(f"{sign}{compared['expected']}", compared["received"])
    if said := _PLAIN.search(message):
        return Comparison(said["expected"].strip(), said["received"].strip())
    return Comparison()

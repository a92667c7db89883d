"""Diagnostics of steps that were recorded before version 0005, read from their logs and excerpts.

Such a step kept nothing but text. Only the revision that fills the table of diagnostics reads it, once per database.
"""

import re
from collections.abc import Iterator
from typing import Final, NamedTuple

from convex_evals.core.diagnostics import (
    NOWHERE,
    Diagnostic,
    Place,
    TestResult,
    TestStatus,
    bundler_error,
    compared,
    failed_test,
    finding,
    refusal,
    stated,
    type_error,
)
from convex_evals.core.verdicts import StepName

_BUNDLER: Final = re.compile(
    r"^[✘X] \[ERROR\] (?P<message>.+?)(?: \[plugin [^\]]+\])?\n(?:\s*\n)?"
    r"(?:\s+(?P<file>[^\s:]+):(?P<line>\d+):(?P<column>\d+):)?",
    re.MULTILINE,
)
_REFUSED: Final = re.compile(r"^✖ Error fetching \w+\s+\S+ \d+ [^:\n]+: (?P<code>\w+): (?P<rest>.*)", re.M | re.S)
_SOURCE: Final = re.compile(r"\(?(?:\.\./|\./)?(?P<file>(?:convex|src)/[\w./-]+?\.[cm]?[jt]sx?):(?P<line>\d+)")
_HEADING: Final = re.compile(r"(?:Hit an error while .*|Unable to .*|Failed to analyze .*):$")
_ANALYSED: Final = re.compile(r"Failed to analyze (?P<file>\S+?\.js): (?P<rest>.*)", re.S)
_SIGN: Final = re.compile(r"^\s*✖\s*(?:Error:\s*)?")
_TYPE_ERROR: Final = re.compile(r"(?:(?P<file>\S.*?)\((?P<line>\d+),(?P<column>\d+)\): )?error (?P<code>TS\d+): ")
_FINDING: Final = re.compile(
    r"^(?P<file>[^\s{\"][^\n:]*):(?P<line>\d+):(?P<column>\d+) (?P<rule>[@\w/().-]+): (?P<message>.*)$", re.MULTILINE
)
_EXCERPT: Final = re.compile(r"^✗ (?P<name>.+?)(?: \((?P<file>grader[\w.]*):(?P<line>\d+)\))?$", re.MULTILINE)
_PYTEST: Final = re.compile(r"^_+ (?P<name>\S.*?) _+$", re.MULTILINE)
_PYTEST_END: Final = re.compile(r"^=+ (?:short test summary|.* (?:failed|passed)).*=+$", re.MULTILINE)
_FRAME: Final = re.compile(r"^\S*?(?P<file>grader\.py):(?P<line>\d+): in .*\n(?P<source>(?:    .*\n)+)", re.MULTILINE)
_VITEST: Final = re.compile(r"^\s*FAIL\s+\S+ > (?P<name>.+)$", re.MULTILINE)
_VITEST_PLACE: Final = re.compile(r"^ *❯ (?:\S+ )?(?:\S*/)?(?P<file>[^\s/]+):(?P<line>\d+):\d+$", re.MULTILINE)
_VITEST_RULE: Final = re.compile(r"^⎯+.*$", re.MULTILINE)  # between failures
_VITEST_SOURCE: Final = re.compile(r"^\s*\d+\|\s(?P<source>.*)\n\s*\|\s+\^", re.MULTILINE)
_PYTEST_LINE: Final = re.compile(
    r"^\S*grader\.py::(?P<name>.+?) (?P<status>PASSED|FAILED|ERROR|SKIPPED|XFAIL|XPASS)\b", re.MULTILINE
)
_VITEST_LINE: Final = re.compile(
    r"^ *(?P<status>[✓×↓]) \S+ > (?P<name>.+?)(?: \[skipped\])?(?: +(?P<ms>\d+)\s?ms)?$", re.MULTILINE
)
_STATUSES: Final[dict[str, TestStatus]] = {"PASSED": "passed", "✓": "passed", "SKIPPED": "skipped", "↓": "skipped"}
_ERROR_TYPE: Final = re.compile(r"^(?:AssertionError|Failed): |^(?:\w+\.)+(?=\w+: )")


class OldStep(NamedTuple):
    name: StepName
    failure: str | None
    excerpt: str
    log: str = ""


def read_diagnostics(step: OldStep) -> tuple[Diagnostic, ...]:
    """What a step that did not pass complained about. Without its log, the excerpt has to do."""
    excerpt = step.excerpt.strip()
    return tuple(_read(step)) or tuple(stated(step.name, step.failure, text) for text in (excerpt,) if text)


def read_test_results(step: OldStep) -> tuple[TestResult, ...]:
    """Every test that the log names, with what is told of those that failed."""
    if step.name != "tests":
        return ()
    failed = {test.name: test for test in _failed_tests(step)}
    lines = [*_PYTEST_LINE.finditer(step.log)] or [*_VITEST_LINE.finditer(step.log)]
    statuses: dict[str, TestStatus] = {}
    for line in lines:  # a test whose teardown fails has two lines, of which the second decides
        statuses[line["name"].replace("::", ".")] = _STATUSES.get(line["status"], "failed")
    return tuple(failed.get(name) or TestResult(name, status) for name, status in statuses.items())


def _failed_tests(step: OldStep) -> list[TestResult]:
    text = _without_excerpt(step) or step.excerpt
    return list(_from_pytest(text)) or list(_from_vitest(text)) or list(_from_excerpt(step.excerpt))


def _read(step: OldStep) -> list[Diagnostic]:
    text = _without_excerpt(step) or step.excerpt
    match step.name:
        case "deploy":
            return _deploy_errors(_cli_output(text) if step.log else text)
        case "tsc":
            return _type_errors(text)
        case "eslint":
            return _findings(text)
        case "tests":
            return [failed_test("", test) for test in _failed_tests(step)]
    return []


def _without_excerpt(step: OldStep) -> str:
    """A log ends with the excerpt, which would be read as a second complaint."""
    before, marker, _ = step.log.rpartition(f"\n{step.failure}: ")
    return before if marker else step.log


def _cli_output(log: str) -> str:
    """The part of a log that the CLI printed when it was asked to deploy the project."""
    start = max(log.rfind("bin/main.js dev --once"), 0)
    section = log[start:].partition("\n")[2] if start else log
    return section.partition("\n(exit code")[0] if start else section


def _deploy_errors(output: str) -> list[Diagnostic]:
    bundler = list(_bundler_errors(output))
    if bundler:
        return bundler
    refused = _REFUSED.search(output)
    if refused is not None:
        return [_refusal(refused["rest"], refused["code"])]
    return [_refusal(output, "Error")] if output.strip() else []


def _bundler_errors(output: str) -> Iterator[Diagnostic]:
    for match in _BUNDLER.finditer(output):
        place = Place(match["file"], int(match["line"]), int(match["column"])) if match["file"] else NOWHERE
        yield bundler_error(match["message"].strip(), place)


def _refusal(text: str, code: str) -> Diagnostic:
    lines = [_SIGN.sub("", line).rstrip() for line in text.strip().splitlines()]
    message = "\n".join(line for line in lines if line and not _HEADING.match(line)) or text.strip()
    analysed = _ANALYSED.search(message)
    message = analysed["rest"] if analysed else message
    found = _SOURCE.search(message)
    if found is not None:
        return refusal(code, message, Place(found["file"], int(found["line"])))
    return refusal(code, message, Place(f"convex/{analysed['file'].removesuffix('.js')}.ts") if analysed else NOWHERE)


def _type_errors(output: str) -> list[Diagnostic]:
    """Each once, however many areas it was found in."""
    found: list[tuple[re.Match[str], list[str]]] = []
    for line in output.splitlines():
        if match := _TYPE_ERROR.match(line):
            found.append((match, [line[match.end() :]]))
        elif found and line.startswith(" "):
            found[-1][1].append(line)
    errors = (type_error(match["code"], "\n".join(lines), _place(match)) for match, lines in found)
    return list(dict.fromkeys(errors))


def _findings(output: str) -> list[Diagnostic]:
    found = (finding("", match["rule"], match["message"], _place(match)) for match in _FINDING.finditer(output))
    return list(dict.fromkeys(found))


def _place(match: re.Match[str]) -> Place:
    return Place(match["file"], int(match["line"]), int(match["column"])) if match["file"] else NOWHERE


def _from_excerpt(excerpt: str) -> Iterator[TestResult]:
    for match, body in _sections(_EXCERPT, excerpt):
        message = "\n".join(line.removeprefix("  ") for line in body.splitlines())
        yield _test(match["name"], message, match)


def _from_pytest(log: str) -> Iterator[TestResult]:
    _, heading, failures = log.partition("= FAILURES =")
    if not heading:
        return
    end = _PYTEST_END.search(failures)
    for match, body in _sections(_PYTEST, failures[: end.start()] if end else failures):
        frames = list(_FRAME.finditer(body))
        message = "\n".join(line[4:] for line in body.splitlines() if line.startswith("E   "))
        assertion = _source(frames[0]["source"]) if frames else None
        yield _test(match["name"], message, frames[-1] if frames else None, assertion)


def _source(lines: str) -> str:
    """Without the marks that pytest puts below."""
    return " ".join(line.strip() for line in lines.splitlines() if line.strip(" ^~"))


def _from_vitest(log: str) -> Iterator[TestResult]:
    for match, section in _sections(_VITEST, log):
        body, *_ = _VITEST_RULE.split(section, maxsplit=1)
        place, source = _VITEST_PLACE.search(body), _VITEST_SOURCE.search(body)
        message = (body[: place.start()] if place else body).strip()
        yield _test(match["name"].strip(), message, place, source["source"].strip() if source else None)


def _test(name: str, text: str, place: re.Match[str] | None, assertion: str | None = None) -> TestResult:
    message = _ERROR_TYPE.sub("", text)
    expected, received = compared(message)
    line = int(place["line"]) if place and place["line"] else None
    return TestResult(name, "failed", message, place["file"] if place else None, line, expected, received, assertion)


def _sections(heading: re.Pattern[str], text: str) -> Iterator[tuple[re.Match[str], str]]:
    """Every heading with what stands below it."""
    matches = list(heading.finditer(text))
    ends = [match.start() for match in matches[1:]] + [len(text)]
    for match, end in zip(matches, ends, strict=False):  # without a heading there is one end too many
        yield match, text[match.end() : end].strip("\n")

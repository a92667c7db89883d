"""Tests that failed: name, assertion, expected and received; from the log of pytest or vitest, else the excerpt."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from convex_evals.analysis.diagnostics.comparisons import compared
from convex_evals.analysis.diagnostics.fingerprints import normalised
from convex_evals.analysis.evidence import Diagnostic

_EXCERPT: Final = re.compile(r"^✗ (?P<name>.+?)(?: \((?P<file>grader[\w.]*):(?P<line>\d+)\))?$", re.MULTILINE)
_PYTEST: Final = re.compile(r"^_+ (?P<name>\S.*?) _+$", re.MULTILINE)
_PYTEST_END: Final = re.compile(r"^=+ (?:short test summary|.* (?:failed|passed)).*=+$", re.MULTILINE)
_FRAME: Final = re.compile(r"^\S*?(?P<file>grader\.py):(?P<line>\d+): in .*\n(?P<source>(?:    .*\n)+)", re.MULTILINE)
_VITEST: Final = re.compile(r"^\s*FAIL\s+\S+ > (?P<name>.+)$", re.MULTILINE)
_VITEST_PLACE: Final = re.compile(r"^ *❯ (?:\S+ )?(?:\S*/)?(?P<file>[^\s/]+):(?P<line>\d+):\d+$", re.MULTILINE)
_VITEST_RULE: Final = re.compile(r"^⎯+.*$", re.MULTILINE)  # between failures
_VITEST_SOURCE: Final = re.compile(r"^\s*\d+\|\s(?P<source>.*)\n\s*\|\s+\^", re.MULTILINE)
_ERROR_TYPE: Final = re.compile(r"^(?:AssertionError|Failed): |^(?:\w+\.)+(?=\w+: )")
_RUNTIME: Final = re.compile(r"Uncaught (?P<error>\w*Error: [^\n]+?)(?=\\n|[\"'], [\"']|\n|$)")


@dataclass(frozen=True, slots=True)
class _FailedTest:
    name: str
    message: str
    file: str | None = None
    line: int | None = None
    assertion: str | None = None


def read_failed_tests(log: str, excerpt: str = "") -> list[Diagnostic]:
    """Of every failed test; the log is complete, the excerpt quotes the first few."""
    found = list(_from_pytest(log)) or list(_from_vitest(log)) or list(_from_excerpt(excerpt))
    return [_diagnostic(test) for test in found]


def _from_excerpt(excerpt: str) -> Iterator[_FailedTest]:
    for match, body in _sections(_EXCERPT, excerpt):
        line = int(match["line"]) if match["line"] else None
        yield _FailedTest(match["name"], _unindented(body, "  "), match["file"], line)


def _from_pytest(log: str) -> Iterator[_FailedTest]:
    _, heading, failures = log.partition("= FAILURES =")
    if not heading:
        return
    end = _PYTEST_END.search(failures)
    for match, body in _sections(_PYTEST, failures[: end.start()] if end else failures):
        frames = list(_FRAME.finditer(body))
        last = frames[-1] if frames else None
        message = _ERROR_TYPE.sub("", "\n".join(line[4:] for line in body.splitlines() if line.startswith("E   ")))
        assertion = _source(frames[0]["source"]) if frames else None
        line = int(last["line"]) if last else None
        yield _FailedTest(match["name"], message, last["file"] if last else None, line, assertion)


def _source(lines: str) -> str:
    """Without the marks that pytest puts below."""
    return " ".join(line.strip() for line in lines.splitlines() if line.strip(" ^~"))


def _from_vitest(log: str) -> Iterator[_FailedTest]:
    for match, section in _sections(_VITEST, log):
        body, *_ = _VITEST_RULE.split(section, maxsplit=1)
        place, source = _VITEST_PLACE.search(body), _VITEST_SOURCE.search(body)
        message = _ERROR_TYPE.sub("", body[: place.start()].strip() if place else body.strip())
        yield _FailedTest(
            match["name"].strip(),
            message,
            place["file"] if place else None,
            int(place["line"]) if place else None,
            source["source"].strip() if source else None,
        )


def _sections(heading: re.Pattern[str], text: str) -> Iterator[tuple[re.Match[str], str]]:
    """Every heading with what stands below it."""
    matches = list(heading.finditer(text))
    ends = [match.start() for match in matches[1:]] + [len(text)]
    for match, end in zip(matches, ends, strict=False):  # without a heading there is one end too many
        yield match, text[match.end() : end].strip("\n")


def _unindented(text: str, indent: str) -> str:
    return "\n".join(line.removeprefix(indent) for line in text.splitlines())


def _diagnostic(test: _FailedTest) -> Diagnostic:
    expected, received = compared(test.message)
    return Diagnostic(
        "test",
        test.message,
        name=test.name,
        file=test.file,
        line=test.line,
        expected=expected,
        received=received,
        assertion=test.assertion,
        fingerprint=_fingerprint(test),
    )


def _fingerprint(test: _FailedTest) -> str:
    """An error that the answer threw says more than the test that met it, and is the same in other evals."""
    thrown = _RUNTIME.search(test.message)
    return f"runtime:{normalised(thrown['error'])}" if thrown else f"test:{test.name.partition('[')[0]}"

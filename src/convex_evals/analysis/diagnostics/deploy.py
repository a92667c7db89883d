"""What the Convex CLI, the bundler and the deployment say when they refuse a project."""

import re
from collections.abc import Iterator
from typing import Final

from convex_evals.analysis.diagnostics.fingerprints import normalised
from convex_evals.analysis.evidence import Diagnostic

_BUNDLER: Final = re.compile(
    r"^[✘X] \[ERROR\] (?P<message>.+?)(?: \[plugin [^\]]+\])?\n(?:\s*\n)?(?:\s+(?P<file>[^\s:]+):(?P<line>\d+):\d+:)?",
    re.MULTILINE,
)
_REFUSED: Final = re.compile(r"^✖ Error fetching \w+\s+\S+ \d+ [^:\n]+: (?P<code>\w+): (?P<rest>.*)", re.M | re.S)
_PLACE: Final = re.compile(r"\(?(?:\.\./|\./)?(?P<file>(?:convex|src)/[\w./-]+?\.[cm]?[jt]sx?):(?P<line>\d+)")
_HEADING: Final = re.compile(r"(?:Hit an error while .*|Unable to .*|Failed to analyze .*):$")
_FAILED_ANALYSIS: Final = re.compile(r"Failed to analyze (?P<file>\S+?\.js): (?P<rest>.*)", re.S)
_SIGN: Final = re.compile(r"^\s*✖\s*(?:Error:\s*)?")
_UNSPECIFIC: Final = frozenset({"Error", "BadDeployment", "InvalidModules", "ModulesFailed"})


def read_deploy_errors(output: str) -> list[Diagnostic]:
    """What the bundler complains about, or else the one refusal of the deployment."""
    bundler = list(_bundler_errors(output))
    if bundler:
        return bundler
    refused = _REFUSED.search(output)
    if refused is not None:
        return [_refusal(refused["rest"], refused["code"])]
    return [_refusal(output, "Error")] if output.strip() else []


def command_output(log: str) -> str:
    """The part of a step's log that the CLI printed when it was asked to deploy the project."""
    start = max(log.rfind("bin/main.js dev --once"), 0)
    section = log[start:].partition("\n")[2] if start else log
    return section.partition("\n(exit code")[0] if start else section


def _bundler_errors(output: str) -> Iterator[Diagnostic]:
    for match in _BUNDLER.finditer(output):
        message = match["message"].strip()
        line = int(match["line"]) if match["line"] else None
        fingerprint = f"deploy:bundle {normalised(message)}"
        yield Diagnostic("deploy", message, "bundle", match["file"], line, fingerprint=fingerprint)


def _refusal(text: str, code: str) -> Diagnostic:
    lines = [_SIGN.sub("", line).rstrip() for line in text.strip().splitlines()]
    told = [line for line in lines if line and not _HEADING.match(line)]
    message = "\n".join(told) or text.strip()
    analysed = _FAILED_ANALYSIS.search(message)
    message = analysed["rest"] if analysed else message
    place = _PLACE.search(message)
    file = place["file"] if place else f"convex/{analysed['file'].removesuffix('.js')}.ts" if analysed else None
    name = None if code in _UNSPECIFIC else code
    kind = name or "refused"
    first = next((line for line in message.splitlines() if line.strip()), "")
    return Diagnostic(
        "deploy",
        message,
        name=name,
        file=file,
        line=int(place["line"]) if place else None,
        fingerprint=f"deploy:{kind}" if name else f"deploy:{kind} {normalised(first)}",
    )

"""The step `filesystem`: the model's files become a project, if their paths and sizes allow it."""

import re
import unicodedata
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from convex_evals.core.diagnostics import NOWHERE, Place, stated
from convex_evals.core.steps import StepResult
from convex_evals.pipeline.project_config import ConfigError, parse_config
from convex_evals.pipeline.step import RunningStep
from convex_evals.suite import Given

LONGEST_PATH: Final = 240
LONGEST_NAME: Final = 120
DEEPEST: Final = 16
_GENERATED: Final = frozenset({"_generated", "node_modules"})
_CONFIGURATION: Final = re.compile(r"(?:package|package-lock|convex|(?:ts|js)config.*)\.json", re.IGNORECASE)
_FORBIDDEN: Final = frozenset('\\:*?"<>|')
_DEVICES: Final = frozenset(
    {"con", "prn", "aux", "nul", *(f"{name}{number}" for name in ("com", "lpt") for number in range(1, 10))}
)
MOST_FILES: Final = 500
LARGEST_FILE: Final = 1_000_000
LARGEST_PROJECT: Final = 8_000_000
_QUOTED: Final = 10
NOTHING_GIVEN: Final = Given()


@dataclass(frozen=True, slots=True)
class Refusal:
    """Why a path is not written, and the kind of failure that is."""

    path: str
    reason: str
    kind: str = "path-refused"

    def __str__(self) -> str:
        return f"{shown(self.path)}: {self.reason}"


def shown(path: str) -> str:
    """The path with control and invisible characters spelled out, and not longer than a line."""
    visible = "".join(character if character.isprintable() else ascii(character)[1:-1] for character in path)
    return visible if len(visible) <= LONGEST_PATH else f"{visible[:LONGEST_PATH]}…"


def clean(path: str) -> str:
    """A leading `./` says nothing."""
    return path.removeprefix("./")


def is_hidden(path: str) -> bool:
    """Dotfiles configure package managers, linters and shells: none of them is part of the answer."""
    return any(name.startswith(".") and name not in {".", ".."} for name in path.split("/"))


def refuse(path: str) -> Refusal | None:
    """The first rule that a path breaks."""
    reason = _whole(path) or next((reason for name in path.split("/") if (reason := _name(name))), None)
    if reason:
        return Refusal(path, reason)
    folders = path.split("/")[:-1]
    if any(_CONFIGURATION.fullmatch(name) for name in folders):
        return Refusal(path, "a folder must not be named like a file that configures tools")
    generated = _GENERATED.intersection(name.casefold() for name in path.split("/"))
    if generated:
        return Refusal(path, f"{min(generated)} is written by tools, never by hand", "generated-refused")
    return None


def refuse_together(paths: Iterable[str]) -> list[Refusal]:
    """Paths that cannot exist side by side: the same one in another case, or a file that is also a folder."""
    seen: dict[str, str] = {}
    refusals = []
    for path in paths:
        folded = unicodedata.normalize("NFC", path).casefold()
        if folded in seen:
            refusals.append(Refusal(path, f"is the same file as {shown(seen[folded])} on many systems"))
        seen[folded] = path
    for folded, path in seen.items():
        parents = folded.split("/")[:-1]
        above = next((p for n in range(1, len(parents) + 1) if (p := "/".join(parents[:n])) in seen), None)
        if above is not None:
            refusals.append(Refusal(path, f"lies below {shown(seen[above])}, which is a file"))
    return refusals


def _whole(path: str) -> str | None:
    if not path:
        return "a path must not be empty"
    if not path.isprintable():
        return "a path must not have control or invisible characters"
    if path.startswith("/"):
        return "a path must be relative to the project, not absolute"
    if bad := sorted(_FORBIDDEN.intersection(path)):
        return f"a path must not contain {' '.join(bad)}"
    if len(path.encode()) > LONGEST_PATH:
        return f"a path must not be longer than {LONGEST_PATH} bytes"
    if path.count("/") >= DEEPEST:
        return f"a path must not be deeper than {DEEPEST} folders"
    return None


def _name(name: str) -> str | None:
    if name == "..":
        return "a path must stay inside the project"
    if name in {"", "."}:
        return "a path must not have empty parts"
    if name != name.strip() or name.endswith("."):
        return "a name must not begin or end with a space, or end with a dot"
    if len(name.encode()) > LONGEST_NAME:
        return f"a name must not be longer than {LONGEST_NAME} bytes"
    if name.partition(".")[0].casefold() in _DEVICES:
        return "a name must not be that of a device"
    return None


def write_project(
    step: RunningStep, answer: Mapping[str, str], given: Given = NOTHING_GIVEN, cut_off: str = ""
) -> StepResult:
    """The given files, and over them those of the answer. `cut_off` says how it ended if it is not the whole one."""
    files = {clean(path): text for path, text in answer.items()}
    refusals = _refusals(files, given) if len(files) == len(answer) else [_same_path(answer)]
    if refusals:
        return _refused(step, refusals, files)
    written = {path: text for path, text in files.items() if not is_hidden(path)}
    for path in sorted(files.keys() - written.keys()):
        step.note(f"{shown(path)} is not written: dotfiles are not part of an answer")
    if not written:
        why = (
            f"The answer was {cut_off} before its first file was complete." if cut_off else "The answer holds no files."
        )
        return step.failed("empty-submission", why)
    for path in sorted(path for path in written if path in given.files and not written[path].strip()):
        step.note(f"{shown(path)} is deleted: the answer has it, empty")
    written = given.completed(written)
    try:
        _write(step.workspace.project, written)
    except OSError as error:
        return step.failed("disk-full", f"The project cannot be written: {error.strerror}.")
    for path in sorted(written):
        step.say(f"{path}: {len(written[path].encode(errors='replace'))} bytes")
    return step.passed()


def _refusals(files: Mapping[str, str], given: Given) -> list[Refusal]:
    single = [refusal for path in files if (refusal := refuse(path))]
    if single:
        return single
    whole = given.completed(files)
    changes = _forbidden_changes(files, given)
    return refuse_together(whole) or changes or _too_large(whole) or _functions_elsewhere(whole)


def _forbidden_changes(files: Mapping[str, str], given: Given) -> list[Refusal]:
    allowed = ", ".join(given.may_change) or "none of the given files"
    return [
        Refusal(
            path,
            f"this given file must stay as it is, and the answer {'changes' if files[path].strip() else 'deletes'} it "
            f"(it may change {allowed})",
            "given-changed",
        )
        for path in given.forbidden_changes(files)
    ]


def _functions_elsewhere(files: Mapping[str, str]) -> list[Refusal]:
    """convex.json names the folder that the CLI writes to. One that cannot be read fails when it is needed."""
    try:
        functions = parse_config(files["convex.json"]).functions if "convex.json" in files else None
    except ConfigError:
        return []
    refusal = refuse(clean(functions.rstrip("/"))) if functions is not None else None
    return [Refusal("convex.json", f'"functions": {refusal}', refusal.kind)] if refusal else []


def _same_path(answer: Mapping[str, str]) -> Refusal:
    seen: set[str] = set()
    for path in answer:
        if clean(path) in seen:
            return Refusal(path, "is there twice")
        seen.add(clean(path))
    raise AssertionError("there are as many files as paths")


def _too_large(files: Mapping[str, str]) -> list[Refusal]:
    if len(files) > MOST_FILES:
        return [Refusal(f"{len(files)} files", f"an answer has at most {MOST_FILES}", "size-refused")]
    sizes = {path: len(text.encode(errors="replace")) for path, text in files.items()}
    large = [
        Refusal(path, f"{size} bytes, and a file has at most {LARGEST_FILE}", "size-refused")
        for path, size in sizes.items()
        if size > LARGEST_FILE
    ]
    if not large and sum(sizes.values()) > LARGEST_PROJECT:
        return [Refusal("all files", f"{sum(sizes.values())} bytes, at most {LARGEST_PROJECT}", "size-refused")]
    return large


def _refused(step: RunningStep, refusals: list[Refusal], files: Mapping[str, str]) -> StepResult:
    for refusal in refusals:
        step.say(str(refusal))
    lines = [str(refusal) for refusal in refusals[:_QUOTED]]
    if len(refusals) > _QUOTED:
        lines.append(f"… and {len(refusals) - _QUOTED} more")
    found = [
        stated("filesystem", each.kind, str(each), Place(shown(each.path)) if each.path in files else NOWHERE)
        for each in refusals
    ]
    return step.failed(refusals[0].kind, "\n".join(lines), found)


def _write(project: Path, files: Mapping[str, str]) -> None:
    """The folder is new, so nothing in it can be a link to elsewhere; exclusive creation would show if it were not."""
    for path, text in files.items():
        target = project / path
        target.parent.mkdir(parents=True, exist_ok=True)
        with target.open("x", encoding="utf-8", errors="replace", newline="") as file:
            file.write(text)

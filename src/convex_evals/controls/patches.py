"""Unified diffs, made of texts and applied to them: every line where the diff says it is, without fuzz or offset."""

import re
from collections import deque
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from difflib import unified_diff
from typing import Final

NOWHERE: Final = "/dev/null"
_HUNK: Final = re.compile(r"@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@")
_UNSUPPORTED: Final = ("rename from ", "copy from ", "Binary files ", "GIT binary patch")
_NO_NEWLINE: Final = "\\"
_BEGINNING_OF_TIME: Final = "1970-01-01 "
"""The date that `diff -N` gives a file that is not there."""


class PatchError(Exception):
    """Half a sentence: what is wrong with a patch, without its name."""


@dataclass(frozen=True, slots=True)
class Hunk:
    """Lines with their line ends. `start` is where the old ones begin in the old text, counted from 0."""

    start: int
    old: tuple[str, ...]
    new: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class FilePatch:
    """What happens to one file: `creates` and `deletes` are those that go from and to /dev/null."""

    path: str
    hunks: tuple[Hunk, ...]
    creates: bool = False
    deletes: bool = False

    @property
    def may_create(self) -> bool:
        """Without dates, a diff cannot distinguish a new file from an empty one."""
        return self.creates or (len(self.hunks) == 1 and not self.hunks[0].old and self.hunks[0].start == 0)


def make_patch(before: Mapping[str, str], after: Mapping[str, str]) -> str:
    """The unified diff that turns some files into others; empty when they are the same."""
    return "".join(_diff(path, before.get(path), after.get(path)) for path in sorted({*before, *after}))


def _diff(path: str, before: str | None, after: str | None) -> str:
    names = (NOWHERE if before is None else f"a/{path}", NOWHERE if after is None else f"b/{path}")
    lines = unified_diff(_lines(before or ""), _lines(after or ""), *names)
    return "".join(
        line if line.endswith("\n") else f"{line}\n{_NO_NEWLINE} No newline at end of file\n" for line in lines
    )


def parse_patch(text: str) -> tuple[FilePatch, ...]:
    """The files that a unified diff changes. Paths have the prefixes a/ and b/. Raises PatchError."""
    lines = deque(_lines(text))
    patches: list[FilePatch] = []
    while lines:
        line = lines.popleft()
        if line.startswith(_UNSUPPORTED):
            raise PatchError(f"{line.strip()!r} is not understood: only texts can be changed, created or deleted")
        if line.startswith("--- "):
            patches.append(_file_patch(line, lines))
        elif line.startswith("@@"):
            raise PatchError("there is a hunk before the name of a file")
    if not patches:
        raise PatchError("there is no diff in it")
    if len({patch.path for patch in patches}) < len(patches):
        raise PatchError("it names a file twice")
    return tuple(patches)


def apply_patch(patch: Sequence[FilePatch], files: Mapping[str, str]) -> dict[str, str]:
    """The files after the patch. Raises PatchError when a line is not where the patch expects it."""
    patched = dict(files)
    for change in patch:
        if change.creates and change.path in patched:
            raise PatchError(f"it creates {change.path}, which is there already")
        if not change.may_create and change.path not in patched:
            raise PatchError(f"there is no file {change.path}")
        text = _changed(change, patched.pop(change.path, ""))
        if not change.deletes:
            patched[change.path] = text
        elif text:
            raise PatchError(f"it deletes {change.path}, but names only a part of its lines")
    return dict(sorted(patched.items()))


def _lines(text: str) -> list[str]:
    """Lines end with a newline and nothing else: sources may contain other separators."""
    return [f"{line}\n" for line in text.split("\n")[:-1]] + ([last] if (last := text.rpartition("\n")[2]) else [])


def _file_patch(header: str, lines: deque[str]) -> FilePatch:
    if not lines or not lines[0].startswith("+++ "):
        raise PatchError(f"after {header.strip()!r} there is no line with +++")
    before, after = _version(header, "a/"), _version(lines.popleft(), "b/")
    path = before.path or after.path
    if path is None or (after.path or path) != path:
        raise PatchError(f"it turns {before.path or NOWHERE} into {after.path or NOWHERE}; a file keeps its name")
    hunks = []
    while lines and lines[0].startswith("@@"):
        hunks.append(_hunk(lines.popleft(), lines))
    if not hunks:
        raise PatchError(f"it changes nothing in {path}")
    return FilePatch(path, tuple(hunks), creates=before.is_missing, deletes=after.is_missing)


@dataclass(frozen=True, slots=True)
class _Version:
    """One side of a diff. `path` is None for /dev/null."""

    path: str | None
    is_missing: bool


def _version(line: str, prefix: str) -> _Version:
    name, _, when = line[4:].rstrip("\r\n").partition("\t")
    if name.strip() == NOWHERE:
        return _Version(None, True)
    if not name.startswith(prefix):
        raise PatchError(f"the path in {line.strip()!r} does not begin with {prefix}")
    return _Version(name.removeprefix(prefix).rstrip(), when.startswith(_BEGINNING_OF_TIME))


def _hunk(header: str, lines: deque[str]) -> Hunk:
    match = _HUNK.match(header)
    if match is None:
        raise PatchError(f"{header.strip()!r} is not the head of a hunk")
    start, old_count, new_count = int(match[1]), int(match[2] or 1), int(match[4] or 1)
    old: list[str] = []
    new: list[str] = []
    while len(old) < old_count or len(new) < new_count:
        if not lines:
            raise PatchError(f"the hunk {header.strip()!r} has fewer lines than it says")
        _take(lines.popleft(), lines, old, new)
    if len(old) != old_count or len(new) != new_count:
        raise PatchError(f"the hunk {header.strip()!r} has other lines than it says")
    return Hunk(start - 1 if old_count else start, tuple(old), tuple(new))


def _take(line: str, lines: deque[str], old: list[str], new: list[str]) -> None:
    sign, text = line[:1], line[1:]
    if lines and lines[0].startswith(_NO_NEWLINE):
        lines.popleft()
        text = text.removesuffix("\n")
    if line == "\n":  # an editor stripped the blank
        sign, text = " ", "\n"
    if sign not in (" ", "-", "+"):
        raise PatchError(f"{line.strip()!r} stands in a hunk, where lines begin with a blank, - or +")
    if sign in " -":
        old.append(text)
    if sign in " +":
        new.append(text)


def _changed(change: FilePatch, text: str) -> str:
    lines, result, position = _lines(text), list[str](), 0
    for hunk in change.hunks:
        _check(change.path, hunk, lines, position)
        result += [*lines[position : hunk.start], *hunk.new]
        position = hunk.start + len(hunk.old)
    return "".join([*result, *lines[position:]])


def _check(path: str, hunk: Hunk, lines: Sequence[str], position: int) -> None:
    if not position <= hunk.start <= len(lines):
        raise PatchError(f"{path} has no line {hunk.start + 1} after the lines changed before")
    for number, (expected, found) in enumerate(zip(hunk.old, _padded(lines[hunk.start :]), strict=False)):
        if expected != found:
            where = f"line {hunk.start + number + 1} of {path}"
            raise PatchError(f"{where} must be {expected.rstrip()!r}, but is {_shown(found)}")


def _padded(lines: Sequence[str]) -> Iterable[str | None]:
    yield from lines
    while True:
        yield None


def _shown(line: str | None) -> str:
    return "not there" if line is None else repr(line.rstrip())

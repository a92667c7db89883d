"""Guidelines: a Markdown text in sections, ours or a user's own."""

import hashlib
import re
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Final, Self

from convex_evals.core.distribution import checkout_root, package_folder
from convex_evals.core.errors import UsageError
from convex_evals.models.responses import read_block, read_fence

NAME: Final = "convex.md"
_SECTION: Final = re.compile(r"##[ \t]+(?P<title>.+?)[ \t]*#*[ \t]*$")


@dataclass(frozen=True, slots=True)
class Section:
    """An h2 heading and what stands below it."""

    title: str
    text: str  # with the heading


@dataclass(frozen=True, slots=True)
class Guidelines:
    """`name` is where the text comes from: a file name, or a file name and what was left out of it."""

    name: str
    text: str

    @property
    def sha256(self) -> str:
        return hashlib.sha256(self.text.encode()).hexdigest()

    @property
    def introduction(self) -> str:
        """What stands before the first section."""
        return self._parts()[0]

    @property
    def sections(self) -> tuple[Section, ...]:
        return tuple(Section(_title(part.partition("\n")[0]) or "", part) for part in self._parts()[1:])

    def without(self, title: str) -> Self:
        """The same text less one section. Raises UsageError when there is no such section."""
        kept = [section.text for section in self.sections if section.title != title]
        if len(kept) == len(self.sections):
            known = ", ".join(section.title for section in self.sections)
            raise UsageError(f"{self.name} has no section {title!r}; it has: {known}.")
        return type(self)(f"{self.name} without {title}", "".join([self.introduction, *kept]))

    def _parts(self) -> list[str]:
        """The text cut before every h2 heading; put together again they are the text."""
        lines, parts, number = self.text.split("\n"), [""], 0
        while number < len(lines):
            fence = read_fence(lines[number])
            after = read_block(lines, number, fence, nests=False).after if fence else number + 1
            if _title(lines[number]):
                parts.append("")
            parts[-1] += "".join(f"{line}\n" for line in lines[number:after])
            number = after
        parts[-1] = parts[-1].removesuffix("\n")
        return parts


def _title(line: str) -> str | None:
    match = _SECTION.match(line)
    return match["title"] if match else None


@cache
def built_in_guidelines() -> Guidelines:
    root = checkout_root()
    folder = root / "guidelines" if root else package_folder() / "_guidelines"
    return Guidelines(NAME, (folder / NAME).read_text(encoding="utf-8"))


def read_guidelines(path: Path) -> Guidelines:
    """A user's own. Raises UsageError."""
    try:
        text = path.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "it is not UTF-8 text"
        raise UsageError(f"The guidelines {path} cannot be read: {reason}.") from error
    if not text.strip():
        raise UsageError(f"The guidelines {path} are empty; to ask without any, choose the experiment no_guidelines.")
    return Guidelines(path.name, text)

"""Which paths a model may write: pure rules, no look at the disk."""

import re
import unicodedata
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

LONGEST_PATH: Final = 240
LONGEST_NAME: Final = 120
DEEPEST: Final = 16
_GENERATED: Final = frozenset({"_generated", "node_modules"})
_CONFIGURATION: Final = re.compile(r"(?:package|package-lock|convex|(?:ts|js)config.*)\.json", re.IGNORECASE)
_FORBIDDEN: Final = frozenset('\\:*?"<>|')
_DEVICES: Final = frozenset(
    {"con", "prn", "aux", "nul", *(f"{name}{number}" for name in ("com", "lpt") for number in range(1, 10))}
)


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
    """Paths that cannot exist side by side: the same one in other letters, or a file that is also a folder."""
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

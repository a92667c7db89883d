"""Which files of a folder of functions the CLI bundles, and for which runtime, by its own rules."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

APP_CONFIG: Final = "convex.config.ts"
PUBLISHED_CONFIG: Final = "convex.config.js"
_EXTENSIONS: Final = (".js", ".mjs", ".cjs", ".ts", ".tsx", ".mts", ".cts", ".jsx")
_IS_MODULE: Final = re.compile(r"^\s{0,100}(import|export)", re.MULTILINE)
_COMMENT: Final = r"//[^\n]*+\n|/\*[^*]*+(?:\*(?!/)[^*]*+)*\*/"
_USE_NODE_FIRST: Final = re.compile(rf"""(?:\s|{_COMMENT})*(["'])use node\1\s*(?:;|\n)""")
_ISOLATE_ONLY: Final = frozenset({"http", "crons"})
_CONFIGS: Final = (APP_CONFIG, PUBLISHED_CONFIG)


@dataclass(frozen=True, slots=True)
class EntryPoints:
    """Paths relative to the folder."""

    schema: str | None
    auth: str | None
    isolate: tuple[str, ...]
    node: tuple[str, ...]

    @property
    def modules(self) -> list[str]:
        """What `api` is made from."""
        return sorted([*self.isolate, *self.node])


def find_entry_points(convex: Path, config: str = APP_CONFIG) -> EntryPoints | None:
    """Of an app, a component in the project or, with `config`, a published component.

    None as soon as the CLI might warn, refuse or look closer. Then the CLI itself must decide.
    """
    isolate: list[str] = []
    node: list[str] = []
    for path in _walk(convex):
        relative = path.relative_to(convex).as_posix()
        if relative != config and _is_doubtful(relative):
            return None
        if not _is_entry_point(relative):
            continue
        source = path.read_text(encoding="utf-8", errors="replace")
        if path.suffix in {".ts", ".tsx"} and not _IS_MODULE.search(source):
            continue
        uses_node = _uses_node(relative, source)
        if uses_node is None:
            return None
        (node if uses_node else isolate).append(relative)
    if not isolate and not node:
        return None
    return EntryPoints(
        _first_existing(convex, "schema.ts", "schema.js"),
        _first_existing(convex, "auth.config.ts", "auth.config.js"),
        tuple(isolate),
        tuple(node),
    )


def _walk(folder: Path) -> Iterator[Path]:
    for path in sorted(folder.iterdir(), key=lambda entry: entry.name.encode("utf-16-be")):
        if path.is_dir():
            if not (path / APP_CONFIG).exists():  # a component of its own
                yield from _walk(path)
        elif path.is_file():
            yield path


def _is_doubtful(relative: str) -> bool:
    """Configurations out of place, reserved folders, and names that the CLI comments on."""
    name = relative.rpartition("/")[2]
    return (
        name in _CONFIGS
        or relative.startswith(("_deps/", "actions/"))
        or relative.lower().startswith("https.")
        or relative == "auth.config.js"
    )


def _is_entry_point(relative: str) -> bool:
    name = relative.rpartition("/")[2]
    return (
        relative.endswith(_EXTENSIONS)
        and not relative.startswith("_generated/")
        and not name.startswith((".", "#"))
        and name not in {"schema.ts", "schema.js"}
        and name.count(".") <= 1
        and " " not in relative
    )


def _uses_node(relative: str, source: str) -> bool | None:
    """None when only a parser could tell, or when it is not allowed there."""
    if "use node" not in source:
        return False
    if not _USE_NODE_FIRST.match(source) or relative.rpartition(".")[0] in _ISOLATE_ONLY:
        return None
    return True


def _first_existing(folder: Path, *names: str) -> str | None:
    return next((name for name in names if (folder / name).is_file()), None)

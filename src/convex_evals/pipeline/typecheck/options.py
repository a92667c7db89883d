"""The compiler options that a tsconfig means, with everything it extends. No tool reads a model's tsconfig: we do."""

import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from convex_evals.core.diagnostics import Diagnostic, Place, type_error
from convex_evals.pipeline.jsonc import parse_jsonc

LARGEST: Final = 256_000
_DEEPEST: Final = 8


@dataclass(frozen=True, slots=True)
class CompilerOptions:
    """Values by option name, in its exact spelling; `origins` are the folders that relative paths start from;
    `problems` are errors in the files themselves, with the compiler's codes."""

    values: Mapping[str, object] = field(default_factory=dict)
    origins: Mapping[str, Path] = field(default_factory=dict)
    problems: tuple[Diagnostic, ...] = ()

    def word(self, name: str) -> str:
        """A value that is one word, in lower case; empty when there is none."""
        value = self.values.get(name)
        return value.lower() if isinstance(value, str) else ""

    def words(self, name: str) -> list[str] | None:
        value = self.values.get(name)
        if not isinstance(value, list):
            return None
        return [item for item in value if isinstance(item, str)]


class _Unreadable(Exception):
    """`code` is the compiler's for such an error."""

    def __init__(self, code: str, message: str) -> None:
        super().__init__(message)
        self.code = code


def read_options(tsconfig: Path, root: Path, depth: int = 0) -> CompilerOptions:
    """What cannot be read counts as empty and is a problem. Nothing outside `root` and its packages is read."""
    shown = os.path.relpath(tsconfig, root)
    try:
        config = _read(tsconfig, root)
        parents = list(_parents(tsconfig, config, root))
        if parents and depth == _DEEPEST:
            raise _Unreadable("TS18000", "Circularity detected while resolving configuration.")
    except _Unreadable as error:
        return CompilerOptions(problems=(type_error(error.code, str(error), Place(shown, 1, 1)),))
    inherited = [read_options(parent, root, depth + 1) for parent in parents]
    values = {name: value for parent in inherited for name, value in parent.values.items()}
    origins = {name: folder for parent in inherited for name, folder in parent.origins.items()}
    own = config.get("compilerOptions")
    if isinstance(own, dict):
        values.update(own)
        origins.update(dict.fromkeys(own, tsconfig.parent))
    problems = dict.fromkeys(problem for parent in inherited for problem in parent.problems)
    return CompilerOptions(values, origins, tuple(problems))


def _read(path: Path, root: Path) -> dict[str, object]:
    allowed = (root, (root / "node_modules").resolve())
    if not any(Path(os.path.normpath(path)).is_relative_to(folder) for folder in allowed):
        raise _Unreadable("TS5083", "Cannot read a file outside the project.")
    try:
        if path.stat().st_size > LARGEST:
            raise _Unreadable("TS5083", f"Cannot read a file of more than {LARGEST} bytes.")
        text = path.read_text(encoding="utf-8")
        content = parse_jsonc(text) if text.strip() else {}
    except OSError as error:
        raise _Unreadable("TS5083", f"Cannot read file '{path.name}': {error.strerror}.") from error
    except ValueError as error:
        raise _Unreadable("TS5014", f"Failed to parse file '{path.name}': it is not JSON with comments.") from error
    if not isinstance(content, dict):
        raise _Unreadable("TS5092", "The root value of a 'tsconfig.json' file must be an object.")
    return content


def _parents(tsconfig: Path, config: Mapping[str, object], root: Path) -> Iterator[Path]:
    extends = config.get("extends")
    named: list[object] = extends if isinstance(extends, list) else [] if extends is None else [extends]
    names = [name for name in named if isinstance(name, str) and name.isprintable()]
    if len(names) > _DEEPEST or len(names) < len(named):
        raise _Unreadable("TS5024", "Compiler option 'extends' requires a few file names.")
    try:
        for name in names:
            yield _parent(tsconfig, name, root)
    except (OSError, ValueError) as error:
        raise _Unreadable("TS5083", "Cannot read a file that 'extends' names.") from error


def _parent(tsconfig: Path, name: str, root: Path) -> Path:
    if name.startswith((".", "/")):
        return _with_suffix(tsconfig.parent / name)
    package = (root / "node_modules" / name).resolve()
    return package / "tsconfig.json" if package.is_dir() else _with_suffix(package)


def _with_suffix(path: Path) -> Path:
    return path if path.suffix == ".json" else path.with_name(f"{path.name}.json")

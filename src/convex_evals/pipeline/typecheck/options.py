"""The compiler options that a tsconfig means, with everything it extends."""

import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from convex_evals.pipeline.jsonc import parse_jsonc

_DEEPEST: Final = 8


@dataclass(frozen=True, slots=True)
class CompilerOptions:
    """Values by lower-case-sensitive option name; `origins` are the folders that relative paths start from."""

    values: Mapping[str, object] = field(default_factory=dict)
    origins: Mapping[str, Path] = field(default_factory=dict)

    def word(self, name: str) -> str:
        """A value that is one word, in lower case; empty when there is none."""
        value = self.values.get(name)
        return value.lower() if isinstance(value, str) else ""

    def words(self, name: str) -> list[str] | None:
        value = self.values.get(name)
        if not isinstance(value, list):
            return None
        return [item for item in value if isinstance(item, str)]


def read_options(tsconfig: Path, root: Path, depth: int = 0) -> CompilerOptions:
    """What cannot be read counts as empty: the compiler itself will complain. Nothing outside `root` is read."""
    config = _read(tsconfig, root)
    values: dict[str, object] = {}
    origins: dict[str, Path] = {}
    for parent in _parents(tsconfig, config, root) if depth < _DEEPEST else ():
        inherited = read_options(parent, root, depth + 1)
        values.update(inherited.values)
        origins.update(inherited.origins)
    own = config.get("compilerOptions")
    if isinstance(own, dict):
        values.update(own)
        origins.update(dict.fromkeys(own, tsconfig.parent))
    return CompilerOptions(values, origins)


def _read(path: Path, root: Path) -> dict[str, object]:
    allowed = (root, (root / "node_modules").resolve())
    try:
        if not any(Path(os.path.normpath(path)).is_relative_to(folder) for folder in allowed):
            return {}
        content = parse_jsonc(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return content if isinstance(content, dict) else {}


def _parents(tsconfig: Path, config: Mapping[str, object], root: Path) -> Iterator[Path]:
    extends = config.get("extends")
    for name in extends if isinstance(extends, list) else [extends]:
        if not isinstance(name, str):
            continue
        if name.startswith((".", "/")):
            yield _with_suffix(tsconfig.parent / name)
        else:
            package = (root / "node_modules" / name).resolve()
            yield package / "tsconfig.json" if package.is_dir() else _with_suffix(package)


def _with_suffix(path: Path) -> Path:
    return path if path.suffix == ".json" else path.with_name(f"{path.name}.json")

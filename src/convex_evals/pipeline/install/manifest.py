"""package.json, as far as it decides what is installed. Everything else in it is ignored, with a note."""

import json
import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Final

from convex_evals.core.diagnostics import Diagnostic, Place, stated

LARGEST: Final = 256_000
IN_MANIFEST: Final = Place("package.json")
MOST_DEPENDENCIES: Final = 200
_REQUIRED: Final = ("peerDependencies", "devDependencies", "dependencies")  # the later one wins
_IGNORED: Final = {
    "bundleDependencies": "bundled dependencies are installed like others",
    "bundledDependencies": "bundled dependencies are installed like others",
    "engines": "the versions of Node and npm are ours",
    "overrides": "every package gets the dependencies it asks for",
    "pnpm": "every package gets the dependencies it asks for",
    "resolutions": "every package gets the dependencies it asks for",
    "scripts": "no script is ever run",
    "workspaces": "a project is one package",
}
_QUOTED: Final = 5

LONGEST_NAME: Final = 214
_NAME: Final = re.compile(r"(?:@[a-z0-9~-][a-z0-9._~-]*/)?[a-z0-9~-][a-z0-9._~-]*")
_RESERVED: Final = frozenset({"node_modules", "favicon.ico"})
# What a range or a tag can consist of. No colon and no slash: those begin addresses and paths.
_RANGE: Final = re.compile(r"[A-Za-z0-9.+*^~<>=| -]{0,200}")


@dataclass(frozen=True, slots=True)
class RefusedDependency:
    name: str
    spec: str
    reason: str

    def __str__(self) -> str:
        return f"package.json: {_quote(self.name)}: {_quote(self.spec)} {self.reason}."


class ManifestError(Exception):
    """`kind` is a key of the table of failures; `refused` are the dependencies that it is about, if any."""

    def __init__(
        self, kind: str, message: str, place: Place = IN_MANIFEST, refused: tuple[RefusedDependency, ...] = ()
    ) -> None:
        super().__init__(message)
        self.kind, self.place, self.refused = kind, place, refused

    def diagnostics(self) -> list[Diagnostic]:
        found = [replace(self._stated(str(each)), received=f"{each.name}@{each.spec}") for each in self.refused]
        return found or [self._stated(str(self))]

    def _stated(self, message: str) -> Diagnostic:
        return stated("install", self.kind, message, self.place)


@dataclass(frozen=True, slots=True)
class Manifest:
    dependencies: dict[str, str]
    optional: dict[str, str]
    notes: list[str] = field(default_factory=list)

    def canonical(self) -> bytes:
        """The same for all projects that need the same packages, whatever else their package.json says."""
        content: dict[str, object] = {"private": True, "dependencies": dict(sorted(self.dependencies.items()))}
        if self.optional:
            content["optionalDependencies"] = dict(sorted(self.optional.items()))
        return json.dumps(content, indent=1).encode()


def read_manifest_file(path: Path) -> Manifest:
    """Raises ManifestError for whatever a model may have put there."""
    if path.is_symlink() or not path.is_file():
        raise ManifestError("manifest-invalid", "package.json must be a file, but it is a folder or a link.")
    if path.stat().st_size > LARGEST:
        size = path.stat().st_size
        raise ManifestError("manifest-invalid", f"package.json has {size} bytes; at most {LARGEST} are read.")
    return read_manifest(path.read_bytes())


def read_manifest(text: bytes | str) -> Manifest:
    content = _parse(text if isinstance(text, str) else _decode(text))
    required: dict[str, str] = {}
    for section in _REQUIRED:
        required.update(_section(content, section))
    optional = _section(content, "optionalDependencies")
    required = {name: spec for name, spec in required.items() if name not in optional}
    _check({**required, **optional})
    return Manifest(required, optional, list(_notes(content)))


def _decode(content: bytes) -> str:
    try:
        return content.decode()
    except UnicodeDecodeError as error:
        raise ManifestError(
            "manifest-invalid", f"package.json must be UTF-8, but byte {error.start + 1} is not."
        ) from error


def _parse(text: str) -> dict[str, object]:
    if len(text) > LARGEST:
        raise ManifestError("manifest-invalid", f"package.json has {len(text)} characters; at most {LARGEST} are read.")
    try:
        # Numbers decide nothing here, and Python refuses to convert very long ones.
        content = json.loads(
            text.removeprefix("\ufeff"),
            parse_int=lambda _: 0,
            parse_constant=_refuse_constant,
            object_pairs_hook=_unique_keys,
        )
    except json.JSONDecodeError as error:
        place = f"line {error.lineno}, column {error.colno}"
        raise ManifestError(
            "manifest-invalid",
            f"package.json is not valid JSON ({place}: {error.msg}).",
            Place("package.json", error.lineno, error.colno),
        ) from error
    except RecursionError as error:
        raise ManifestError("manifest-invalid", "package.json is nested too deeply.") from error
    if not isinstance(content, dict):
        raise ManifestError("manifest-invalid", "package.json must hold a JSON object.")
    return content


def _unique_keys(pairs: list[tuple[str, object]]) -> dict[str, object]:
    """A name given twice means one thing to us and may mean another to a tool."""
    content = dict(pairs)
    if len(content) < len(pairs):
        twice = Counter(name for name, _ in pairs).most_common(1)[0][0]
        raise ManifestError("manifest-invalid", f"package.json has the key {_quote(twice)} twice; say it once.")
    return content


def _refuse_constant(word: str) -> object:
    raise ManifestError("manifest-invalid", f"package.json is not valid JSON ({word} is not a value).")


def _section(content: dict[str, object], name: str) -> dict[str, str]:
    section = content.get(name)
    if section is None:
        return {}
    if not isinstance(section, dict) or not all(isinstance(spec, str) for spec in section.values()):
        raise ManifestError("manifest-invalid", f"package.json: {name} must map names to versions.")
    return section


def _check(dependencies: dict[str, str]) -> None:
    if len(dependencies) > MOST_DEPENDENCIES:
        raise ManifestError("manifest-invalid", f"package.json names more than {MOST_DEPENDENCIES} dependencies.")
    refused = tuple(
        RefusedDependency(name, spec, reason)
        for name, spec in dependencies.items()
        if (reason := refuse_name(name) or refuse_spec(spec))
    )
    if refused:
        raise ManifestError("dependency-refused", "\n".join(map(str, refused[:_QUOTED])), refused=refused)


def _notes(content: dict[str, object]) -> Iterator[str]:
    for key, reason in _IGNORED.items():
        if content.get(key):
            yield f"package.json: {key} is ignored, because {reason}"


def _quote(text: str) -> str:
    return json.dumps(text if len(text) <= 100 else f"{text[:100]}...")


def refuse_name(name: str) -> str | None:
    if len(name) > LONGEST_NAME or name in _RESERVED or not _NAME.fullmatch(name):
        return "is not a name that npm allows"
    return None


def refuse_spec(spec: str) -> str | None:
    """Why a dependency is not installed: only ranges and tags are.

    An alias could put any package under a name that our tools load: convex, esbuild, prettier, typescript.
    """
    if spec.startswith("npm:"):
        return "must have its own name, not an alias"
    if _RANGE.fullmatch(spec) is None or spec.strip().startswith("."):
        return "must come from the registry: a version, a range or a tag"
    return None

"""What a `convex` package offers: the exports of its modules and the members of its types, asked of the compiler."""

import json
import secrets
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path
from typing import Any, Final, Self

from convex_evals.core.errors import InfrastructureError
from convex_evals.core.processes import base_environment, run
from convex_evals.core.settings import Settings
from convex_evals.core.toolchain import Toolchain

GENERATED_SERVER = "./_generated/server"


@dataclass(frozen=True, slots=True)
class Member:
    """Names of types; None is a type that is not convex's own, so nothing is known about its members."""

    type: str | None = None
    returns: str | None = None  # when it is called
    callback: str | None = None  # what a function that it is given gets as its first argument


@dataclass(frozen=True, slots=True)
class ApiType:
    name: str
    members: Mapping[str, Member]


@dataclass(frozen=True, slots=True)
class Surface:
    version: str
    modules: Mapping[str, frozenset[str]]  # what can be imported from where
    roots: Mapping[str, str | None]  # where code starts from: `v`, `query ctx`, `defineTable()`
    types: Mapping[str, ApiType]
    common: frozenset[str]  # what every object has

    @classmethod
    def from_json(cls, content: Mapping[str, Any], version: str) -> Self:
        return cls(
            version,
            {name: frozenset(names) for name, names in content["modules"].items()},
            dict(content["roots"]),
            {name: _type(entry) for name, entry in content["types"].items()},
            frozenset(content["common"]),
        )

    def module_with(self, name: str) -> str | None:
        """A module that exports this name."""
        return next((module for module, names in self.modules.items() if name in names), None)

    def has_type_called(self, name: str) -> bool:
        return any(each.name == name for each in self.types.values())


def nearest(name: str, known: Collection[str]) -> str | None:
    return next(iter(get_close_matches(name, sorted(known), n=1, cutoff=0.82)), None)


def _type(entry: Mapping[str, Any]) -> ApiType:
    members = {
        name: Member(member["is"], member["returns"], member["callback"]) for name, member in entry["members"].items()
    }
    return ApiType(entry["name"], members)


FORMAT: Final = 1  # of the kept answers
SECONDS: Final = 60.0
_SCRIPT: Final = Path(__file__).with_name("surface.mjs")


async def read_surface(convex: Path, toolchain: Toolchain, settings: Settings) -> Surface:
    """`convex` is the folder of the package. Raises InfrastructureError when the compiler does not answer."""
    version = _version(convex)
    kept = settings.cache_folder / "analysis" / "surfaces" / f"{FORMAT}-{version}.json"
    content = _read(kept)
    if content is None:
        content = await _ask(convex, toolchain, settings)
        kept.parent.mkdir(parents=True, exist_ok=True)
        incoming = kept.with_name(f".{secrets.token_hex(8)}")
        incoming.write_text(json.dumps(content))
        incoming.replace(kept)
    return Surface.from_json(content, version)


async def _ask(convex: Path, toolchain: Toolchain, settings: Settings) -> dict[str, Any]:
    packages = toolchain.packages.node_modules
    # A template of the package is run, so it may read and nothing else.
    limits = ["--permission", "--allow-fs-read=*"]
    command = [str(toolchain.node.executable), *limits, str(_SCRIPT), str(packages), str(convex)]
    environment = base_environment(settings.home, {}, path=settings.search_path)
    result = await run(command, cwd=packages, timeout=SECONDS, environment=environment, separate_errors=True)
    try:
        content: dict[str, Any] = json.loads(result.output.read())
    except ValueError as error:
        said = result.errors.text.strip() if result.errors else ""
        sentence = f"The types of {convex} cannot be read ({result.ending}): {said[-300:]}"
        raise InfrastructureError(sentence) from error
    return content


def _version(convex: Path) -> str:
    try:
        return str(json.loads((convex / "package.json").read_bytes())["version"])
    except (OSError, ValueError, KeyError) as error:
        raise InfrastructureError(f"{convex} is not an installed convex package.") from error


def _read(kept: Path) -> dict[str, Any] | None:
    try:
        content: dict[str, Any] = json.loads(kept.read_bytes())
    except (OSError, ValueError):
        return None
    return content

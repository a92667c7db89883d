"""The API of one version of `convex`, as its own types describe it."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Any, Self

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

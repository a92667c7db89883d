"""Environment variables that `convex.config.ts` declares: strings, or one of a few strings."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import cast

import orjson

from convex_evals.backend.errors import RequestError
from convex_evals.backend.push.errors import refused


@dataclass(frozen=True, slots=True)
class EnvDeclaration:
    name: str
    optional: bool
    allowed: frozenset[str] | None  # None: every string

    def accepts(self, value: str) -> bool:
        return self.allowed is None or value in self.allowed

    def accepts_all_of(self, other: "EnvDeclaration") -> bool:
        if self.allowed is None:
            return True
        return other.allowed is not None and other.allowed <= self.allowed

    def mismatch(self, value: str) -> str:
        expected = " | ".join(orjson.dumps(text).decode() for text in sorted(self.allowed or ()))
        return f"{orjson.dumps(value).decode()} is not one of {expected}"


def parse_declarations(pairs: object, owner: str) -> dict[str, EnvDeclaration]:
    """`pairs` is `[["KEY", {"type": "value", "value": "<validator JSON>", "optional": true}]]`; `owner` names whose."""
    declared = cast("list[tuple[str, Mapping[str, object]]]", pairs or [])
    return {name: _parse_declaration(name, entry, owner) for name, entry in declared}


def check_variables(declared: Mapping[str, EnvDeclaration], variables: Mapping[str, str]) -> None:
    """What the app declares must be there when a push becomes active, and stay true afterwards."""
    missing = [name for name, entry in declared.items() if not entry.optional and name not in variables]
    if missing:
        raise missing_variables(missing)
    for name, entry in declared.items():
        if name in variables and not entry.accepts(variables[name]):
            raise refused(
                "InvalidEnvironmentVariable",
                f"Environment variable {name} has an invalid value: {entry.mismatch(variables[name])}",
            )


def missing_variables(names: list[str]) -> RequestError:
    return refused(
        "MissingEnvironmentVariables",
        f"Required environment variables are not set: {', '.join(sorted(names))}. "
        "Set them with `npx convex env set` or in the dashboard.",
    )


def _parse_declaration(name: str, entry: Mapping[str, object], owner: str) -> EnvDeclaration:
    validator = orjson.loads(cast(str, entry["value"]))
    try:
        allowed = _allowed(validator)
    except ValueError:
        raise refused(
            "InvalidEnvVarDeclaration",
            f"Env var `{name}` on {owner} has a non-string validator. Environment variables are strings: use "
            "`v.string()`, a string `v.literal()`, a `v.union()` of those, or `v.optional()` of one.",
        ) from None
    return EnvDeclaration(name, bool(entry.get("optional")), allowed)


def _allowed(validator: Mapping[str, object]) -> frozenset[str] | None:
    match validator:
        case {"type": "string"}:
            return None
        case {"type": "literal", "value": str(text)}:
            return frozenset({text})
        case {"type": "union", "value": list(members)}:
            choices = [_allowed(member) for member in members]
            return None if None in choices else frozenset[str]().union(*(choice for choice in choices if choice))
        case _:
            raise ValueError("not a string validator")

"""The paths callers name functions by."""

import re

from convex_evals.backend.deployed import FunctionPath
from convex_evals.backend.errors import RequestError
from convex_evals.backend.push.paths import module_path_error

SYSTEM_PREFIX = "_system/"
DEPENDENCY_PREFIXES = ("_deps/", "actions/_deps/")

IDENTIFIER = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
LONGEST_IDENTIFIER = 64


def parse_path(text: str, component: str | None = None) -> FunctionPath:
    """`dir/messages:list`, with or without `.js`; no colon means the default export."""
    path = FunctionPath.parse(text, component or "")
    why = module_path_error(path.module.removeprefix(SYSTEM_PREFIX)) or _name_error(path.function)
    if why is not None:
        raise RequestError(
            400, "BadConvexFunctionIdentifier", f"{text} is not a valid path to a Convex function. {why}"
        )
    return path


def is_system(path: FunctionPath) -> bool:
    return path.module.startswith(SYSTEM_PREFIX)


def is_callable(path: FunctionPath) -> bool:
    return not path.module.startswith(DEPENDENCY_PREFIXES)


def _name_error(name: str) -> str | None:
    if len(name) > LONGEST_IDENTIFIER:
        return f"Identifier is too long ({len(name)} > maximum {LONGEST_IDENTIFIER})"
    if not re.match(r"[A-Za-z_]", name):
        return (
            f"Invalid first character '{name[0]}' in {name}: "
            "Identifiers must start with an alphabetic character or underscore"
        )
    if not IDENTIFIER.fullmatch(name):
        wrong = next(character for character in name if not re.match(r"[A-Za-z0-9_]", character))
        return (
            f"Identifier {name} has invalid character '{wrong}': "
            "Identifiers can only contain alphanumeric characters or underscores"
        )
    return f"Identifier {name} cannot have exclusively underscores" if not name.strip("_") else None

"""The paths callers name functions by."""

from convex_evals.backend.deployed import FunctionPath
from convex_evals.backend.errors import RequestError
from convex_evals.backend.names import identifier_error
from convex_evals.backend.push.paths import module_path_error

SYSTEM_PREFIX = "_system/"
DEPENDENCY_PREFIXES = ("_deps/", "actions/_deps/")


def parse_path(text: str, component: str | None = None) -> FunctionPath:
    """`dir/messages:list`, with or without `.js`; no colon means the default export."""
    path = FunctionPath.parse(text, component or "")
    module = text.rpartition(":")[0] if ":" in text else text
    why = module_path_error(module.removeprefix(SYSTEM_PREFIX)) or identifier_error(path.function)
    if why is not None:
        raise RequestError(
            400, "BadConvexFunctionIdentifier", f"{text} is not a valid path to a Convex function. {why}"
        )
    return path


def is_system(path: FunctionPath) -> bool:
    return path.module.startswith(SYSTEM_PREFIX)


def is_callable(path: FunctionPath) -> bool:
    """Chunks shared by modules are code, not functions."""
    return not path.module.startswith(DEPENDENCY_PREFIXES)

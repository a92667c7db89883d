"""Which function is meant: by path, by reference or by handle, with the refusals a caller gets.

The id in a handle is computed from the component instance and the function's path, so that every function has a handle
from the moment it is deployed, redeploying does not change it, and a function that comes back has its old one.
"""

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass

from convex_evals.backend.deployed import (
    AnalyzedFunction,
    Application,
    ComponentInstance,
    Environment,
    FunctionPath,
    UdfType,
)
from convex_evals.backend.errors import DeveloperError, RequestError
from convex_evals.backend.functions.calls import Call
from convex_evals.backend.identity import may_call_internal
from convex_evals.backend.ids import SYSTEM_TABLE_NUMBERS, DocumentId
from convex_evals.backend.names import identifier_error
from convex_evals.backend.push import module_path_error

SYSTEM_PREFIX = "_system/"
DEPENDENCY_PREFIXES = ("_deps/", "actions/_deps/")

SCHEME = "function://"
HANDLES_TABLE = SYSTEM_TABLE_NUMBERS["_function_handles"]

REFERENCE = "_reference/"


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


@dataclass(frozen=True, slots=True)
class Target:
    """A function that exists, in the application version it was found in."""

    path: FunctionPath
    function: AnalyzedFunction
    instance: ComponentInstance
    environment: Environment
    application: Application

    @property
    def shown(self) -> str:
        """`public.js:get in 'counter'`, as most texts name it."""
        return f"{self.path.canonical}{self.path.in_component}"


def find_target(application: Application | None, path: FunctionPath) -> Target | None:
    if application is None or not is_callable(path):
        return None
    instance, function, module = (
        application.instance(path.component),
        application.function(path),
        application.module(path),
    )
    if instance is None or function is None or module is None:
        return None
    return Target(path, function, instance, module.environment, application)


def find_for_caller(application: Application | None, call: Call) -> Target:
    """The same error for a missing function and for one the caller may not see."""
    target = find_target(application, call.path)
    if target is None or not _is_visible(target, call):
        raise DeveloperError(f"Could not find public function for '{call.path.stripped}'{call.path.in_component}.")
    return target


def find_by_registration(application: Application | None, call: Call) -> Target:
    target = find_target(application, call.path)
    if target is None or not _is_visible(target, call):
        raise DeveloperError(
            f"Could not find function for '{call.path.stripped}'{call.path.in_component}. "
            "Did you forget to run `npx convex dev`?"
        )
    return target


def check_type(target: Target, udf_type: UdfType) -> None:
    if target.function.udf_type != udf_type:
        raise DeveloperError(
            f"Trying to execute {target.shown} as {udf_type}, but it is defined as {target.function.udf_type}."
        )


def _is_visible(target: Target, call: Call) -> bool:
    if call.allow_internal or may_call_internal(call.identity):
        return True
    return target.path.component == "" and target.function.visibility != "internal"


def handle_of(component_id: str, path: FunctionPath) -> str:
    return f"{SCHEME}{_id_of(component_id, path)}#{path.stripped}"


def _id_of(component_id: str, path: FunctionPath) -> str:
    digest = hashlib.sha256(f"{component_id}\0{path.canonical}".encode()).digest()
    return str(DocumentId(HANDLES_TABLE, digest[:16]))


class Handles:
    """Finds the functions behind handles; remembers the newest application's."""

    def __init__(self) -> None:
        self._application: Application | None = None
        self._paths: dict[str, FunctionPath] = {}

    def resolve(self, application: Application, handle: str) -> FunctionPath:
        if self._application is not application:
            self._application, self._paths = application, _index(application)
        path = self._paths.get(handle.removeprefix(SCHEME).partition("#")[0])
        if path is None or not handle.startswith(SCHEME):
            raise DeveloperError("Function handle not found")
        return path


def _index(application: Application) -> dict[str, FunctionPath]:
    paths: dict[str, FunctionPath] = {}
    for component, instance in application.instances.items():
        definition = application.definition_of(component)
        for module, analysis in definition.analysis.items() if definition else ():
            for function in analysis.functions:
                path = FunctionPath(module, function.name, component)
                paths[_id_of(instance.id, path)] = path
    return paths


@dataclass(frozen=True, slots=True)
class AddressBook:
    """Resolves addresses from the point of view of the component at `component`."""

    application: Application
    handles: Handles
    component: str

    def resolve(self, args: Mapping[str, object], method: str) -> FunctionPath:
        """`args` are a syscall's arguments; exactly one of `name`, `reference` and `functionHandle` counts."""
        match args:
            case {"functionHandle": str(handle)}:
                return self.handles.resolve(self.application, handle)
            case {"reference": str(reference)}:
                return self._from_reference(reference, method)
            case {"name": str(name)}:
                return self._from_name(name, method)
            case _:
                raise DeveloperError(f"Invalid arguments for `{method}`: Missing required argument 'name'")

    def _from_name(self, name: str, method: str) -> FunctionPath:
        try:
            return parse_path(name, self.component)
        except RequestError as error:
            raise DeveloperError(f"Invalid argument `name` for `{method}`: {error.message}") from error

    def _from_reference(self, reference: str, method: str) -> FunctionPath:
        kind, _, rest = reference.removeprefix(REFERENCE).partition("/")
        if reference.startswith(REFERENCE) and kind == "function":
            return self._from_name(rest, method)
        if reference.startswith(REFERENCE) and kind == "childComponent":
            name, *attributes = rest.split("/")
            return self._in_child(name, attributes)
        raise DeveloperError(f"Invalid argument `reference` for `{method}`: Couldn't resolve {reference}")

    def _in_child(self, name: str, attributes: list[str]) -> FunctionPath:
        instance = self.application.instance(self.component)
        child = instance.children.get(name) if instance else None
        if child is None:
            raise DeveloperError(f'Child component "{name}" not found')
        path = FunctionPath("/".join(attributes[:-1]) + ".js", attributes[-1] if attributes else "", child)
        function = self.application.function(path)
        if function is None or function.visibility == "internal":
            raise DeveloperError(f'Child component "{name}" does not export [{", ".join(attributes)}]')
        return path


def describe_address(args: Mapping[str, object]) -> str:
    """The address as an action's error text shows it: `api.messages.foo`, `counter.public.inc`."""
    match args:
        case {"reference": str(reference)}:
            return ".".join(reference.removeprefix(REFERENCE).split("/")[1:])
        case {"name": str(name)}:
            return "api." + name.replace("/", ".").replace(":", ".")
        case _:
            return "the function"

"""How code names the function it calls, schedules or hands out: by name, by reference or by handle."""

from collections.abc import Mapping
from dataclasses import dataclass

from convex_evals.backend.deployed import Application, FunctionPath
from convex_evals.backend.errors import DeveloperError, RequestError
from convex_evals.backend.functions.handles import Handles
from convex_evals.backend.functions.paths import parse_path

REFERENCE = "_reference/"


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


def describe(args: Mapping[str, object]) -> str:
    """The address as an action's error text shows it: `api.messages.foo`, `counter.public.inc`."""
    match args:
        case {"reference": str(reference)}:
            return ".".join(reference.removeprefix(REFERENCE).split("/")[1:])
        case {"name": str(name)}:
            return "api." + name.replace("/", ".").replace(":", ".")
        case _:
            return "the function"

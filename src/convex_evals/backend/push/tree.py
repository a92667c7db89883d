"""The tree of mounted components: every `use()` of every definition, its bindings, and its exports."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Literal

from convex_evals.backend.deployed import AnalyzedModule, ComponentInstance, HttpRoute
from convex_evals.backend.errors import RequestError
from convex_evals.backend.ids import SYSTEM_TABLE_NUMBERS, DocumentId
from convex_evals.backend.push.definitions import Child, Definition, EnvBinding, EnvDeclaration
from convex_evals.backend.push.errors import refused
from convex_evals.backend.push.request import HTTP_PATH

DiffType = Literal["create", "modify", "unmount", "remount"]


@dataclass(slots=True)
class MountedComponent:
    """`env` holds literals and names of the app's own variables only: bindings are resolved upwards."""

    path: str
    definition: Definition
    http_prefix: str | None
    env: dict[str, EnvBinding] = field(default_factory=dict)
    children: "dict[str, MountedComponent]" = field(default_factory=dict)
    http_routes: tuple[HttpRoute, ...] | None = None

    @property
    def serves_http(self) -> bool:
        return bool(self.http_routes or self.definition.http_mounts)

    def walk(self) -> "Iterator[MountedComponent]":
        yield self
        for child in self.children.values():
            yield from child.walk()


@dataclass(frozen=True, slots=True)
class TreeBuilder:
    """`for_codegen`: required variables need not be bound, because nothing will run."""

    definitions: Mapping[str, Definition]
    analysis: Mapping[str, Mapping[str, AnalyzedModule]]
    for_codegen: bool = False

    def build(self) -> MountedComponent:
        """Raises RequestError (TypecheckError)."""
        app = self.definitions[""]
        return self._mount("", app, app.http_prefix, {})

    def _mount(
        self, path: str, definition: Definition, http_prefix: str | None, env: dict[str, EnvBinding]
    ) -> MountedComponent:
        http = self.analysis.get(definition.path, {}).get(HTTP_PATH)
        mounted = MountedComponent(path, definition, http_prefix, env, http_routes=http.http_routes if http else None)
        for child in definition.children:
            if child.name in mounted.children:
                owner = definition.path or "app"
                raise _failed(f"Component {owner} has multiple child components with the same name: {child.name}")
            mounted.children[child.name] = self._mount_child(mounted, child)
        _check_mounts(mounted)
        return mounted

    def _mount_child(self, parent: MountedComponent, child: Child) -> MountedComponent:
        path = f"{parent.path}/{child.name}" if parent.path else child.name
        definition = self.definitions.get(child.definition_path)
        if definition is None:
            raise _failed(f"Component definition {child.definition_path} not found")
        env = {name: _bind(parent, path, definition, name, binding) for name, binding in child.env.items()}
        unbound = [name for name, entry in definition.env.items() if not entry.optional and name not in env]
        if unbound and not self.for_codegen:
            raise _failed(f"Component {path} is missing required env var {unbound[0]}")
        return self._mount(path, definition, _child_prefix(parent, child.name), env)


def _bind(parent: MountedComponent, path: str, definition: Definition, name: str, binding: EnvBinding) -> EnvBinding:
    declared = definition.env.get(name)
    if declared is None:
        raise _failed(f"Component {path} has no env var named {name}")
    if binding.literal is not None:
        if not declared.accepts(binding.literal):
            raise _failed(
                f"Component {path} has an invalid value for env var {name}: {declared.mismatch(binding.literal)}"
            )
        return binding
    source = parent.definition.env.get(binding.variable or "")
    if source is None:
        raise _failed(f"Component {path} references undeclared parent env var {binding.variable}")
    _check_reference(path, declared, source)
    return binding if not parent.path else parent.env.get(source.name, EnvBinding(variable=source.name))


def _check_reference(path: str, declared: EnvDeclaration, source: EnvDeclaration) -> None:
    if source.optional and not declared.optional:
        raise _failed(f"Component {path} binds required env var {declared.name} to optional env var {source.name}")
    if not declared.accepts_all_of(source):
        raise _failed(
            f"Component {path} has an invalid value for env var {declared.name}: "
            f"env var {source.name} may have values that it does not accept"
        )


def _check_mounts(mounted: MountedComponent) -> None:
    prefixes = {route.path.removesuffix("*") for route in mounted.http_routes or () if route.path.endswith("*")}
    for mount, name in mounted.definition.http_mounts.items():
        child = mounted.children.get(name)
        if child is None:
            raise _failed(f"HTTP mount {mount} is invalid: Child component {name} not found.")
        if not child.serves_http:
            raise _failed(f"HTTP mount {mount} is invalid: Child component {name} doesn't have any HTTP routes.")
        if mount in prefixes:
            raise _failed(f"HTTP mount {mount} is invalid: Overlap with existing prefix route")


def _child_prefix(parent: MountedComponent, name: str) -> str | None:
    mount = next((path for path, child in parent.definition.http_mounts.items() if child == name), None)
    if mount is None or not parent.path:
        return mount
    return None if parent.http_prefix is None else parent.http_prefix.removesuffix("/") + mount


def _failed(message: str) -> RequestError:
    return refused("TypecheckError", message)


@dataclass(frozen=True, slots=True)
class Mounting:
    """`instances` are all there will be, unmounted ones included; `changes` leaves out those that stay unmounted."""

    instances: dict[str, ComponentInstance]
    changes: dict[str, DiffType]


def allocate_ids(app: MountedComponent, existing: Mapping[str, ComponentInstance]) -> dict[str, str]:
    """An id for every component that was never mounted before, by component path."""
    paths = [mounted.path for mounted in app.walk() if mounted.path and mounted.path not in existing]
    return {path: str(DocumentId.new(SYSTEM_TABLE_NUMBERS["_components"])) for path in paths}


def namespace_of(path: str, allocated: Mapping[str, str]) -> str:
    """Where a component that was never mounted will have its tables. The app's are in the empty namespace."""
    return allocated[path] if path else ""


def mount(app: MountedComponent, existing: Mapping[str, ComponentInstance], allocated: Mapping[str, str]) -> Mounting:
    instances: dict[str, ComponentInstance] = {}
    changes: dict[str, DiffType] = {}
    for mounted in app.walk():
        old = existing.get(mounted.path)
        id = old.id if old is not None else namespace_of(mounted.path, allocated)
        instances[mounted.path] = _instance(id, mounted)
        changes[mounted.path] = _change(old, mounted)
    for path, old in existing.items():
        if path not in instances:
            instances[path] = replace(old, state="unmounted")
            if old.state == "active":
                changes[path] = "unmount"
    return Mounting(instances, changes)


def _change(old: ComponentInstance | None, mounted: MountedComponent) -> DiffType:
    if old is None:
        return "create" if mounted.path else "modify"
    return "remount" if old.state == "unmounted" else "modify"


def _instance(id: str, mounted: MountedComponent) -> ComponentInstance:
    return ComponentInstance(
        id=id,
        path=mounted.path,
        definition_path=mounted.definition.path,
        children={name: child.path for name, child in mounted.children.items()},
        env={name: binding.to_json() for name, binding in mounted.env.items()},
        http_prefix=mounted.http_prefix,
    )


@dataclass(slots=True)
class ExportTree:
    """A branch with `children`, or a leaf with the `udf_path` of a function."""

    children: "dict[str, ExportTree]" = field(default_factory=dict)
    udf_path: str | None = None

    def to_metadata(self) -> dict[str, object]:
        """As definitions show it, with references."""
        if self.udf_path is not None:
            return {"type": "leaf", "leaf": f"_reference/function/{self.udf_path}"}
        return {
            "type": "branch",
            "branch": [[name, child.to_metadata()] for name, child in sorted(self.children.items())],
        }

    def to_resource(self, component: str) -> dict[str, object]:
        """As mounted instances show it, with absolute paths."""
        if self.udf_path is not None:
            path = {"component": component, "udfPath": self.udf_path}
            return {"type": "leaf", "resource": {"type": "function", "path": path}}
        return {"type": "branch", "children": self.resources(component)}

    def resources(self, component: str) -> dict[str, object]:
        return {name: child.to_resource(component) for name, child in sorted(self.children.items())}


def public_functions(analysis: Mapping[str, AnalyzedModule]) -> ExportTree:
    """Raises RequestError when a module and a function want the same place in the tree."""
    tree = ExportTree()
    for path, module in sorted(analysis.items()):
        for function in module.functions:
            if function.visibility == "public":
                _add(tree, f"{path}:{function.name}", [*path.removesuffix(".js").split("/"), function.name])
    return tree


def _add(tree: ExportTree, udf_path: str, steps: list[str]) -> None:
    node = tree
    for step in steps[:-1]:
        node = node.children.setdefault(step, ExportTree())
        if node.udf_path is not None:
            raise _conflict(udf_path)
    if steps[-1] in node.children:
        raise _conflict(udf_path)
    node.children[steps[-1]] = ExportTree(udf_path=udf_path)


def _conflict(udf_path: str) -> Exception:
    return refused("InvalidExport", f"Path {udf_path} conflicts with existing export")

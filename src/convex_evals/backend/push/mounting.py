"""Which component instances a push creates, keeps, takes down or brings back."""

from collections.abc import Mapping
from dataclasses import dataclass, replace

from convex_evals.backend.deployed import ComponentInstance
from convex_evals.backend.ids import SYSTEM_TABLE_NUMBERS, DocumentId
from convex_evals.backend.push.diff import DiffType
from convex_evals.backend.push.tree import MountedComponent


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

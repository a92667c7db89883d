"""Package faces that import a module only when one of its names is used: a type must not cost the time of a tool."""

from collections.abc import Callable, Mapping
from importlib import import_module


def load_on_demand(package: str, names: Mapping[str, tuple[str, ...]]) -> Callable[[str], object]:
    """The `__getattr__` of a package. `names` has, for each module of it, what the face shows of that module."""
    homes = {name: module for module, shown in names.items() for name in shown}

    def load(name: str) -> object:
        if name not in homes:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        return getattr(import_module(f"{package}.{homes[name]}"), name)

    return load

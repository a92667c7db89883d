"""What a component offers its parent: a tree of its public functions."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from convex_evals.backend.deployed import AnalyzedModule
from convex_evals.backend.push.errors import refused


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

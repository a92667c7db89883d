"""A package's `__init__` is its face: modules outside of the package import from there, never from a module inside."""

import ast
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path

import pytest

SOURCE = Path(__file__).parent.parent / "src"

PACKAGES = [
    "convex_evals.backend",
    "convex_evals.backend.auth",
    "convex_evals.backend.bench",
    "convex_evals.backend.conformance",
    "convex_evals.backend.database",
    "convex_evals.backend.functions",
    "convex_evals.backend.http",
    "convex_evals.backend.push",
    "convex_evals.backend.runtime",
    "convex_evals.backend.scheduler",
    "convex_evals.backend.schema",
    "convex_evals.backend.search",
    "convex_evals.backend.storage",
    "convex_evals.backend.sync",
    "convex_evals.backend.system",
    "convex_evals.backend.validators",
    "convex_evals.backend.values",
    "convex_evals.cli.analysis",
    "convex_evals.cli.menu",
    "convex_evals.cli.progress",
    "convex_evals.controls",
    "convex_evals.controls.mutants",
    "convex_evals.controls.mutants.operators",
    "convex_evals.core.http",
    "convex_evals.core.machine",
    "convex_evals.core.processes",
    "convex_evals.core.settings",
    "convex_evals.core.supervisor",
    "convex_evals.core.toolchain",
    "convex_evals.models",
    "convex_evals.models.providers",
    "convex_evals.models.responses",
    "convex_evals.pipeline",
    "convex_evals.pipeline.bench",
    "convex_evals.pipeline.deploy",
    "convex_evals.pipeline.grading",
    "convex_evals.pipeline.grading.kit",
    "convex_evals.pipeline.grading.vitest",
    "convex_evals.pipeline.install",
    "convex_evals.pipeline.lint",
    "convex_evals.pipeline.typecheck",
    "convex_evals.runner",
    "convex_evals.runner.bench",
    "convex_evals.schedule",
    "convex_evals.scores",
    "convex_evals.scores.rows",
    "convex_evals.statistics",
    "convex_evals.suite",
    "convex_evals.web",
]
WITH_FACES_OF_THEIR_OWN = {
    "convex_evals.backend.bench",
    "convex_evals.backend.conformance",
    "convex_evals.backend.sync",
    "convex_evals.pipeline.bench",
    "convex_evals.pipeline.grading",
    "convex_evals.pipeline.grading.kit",
    "convex_evals.runner.bench",
    "convex_evals.web.bench",
}
CORE = "convex_evals.core"  # its packages are built on each other; the face is for the other parts


def imported(tree: ast.AST) -> Iterator[str]:
    """Everything a module imports, as dotted names; `from package import name` counts as `package.name`."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


def modules_inside(package: str) -> set[str]:
    folder = SOURCE / package.replace(".", "/")
    assert folder.is_dir(), f"{package} is not a package"
    names = {path.stem if path.suffix == ".py" else path.name for path in folder.iterdir() if path.stem != "__init__"}
    return {f"{package}.{name}" for name in names} - WITH_FACES_OF_THEIR_OWN


@pytest.fixture(scope="module")
def imports() -> dict[str, list[str]]:
    """What each module imports, by its dotted name."""
    found: dict[str, list[str]] = {}
    for path in SOURCE.rglob("*.py"):
        name = ".".join(path.relative_to(SOURCE).with_suffix("").parts).removesuffix(".__init__")
        found[name] = list(imported(ast.parse(path.read_text())))
    return found


@pytest.mark.parametrize("package", PACKAGES)
def test_a_package_is_imported_through_its_face(package: str, imports: dict[str, list[str]]) -> None:
    inside, home = modules_inside(package), CORE if package.startswith(f"{CORE}.") else package
    around = [
        f"{module} imports {name}"
        for module, names in imports.items()
        if module != home and not module.startswith(f"{home}.")
        for name in names
        if name in inside or any(name.startswith(f"{part}.") for part in inside)
    ]
    assert around == []


@pytest.mark.parametrize("package", PACKAGES)
def test_a_face_has_every_name_it_lists(package: str) -> None:
    """Some faces load a name only when it is asked for."""
    face = import_module(package)
    assert [name for name in getattr(face, "__all__", ()) if not hasattr(face, name)] == []

"""The tests of a grader by name, found without running anything."""

import ast
from collections.abc import Iterator

from convex_evals.suite import Grader, GraderKind, read_text


def has_test(grader: Grader, stated: str) -> bool:
    """Whether a test of the grader is meant: its name begins with what is stated."""
    source = read_text(grader.path)
    if grader.kind is GraderKind.VITEST:
        return stated.rpartition(" > ")[2] in source
    wanted = stated.partition("[")[0].rpartition("::")[2]
    return any(name.startswith(wanted) for name in _python_tests(source))


def is_among(stated: str, failed: tuple[str, ...]) -> bool:
    """Whether the stated test is one of those that failed, whatever parameters it had."""
    return any(name.startswith(stated) or name.rpartition("::")[2].startswith(stated) for name in failed)


def _python_tests(source: str) -> Iterator[str]:
    try:
        tree = ast.parse(source)
    except SyntaxError:  # the grading says so better
        return
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and node.name.startswith("test"):
            yield node.name

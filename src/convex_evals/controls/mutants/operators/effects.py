"""What is not done, or not waited for."""

from collections.abc import Iterator

from ast_grep_py import SgNode

from convex_evals.controls.mutants.edits import Change
from convex_evals.controls.mutants.nodes import cut, replace, start_of


def skip_effect(root: SgNode) -> Iterator[Change]:
    """A statement that only waits for something (`await ctx.db.delete(id);`) is left out."""
    for statement in root.find_all(kind="expression_statement"):
        if statement.children()[0].kind() == "await_expression":
            parent = statement.parent()
            in_block = parent is not None and parent.kind() in ("statement_block", "program")
            yield (replace(statement, "" if in_block else "{}"),)


def remove_await(root: SgNode) -> Iterator[Change]:
    """`await x` becomes `x`."""
    for waiting in root.find_all(kind="await_expression"):
        (_, awaited) = waiting.children()
        yield (cut(start_of(waiting), start_of(awaited)),)

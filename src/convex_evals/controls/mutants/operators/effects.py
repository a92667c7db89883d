"""What is not done, or not waited for."""

from collections.abc import Iterator

from ast_grep_py import SgNode

from convex_evals.controls.mutants.edits import Change
from convex_evals.controls.mutants.nodes import ancestors_in_function, cut, replace, start_of


def skip_effect(root: SgNode) -> Iterator[Change]:
    """A statement that only waits for something (`await ctx.db.delete(id);`) is left out."""
    for statement in root.find_all(kind="expression_statement"):
        if statement.children()[0].kind() == "await_expression":
            parent = statement.parent()
            in_block = parent is not None and parent.kind() in ("statement_block", "program")
            yield (replace(statement, "" if in_block else "{}"),)


def remove_await(root: SgNode) -> Iterator[Change]:
    """`await x` becomes `x`, except where a function returns it: there it is the same."""
    for waiting in root.find_all(kind="await_expression"):
        if not _is_returned(waiting):
            (_, awaited) = waiting.children()
            yield (cut(start_of(waiting), start_of(awaited)),)


def _is_returned(waiting: SgNode) -> bool:
    """Inside `try` a returned promise is not the same: its failure is not caught."""
    parent = waiting.parent()
    if parent is None or parent.kind() not in ("return_statement", "arrow_function"):
        return False
    return not any(node.kind() == "try_statement" for node in ancestors_in_function(waiting) or ())

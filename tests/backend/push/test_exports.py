import pytest

from convex_evals.backend.deployed import AnalyzedFunction, AnalyzedModule, Visibility
from convex_evals.backend.errors import RequestError
from convex_evals.backend.push.exports import public_functions


def module(*names: str, visibility: Visibility = "public") -> AnalyzedModule:
    return AnalyzedModule(tuple(AnalyzedFunction(name, "Query", visibility, "{}", "null") for name in names))


def test_public_functions_form_a_sorted_tree() -> None:
    tree = public_functions(
        {"public.js": module("inc", "get"), "a/b.js": module("f"), "hidden.js": module("x", visibility="internal")}
    )
    leaf = {"type": "leaf", "leaf": "_reference/function/a/b.js:f"}
    branch = tree.to_metadata()["branch"]
    assert isinstance(branch, list)
    assert branch[0] == ["a", {"type": "branch", "branch": [["b", {"type": "branch", "branch": [["f", leaf]]}]]}]
    assert [name for name, _ in branch] == ["a", "public"]
    assert list(tree.resources("counter")["public"]["children"]) == ["get", "inc"]  # type: ignore[index]


def test_a_function_and_a_module_cannot_have_the_same_place() -> None:
    with pytest.raises(RequestError) as refusal:
        public_functions({"a.js": module("b"), "a/b.js": module("c")})
    assert refusal.value.code == "InvalidExport"
    assert "conflicts with existing export" in refusal.value.message

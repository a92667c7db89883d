from typing import Any

import pytest

from convex_evals.backend.deployed import AnalyzedFunction, AnalyzedModule, HttpRoute, Visibility
from convex_evals.backend.errors import RequestError
from convex_evals.backend.push.definitions import Definition, complete_metadata
from convex_evals.backend.push.tree import MountedComponent, TreeBuilder, public_functions

STRING = '{"type":"string"}'
SPEEDS = '{"type":"union","value":[{"type":"literal","value":"fast"},{"type":"literal","value":"slow"}]}'


def declares(validator: str = STRING, optional: bool = False) -> dict[str, object]:
    return {"type": "value", "value": validator, "optional": optional}


def literal(value: str) -> dict[str, str]:
    return {"type": "value", "value": value}


def variable(name: str) -> dict[str, str]:
    return {"type": "envVar", "name": name}


def use(path: str, name: str | None = None, **env: dict[str, str]) -> dict[str, object]:
    return {"name": name or path, "path": path, "env": list(env.items())}


def definition(path: str, *children: dict[str, object], **fields: Any) -> Definition:
    kind = {"type": "childComponent", "name": path} if path else {"type": "app"}
    exported = {"definitionType": kind, "childComponents": list(children), **fields}
    return Definition.parse(complete_metadata(path, exported))


def build(*definitions: Definition, http: tuple[str, ...] = (), for_codegen: bool = False) -> MountedComponent:
    routes = AnalyzedModule(http_routes=(HttpRoute("/hi", "GET"), HttpRoute("/pre/*", "GET")))
    analysis = {path: {"http.js": routes} for path in http}
    return TreeBuilder({found.path: found for found in definitions}, analysis, for_codegen).build()


def test_one_definition_can_be_mounted_several_times() -> None:
    app = build(definition("", use("counter"), use("counter", "second")), definition("counter"))
    assert [found.path for found in app.walk()] == ["", "counter", "second"]


def test_nested_components_have_nested_paths() -> None:
    app = build(definition("", use("outer")), definition("outer", use("inner")), definition("inner"))
    assert [found.path for found in app.walk()] == ["", "outer", "outer/inner"]


def test_bindings_below_the_root_are_resolved_to_variables_of_the_app() -> None:
    app = build(
        definition("", use("outer", KEY=variable("API_KEY"), MODE=literal("fast")), envVars=[("API_KEY", declares())]),
        definition(
            "outer",
            use("inner", A=variable("KEY"), B=variable("MODE")),
            envVars=[("KEY", declares()), ("MODE", declares(SPEEDS))],
        ),
        definition("inner", envVars=[("A", declares()), ("B", declares())]),
    )
    inner = app.children["outer"].children["inner"]
    assert {name: bound.to_json() for name, bound in inner.env.items()} == {
        "A": variable("API_KEY"),
        "B": literal("fast"),
    }


@pytest.mark.parametrize(
    ("env", "message"),
    [
        ({}, "Component c is missing required env var MODE"),
        ({"MODE": literal("fast"), "X": literal("1")}, "Component c has no env var named X"),
        (
            {"MODE": literal("warp")},
            'Component c has an invalid value for env var MODE: "warp" is not one of "fast" | "slow"',
        ),
        ({"MODE": variable("NOPE")}, "Component c references undeclared parent env var NOPE"),
        ({"MODE": variable("MAYBE")}, "Component c binds required env var MODE to optional env var MAYBE"),
        (
            {"MODE": variable("ANYTHING")},
            "Component c has an invalid value for env var MODE: "
            "env var ANYTHING may have values that it does not accept",
        ),
    ],
)
def test_a_binding_that_does_not_fit_fails_the_typecheck(env: dict[str, dict[str, str]], message: str) -> None:
    declared = [("MAYBE", declares(SPEEDS, optional=True)), ("ANYTHING", declares())]
    with pytest.raises(RequestError) as refusal:
        build(
            definition("", use("counter", "c", **env), envVars=declared),
            definition("counter", envVars=[("MODE", declares(SPEEDS))]),
        )
    assert (refusal.value.code, refusal.value.message) == ("TypecheckError", message)


def test_codegen_does_not_need_required_variables() -> None:
    build(definition("", use("c")), definition("c", envVars=[("MODE", declares())]), for_codegen=True)


def test_names_are_unique_within_a_parent() -> None:
    with pytest.raises(RequestError, match="Component app has multiple child components with the same name: c"):
        build(definition("", use("c"), use("c")), definition("c"))


def test_mounts_give_prefixes_that_join_below_the_first_level() -> None:
    app = build(
        definition("", use("outer"), httpMounts={"/outer/": "_reference/childComponent/outer"}),
        definition("outer", use("inner"), httpMounts={"/inner/": "_reference/childComponent/inner"}),
        definition("inner"),
        http=("inner",),
    )
    assert [found.http_prefix for found in app.walk()] == [None, "/outer/", "/outer/inner/"]


@pytest.mark.parametrize(
    ("mount", "child_routes", "message"),
    [
        ("/c/", (), "HTTP mount /c/ is invalid: Child component c doesn't have any HTTP routes."),
        ("/pre/", ("", "c"), "HTTP mount /pre/ is invalid: Overlap with existing prefix route"),
    ],
)
def test_a_mount_needs_routes_below_and_free_space_above(
    mount: str, child_routes: tuple[str, ...], message: str
) -> None:
    app = definition("", use("c"), httpMounts={mount: "_reference/childComponent/c"})
    with pytest.raises(RequestError) as refusal:
        build(app, definition("c"), http=child_routes)
    assert refusal.value.message == message


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

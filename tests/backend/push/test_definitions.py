import pytest

from convex_evals.backend.errors import RequestError
from convex_evals.backend.push.definitions import Definition, complete_metadata, evaluation_order
from convex_evals.backend.push.request import PushedComponent


def pushed(path: str, *dependencies: str) -> PushedComponent:
    return PushedComponent(path, None, dependencies, None, (), (), "1.44.0")


def test_dependencies_are_evaluated_first_and_the_app_last() -> None:
    order = evaluation_order(pushed("", "a"), [pushed("a", "b", "c"), pushed("c"), pushed("b", "c"), pushed("unused")])
    assert [found.path for found in order] == ["c", "b", "a", "unused", ""]


def test_definitions_that_need_each_other_are_refused() -> None:
    with pytest.raises(RequestError) as refusal:
        evaluation_order(pushed("", "a"), [pushed("a", "b"), pushed("b", "a")])
    assert (refusal.value.code, refusal.value.message) == ("CyclicImport", "Found cyclic definition dependency")


def test_metadata_has_every_field_that_any_cli_version_reads() -> None:
    exported = {"definitionType": {"type": "childComponent", "name": "counter"}, "childComponents": []}
    assert complete_metadata("counter", exported) == {
        "path": "counter",
        "definitionType": {"type": "childComponent", "name": "counter", "args": []},
        "childComponents": [],
        "httpMounts": {},
        "httpPrefix": None,
        "exports": {"type": "branch", "branch": []},
        "envVars": None,
    }


@pytest.mark.parametrize(
    ("exported", "code"),
    [
        ({"childComponents": [{"name": "a-b", "path": "c"}]}, "InvalidDefinition"),
        ({"httpPrefix": "api/"}, "InvalidDefinition"),
        ({"httpPrefix": "/api"}, "InvalidDefinition"),
        ({"envVars": [["N", {"type": "value", "value": '{"type":"number"}'}]]}, "InvalidEnvVarDeclaration"),
    ],
)
def test_a_definition_that_breaks_the_rules_is_refused(exported: dict[str, object], code: str) -> None:
    with pytest.raises(RequestError) as refusal:
        Definition.parse(complete_metadata("", exported))
    assert refusal.value.code == code

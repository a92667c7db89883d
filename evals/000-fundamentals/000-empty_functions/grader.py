"""Six functions that do nothing: each of its kind, each as visible as the task says."""

import pytest

from convex_evals.pipeline.grading.kit import Caller, Deployment, Sources, same_function_spec

PUBLIC = {"emptyQuery": "query", "emptyMutation": "mutation", "emptyAction": "action"}
INTERNAL = {"emptyInternalQuery": "query", "emptyInternalMutation": "mutation", "emptyInternalAction": "action"}
ALL = {**PUBLIC, **INTERNAL}


def call(caller: Caller, name: str, **args: object) -> object:
    kinds = {"query": caller.query, "mutation": caller.mutation, "action": caller.action}
    return kinds[ALL[name]](f"index:{name}", args)


@pytest.mark.parametrize("name", PUBLIC)
def test_clients_can_call_public_functions(project: Deployment, name: str) -> None:
    assert call(project, name) is None


@pytest.mark.parametrize("name", INTERNAL)
def test_only_the_deployment_can_call_internal_functions(project: Deployment, name: str) -> None:
    with project.fails("Could not find public function"):
        call(project, name)
    assert call(project.admin, name) is None


@pytest.mark.parametrize("name", ALL)
def test_arguments_are_rejected(project: Deployment, name: str) -> None:
    with project.fails("ArgumentValidationError"):
        call(project.admin, name, surprise=1)


def test_kinds_visibility_arguments_and_returns_are_declared(project: Deployment, answer: Deployment) -> None:
    same_function_spec(project, answer, [f"index:{name}" for name in ALL], returns=True)


def test_there_is_no_schema(project: Deployment, files: Sources) -> None:
    assert project.schema().tables == {}
    assert files.paths("convex/schema.*") == []


def test_convex_is_the_only_dependency(files: Sources) -> None:
    dependencies = files.package_json.get("dependencies")
    assert dependencies in ({"convex": "1.44.0"}, {"convex": "^1.44.0"}, {"convex": "~1.44.0"})


def test_the_compiler_is_strict(files: Sources) -> None:
    configurations = [files.json(path) for path in files.paths("**/tsconfig.json")]
    assert any(each.get("compilerOptions", {}).get("strict") is True for each in configurations)

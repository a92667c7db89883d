import pytest

from convex_evals.backend.deployed import Application, ComponentDefinition, Module, UdfConfig
from convex_evals.backend.errors import SystemFailure
from convex_evals.backend.runtime.code import KEPT_APPLICATIONS, CodeStore, code_key


def application(version: int) -> Application:
    modules = {
        "a.js": Module("a.js", f"// {version}", "{}", "isolate"),
        "n.js": Module("n.js", "", None, "node"),
    }
    definition = ComponentDefinition("", modules, {}, None, {})
    return Application(version, UdfConfig("1.44.0", b"\1" * 32, 5), {"": definition}, {})


def test_modules_are_found_by_workers_of_their_environment_only() -> None:
    store = CodeStore()
    store.add_application(application(1))
    key = code_key(1, "")
    isolate = {"ask": "module", "code": key, "environment": "isolate"}
    assert store.answer({**isolate, "path": "a.js"}) == {"source": "// 1"}
    assert "Couldn't find JavaScript module 'n.js'." in store.answer({**isolate, "path": "n.js"})["error"]
    assert store.answer({"ask": "map", "code": key, "path": "a.js"}) == {"map": "{}"}
    assert store.answer({"ask": "code", "code": key}) == {"seed": "01" * 32, "now": 5}


def test_only_the_last_versions_are_kept() -> None:
    store = CodeStore()
    for version in range(KEPT_APPLICATIONS + 2):
        store.add_application(application(version))
    assert store.require(KEPT_APPLICATIONS + 1, "") == code_key(KEPT_APPLICATIONS + 1, "")
    with pytest.raises(SystemFailure, match="version 0 of the application is not loaded"):
        store.require(0, "")


def test_a_worker_that_asks_for_code_that_is_gone_finds_no_modules() -> None:
    question = {"ask": "module", "code": "0/", "environment": "isolate", "path": "a.js"}
    assert "Couldn't find JavaScript module 'a.js'." in CodeStore().answer(question)["error"]


def test_equal_variables_have_the_same_name() -> None:
    store = CodeStore()
    first = store.environment_id({"A": "1", "B": "2"})
    assert store.environment_id({"B": "2", "A": "1"}) == first
    assert store.environment_id({"A": "1"}) != first
    assert store.answer({"ask": "env", "env": first}) == {"env": {"A": "1", "B": "2"}}


def test_an_unknown_question_is_an_error() -> None:
    with pytest.raises(ValueError, match="nonsense"):
        CodeStore().answer({"ask": "nonsense"})

import pytest

from convex_evals.analysis.counterfactuals.demands import is_stated, read_demands
from convex_evals.analysis.evidence import Demand
from convex_evals.core.diagnostics import Diagnostic

TASK = "`getMessages` returns messages. A body without an email is answered with 400 and `email is required`."


@pytest.mark.parametrize(
    ("term", "stated"),
    [
        ("getMessages", True),
        ("email is required", True),
        ("400", True),
        ("returnsMessages", True),
        ("returns", True),
        ("by_channel", False),
        ("404", False),
        ("mess", False),
    ],
)
def test_a_term_is_stated_as_it_is_or_as_its_words(term: str, stated: bool) -> None:
    assert is_stated(term, TASK) is stated


def test_what_an_assertion_insists_on_is_looked_up_in_the_task() -> None:
    test = Diagnostic(
        "test",
        "assert …",
        "test_a",
        expected="(400, {'error': 'email is required', 'hint': 'try again later'})",
        received="(500, {})",
        assertion='assert (response.status, response.json()) == (400, {"error": "email is required"})',
    )
    found = read_demands((test,), TASK, "")
    assert Demand("email is required", True) in found
    assert Demand("try again later", False) in found
    assert Demand("400", True) in found
    assert Demand("hint", False) in found


def test_declarations_that_differ_name_the_part() -> None:
    test = Diagnostic(
        "tests", "the functions differ\nindex:list returns: expected v.array(), received any", "test_spec"
    )
    assert read_demands((test,), "Write a function list.", "") == (Demand("returns", False),)


def test_what_the_grader_puts_in_itself_is_no_demand() -> None:
    test = Diagnostic("tests", "", "test_a", expected="['a long title']")
    assert read_demands((test,), TASK, 'project.insert("posts", {"title": "a long title"})') == ()


def test_without_a_task_nothing_is_said() -> None:
    assert read_demands((Diagnostic("tests", "", "t", expected="'a b c'"),), "", "") == ()

import pytest

from convex_evals.backend.database import Database
from convex_evals.backend.environment import (
    CanonicalUrls,
    VariableChange,
    apply_changes,
    read_variables,
    write_url,
    write_variables,
)
from convex_evals.backend.errors import RequestError

OWN = CanonicalUrls("http://127.0.0.1:3210", "http://127.0.0.1:3211")


def test_deletions_are_applied_before_the_rest() -> None:
    changes = [VariableChange("A", "2"), VariableChange("B", None), VariableChange("A", None), VariableChange("C", "3")]
    assert apply_changes({"A": "1", "B": "1"}, changes) == {"A": "2", "C": "3"}


def test_deleting_an_unknown_variable_changes_nothing() -> None:
    assert apply_changes({"A": "1"}, [VariableChange("NOPE", None)]) == {"A": "1"}


@pytest.mark.parametrize(
    ("name", "value", "code", "message"),
    [
        (
            "1a",
            "x",
            "EnvironmentVariableNameInvalid",
            "The environment variable name 1a is invalid. Environment variable names must begin with a letter and may "
            "only include characters a-z, A-Z, 0-9, and underscores.",
        ),
        ("A-B", "x", "EnvironmentVariableNameInvalid", None),
        ("", "x", "EnvironmentVariableNameInvalid", None),
        ("A" * 257, "x", "EnvironmentVariableNameTooLong", None),
        (
            "A",
            "x" * 9000,
            "EnvironmentVariableValueTooLarge",
            "The environment variable value is 9000 bytes, which is too large. (max size: 8192",
        ),
        (
            "CONVEX_SITE_URL",
            "x",
            "EnvVarNameForbidden",
            'Environment variable with name "CONVEX_SITE_URL" is built-in and cannot be overridden',
        ),
    ],
)
def test_a_variable_that_breaks_a_rule_is_refused(name: str, value: str, code: str, message: str | None) -> None:
    with pytest.raises(RequestError) as refusal:
        apply_changes({}, [VariableChange(name, value)])
    assert (refusal.value.status, refusal.value.code) == (400, code)
    assert message is None or refusal.value.message == message


@pytest.mark.parametrize(
    ("count", "value", "code"), [(513, "x", "EnvVarLimitMet"), (70, "x" * 8000, "EnvVarTotalSizeLimitMet")]
)
def test_totals_are_limited(count: int, value: str, code: str) -> None:
    with pytest.raises(RequestError) as refusal:
        apply_changes({}, [VariableChange(f"V{number}", value) for number in range(count)])
    assert refusal.value.code == code


def test_variables_are_kept_in_the_database_and_unchanged_rows_are_left_alone() -> None:
    database = Database.open(None)
    for variables in ({"B": "1", "A": "1"}, {"A": "1", "C": "2"}):
        transaction = database.begin()
        write_variables(transaction, variables)
        commit = database.commit(transaction)
    assert read_variables(database.begin()) == {"A": "1", "C": "2"}
    assert len(commit.writes) == 2


def test_the_deployments_own_address_counts_until_another_one_is_set_and_again_when_it_is_removed() -> None:
    database = Database.open(None)
    for url, expected in [
        ("https://api.example.com/", "https://api.example.com"),
        ("https://b.example.com", "https://b.example.com"),
        (None, OWN.cloud),
    ]:
        transaction = database.begin()
        write_url(transaction, "convexCloud", url)
        database.commit(transaction)
        assert OWN.overridden(database.begin()) == CanonicalUrls(expected, OWN.site)

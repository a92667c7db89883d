import pytest

from convex_evals.backend.errors import DeveloperError
from convex_evals.backend.names import check_field_name, identifier_error, is_identifier


@pytest.mark.parametrize("text", ["a", "_a", "A1_", "x" * 64, "by_creation_time"])
def test_identifiers(text: str) -> None:
    assert is_identifier(text)


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", "Identifier cannot be empty"),
        (
            "1abc",
            "Invalid first character '1' in 1abc: Identifiers must start with an alphabetic character or underscore",
        ),
        (
            "foo$",
            "Identifier foo$ has invalid character '$': "
            "Identifiers can only contain alphanumeric characters or underscores",
        ),
        (
            "aé",
            "Identifier aé has invalid character 'é': "
            "Identifiers can only contain alphanumeric characters or underscores",
        ),
        ("___", "Identifier ___ cannot have exclusively underscores"),
        ("x" * 70, "Identifier is too long (70 > maximum 64)"),
    ],
)
def test_invalid_identifiers_are_refused_with_the_reason(text: str, reason: str) -> None:
    assert identifier_error(text) == reason


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("$x", "Field name $x starts with '$', which is reserved."),
        (
            "aé",
            "Field name aé has invalid character 'é': Field names can only contain non-control ASCII characters",
        ),
        (
            "a\n",
            "Field name a\n has invalid character '\n': Field names can only contain non-control ASCII characters",
        ),
        ("x" * 1025, "Field name is too long (1025 > maximum 1024)"),
    ],
)
def test_a_bad_field_name_is_named(name: str, message: str) -> None:
    with pytest.raises(DeveloperError) as refusal:
        check_field_name(name)
    assert refusal.value.message == message

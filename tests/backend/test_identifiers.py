import pytest

from convex_evals.backend.identifiers import identifier_error, is_identifier


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
def test_what_is_no_identifier_gets_the_reason(text: str, reason: str) -> None:
    assert identifier_error(text) == reason

import pytest

from convex_evals.core.text import shortened


@pytest.mark.parametrize(
    ("text", "longest", "shown"),
    [
        ("one line\n of text", 20, "one line of text"),
        ("it does not have a type annotation", 30, "it does not have a type …"),
        ("an import of convex/tasks/archive/of/the/whole/company.ts", 40, "an import of convex/tasks/archive/of/th…"),
        ("aVeryLongWordWithoutAnyBlank", 10, "aVeryLong…"),
    ],
)
def test_a_text_is_shortened_between_words_unless_the_last_is_very_long(text: str, longest: int, shown: str) -> None:
    assert shortened(text, longest) == shown
    assert len(shown) <= longest

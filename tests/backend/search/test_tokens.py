import pytest

from convex_evals.backend.search.tokens import tokenize


@pytest.mark.parametrize(
    ("text", "tokens"),
    [
        ("", []),
        ("!!! ... 😀", []),
        ("Hello, World", ["hello", "world"]),
        ("snake_case kebab-case it's 3.14", ["snake", "case", "kebab", "case", "it", "s", "3", "14"]),
        ("Ünïcode ÀÉ", ["ünïcode", "àé"]),
        ("ΣΑΣ", ["σασ"]),
        ("今日は", ["今日は"]),
        ("का①½", ["का①½"]),
        ("हिन्दी", ["हिन", "दी"]),
        ("e\u0301", ["e"]),
        ("❤️x", ["x"]),
        ("x" * 31 + " " + "y" * 32, ["x" * 31]),
        ("é" * 15 + " " + "é" * 16, ["é" * 15]),
        ("a b a", ["a", "b", "a"]),
    ],
)
def test_words_of_a_text(text: str, tokens: list[str]) -> None:
    assert tokenize(text) == tokens

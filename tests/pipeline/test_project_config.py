"""JSON as tsconfig files have it."""

import time

import pytest

from convex_evals.pipeline.project_config import parse_jsonc


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ('{"a": 1}', {"a": 1}),
        ('// one\n{"a": /* two */ 1, // three\n}', {"a": 1}),
        ('{"a": ["x", "y",],}', {"a": ["x", "y"]}),
        ('{"a": "// no comment /* at all */ ,}"}', {"a": "// no comment /* at all */ ,}"}),
        ('{"a": "\\"//"}', {"a": '"//'}),
        ("\ufeff{}", {}),
    ],
)
def test_comments_and_trailing_commas_are_allowed(text: str, value: object) -> None:
    assert parse_jsonc(text) == value


@pytest.mark.parametrize("text", ["", "{", '{"a" 1}', "[" * 100_000])
def test_anything_else_is_an_error(text: str) -> None:
    with pytest.raises(ValueError):
        parse_jsonc(text)


@pytest.mark.parametrize(
    "text", ["/*" * 500_000, '\\"' * 500_000, '"' + '\\"' * 500_000, ", " * 500_000, "/" * 1_000_000]
)
def test_no_text_takes_more_than_one_pass(text: str) -> None:
    started = time.perf_counter()
    with pytest.raises(ValueError):
        parse_jsonc(text)
    assert time.perf_counter() - started < 5

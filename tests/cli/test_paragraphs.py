"""Text fits the screen, and words stay whole."""

import pytest

from convex_evals.cli.paragraphs import reflowed, wrapped

TEST = "test_removing_a_document_that_is_gone_is_an_error_but_a_file_may_be_gone"


@pytest.mark.parametrize("width", [30, 60, 80])
def test_lines_are_broken_between_words(width: int) -> None:
    text = "tsc: convex/index.ts(53,14): error TS7022: 'add' implicitly has type 'any' because it has no annotation."
    lines = wrapped(text, width, "", "    ")
    assert all(len(line) <= width for line in lines)
    assert " ".join(line.strip() for line in lines) == text
    assert all(line.startswith("    ") for line in lines[1:])


def test_a_word_too_long_for_a_line_is_not_moved() -> None:
    assert wrapped(f"✗ {TEST} (grader.py:92)", 60, "    ", "        ") == [f"    ✗ {TEST} (grader.py:92)"]
    assert wrapped(f"✗ {TEST} (grader.py:92)", 80, "    ", "        ") == [f"    ✗ {TEST}", "        (grader.py:92)"]


def test_a_dot_between_facts_ends_a_line_and_begins_none() -> None:
    assert wrapped("run 0a1b2c3d · sample/expert · 6 of 10 passed", 30, hanging="  ") == [
        "run 0a1b2c3d · sample/expert ·",
        "  6 of 10 passed",
    ]


def test_paragraphs_and_lists_of_markdown_are_rewrapped() -> None:
    text = "Write a backend that finds\nflats by city.\n\n- `rent` is the\n  given one.\n- `rooms`\n"
    assert list(reflowed(text, 30)) == [
        "Write a backend that finds",
        "flats by city.",
        "",
        "- `rent` is the given one.",
        "- `rooms`",
    ]
    assert list(reflowed("- a `city` that is long enough to break", 20)) == [
        "- a `city` that is",
        "  long enough to",
        "  break",
    ]


def test_code_tables_and_headings_stay_as_they_are() -> None:
    text = "# A heading that is long\n````md\n```ts\nconst a = 1; // long line\nb\n```\nc\n````\n| a | b |\n| - | - |\n"
    assert list(reflowed(text, 10)) == text.splitlines()

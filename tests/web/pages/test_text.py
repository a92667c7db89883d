import pytest

from convex_evals.web.pages.text import clipped, shown


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("plain", "plain"),
        ("<script>alert(1)</script>", "&lt;script&gt;alert(1)&lt;/script&gt;"),
        ("a\tb\nc", "a\tb\nc"),
        ("naïve – ✓", "naïve – ✓"),
        ("\x1b[31mred", '<span class="control" title="U+001B">\\x1b</span>[31mred'),
        ("a\u202eb", 'a<span class="control" title="RIGHT-TO-LEFT OVERRIDE">\\u202e</span>b'),
        ("<\0>", '&lt;<span class="control" title="U+0000">\\x00</span>&gt;'),
        ("zero\u200bwidth", 'zero<span class="control" title="ZERO WIDTH SPACE">\\u200b</span>width'),
        ("carriage\rreturn", 'carriage<span class="control" title="U+000D">\\r</span>return'),
    ],
)
def test_text_is_escaped_and_control_characters_are_spelled_out(text: str, expected: str) -> None:
    assert shown(text) == expected


def test_a_line_of_a_megabyte_is_cut_and_says_how_much_is_missing() -> None:
    cut = clipped("x" * 1_000_000 + "\nshort")
    assert cut.is_cut and cut.characters == 998_000 and cut.lines == 0
    assert cut.text.endswith("… (998,000 more characters)\nshort")


def test_too_many_lines_are_left_out_and_counted() -> None:
    cut = clipped("line\n" * 50, lines=10)
    assert (cut.text.count("line"), cut.lines) == (10, 41)


def test_a_short_text_stays_whole() -> None:
    assert clipped("one\ntwo").text == "one\ntwo"
    assert not clipped("one\ntwo").is_cut

import pytest
from markupsafe import Markup

from convex_evals.web.pages.text import clipped, highlighted, line_markup, shown

SOURCE = '// why\nexport const list = query({ args: { n: v.number() } });\nconst s = "<b>" + 12;\n'


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


def test_keywords_strings_numbers_and_comments_have_their_own_tone() -> None:
    first, second, third = (line_markup(line) for line in highlighted("convex/index.ts", SOURCE))
    assert first == Markup('<span class="c">// why</span>')
    assert '<span class="k">export</span>' in second
    assert '<span class="s">&#34;&lt;b&gt;&#34;</span>' in third and '<span class="n">12</span>' in third


@pytest.mark.parametrize(
    "path", ["a.ts", "a.tsx", "a.js", "a.json", "a.css", "a.html", "a.py", "a.md", "a.unknown", "Makefile"]
)
@pytest.mark.parametrize(
    "text", ["", "\n", "a\n", "a\n\n\nb", "`${`", '"""', "/* never closed\nx", "<script>\n</script>"]
)
def test_the_text_is_never_changed_whatever_the_language(path: str, text: str) -> None:
    lines = ["".join(segment.text for segment in line) for line in highlighted(path, text)]
    assert lines == text.removesuffix("\n").split("\n")


def test_endless_lines_are_cut_and_not_coloured() -> None:
    (line,) = highlighted("a.ts", "const a = " + "x" * 1_000_000)
    assert len(line) == 1 and len(line[0].text) < 3_000


def test_a_change_is_marked_across_segments() -> None:
    (line,) = highlighted("a.ts", "const a = 12;")
    assert "".join(str(line_markup(line, range(6, 12))).split("x")) != str(line_markup(line))
    assert '<span class="n x">12</span>' in line_markup(line, range(10, 12))

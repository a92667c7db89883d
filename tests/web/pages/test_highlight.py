import pytest
from markupsafe import Markup

from convex_evals.web.pages.highlight import highlighted, line_markup

SOURCE = '// why\nexport const list = query({ args: { n: v.number() } });\nconst s = "<b>" + 12;\n'


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

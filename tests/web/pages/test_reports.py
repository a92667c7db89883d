import pytest

from convex_evals.web.pages.reports import rendered


@pytest.mark.parametrize(
    "hostile",
    [
        "<script>alert(1)</script>",
        "[click](javascript:alert(1))",
        "[click](data:text/html,<script>alert(1)</script>)",
        "![picture](https://example.com/spy.png)",
        '<img src=x onerror="alert(1)">',
        "<style>body { display: none }</style>",
        "\x1b[31m \u202e",
    ],
)
def test_nothing_in_a_report_is_obeyed(hostile: str) -> None:
    html = rendered(hostile)
    for forbidden in ("<script", 'href="javascript', 'href="data', "<img", "<style", "\x1b", "\u202e"):
        assert forbidden not in html


def test_a_report_keeps_its_tables_links_and_code() -> None:
    html = rendered("# Title\n\n| a | b |\n| - | - |\n| 1 | 2 |\n\n[run](/run/abcd) `code`\n")
    for kept in ("<h1>Title</h1>", "<td>1</td>", '<a href="/run/abcd"', "<code>code</code>"):
        assert kept in html

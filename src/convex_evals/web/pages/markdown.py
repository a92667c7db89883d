"""Reports as pages: CommonMark with tables, its raw HTML shown as text, and what comes out cleaned once more."""

from functools import cache
from typing import Final

import nh3
from markdown_it import MarkdownIt
from markupsafe import Markup

from convex_evals.core.text import visible

_TAGS: Final = {
    *("a", "blockquote", "br", "code", "del", "em", "hr", "li", "ol", "p", "pre", "s", "strong", "ul"),
    *("h1", "h2", "h3", "h4", "h5", "h6", "table", "tbody", "td", "th", "thead", "tr"),
}
_SCHEMES: Final = {"http", "https", "mailto"}


def rendered(markdown: str) -> Markup:
    """Safe whatever it says: links of other schemes, images, scripts and styles do not survive."""
    html = nh3.clean(
        _parser().render(visible(markdown)),
        tags=_TAGS,
        attributes={"a": {"href"}, "code": {"class"}, "th": set(), "td": set(), "ol": {"start"}},
        url_schemes=_SCHEMES,
        link_rel="noopener noreferrer nofollow",
    )
    return Markup(html)


@cache
def _parser() -> MarkdownIt:
    return MarkdownIt("commonmark", {"html": False}).enable(["table", "strikethrough"])

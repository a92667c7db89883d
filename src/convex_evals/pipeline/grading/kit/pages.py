"""Walking through a paginated query."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final

from convex_evals.pipeline.grading.kit.comparing import show

MOST_PAGES: Final = 1000
FIELDS: Final = ("page", "isDone", "continueCursor")


@dataclass(frozen=True, slots=True)
class Page:
    items: list[Any]
    is_done: bool
    cursor: str


def walk(path: str, ask: Callable[[dict[str, object]], Any], num_items: int) -> list[Page]:
    pages: list[Page] = []
    cursor: str | None = None
    while not pages or not pages[-1].is_done:
        pages.append(_page(path, ask({"numItems": num_items, "cursor": cursor})))
        if len(pages) >= MOST_PAGES or (pages[-1].cursor == cursor and not pages[-1].is_done):
            raise AssertionError(f"{path} never comes to an end: page {len(pages)} still has isDone false")
        cursor = pages[-1].cursor
    return pages


def _page(path: str, result: Any) -> Page:
    is_page = isinstance(result, dict) and all(name in result for name in FIELDS)
    if not is_page or not isinstance(result["page"], list):
        raise AssertionError(
            f"{path} must return a page\nexpected: an object with {', '.join(FIELDS)}\nreceived: {show(result)}"
        )
    return Page(result["page"], result["isDone"], result["continueCursor"])

"""A page that loads a long log a few events at a time, and keeps what it has loaded up to date."""

from playwright.sync_api import Locator, Page, expect

from convex_evals.pipeline.grading.kit import App, Deployment, Sources, assert_same, same_schema

LOADING = "Loading…"
NOTHING = "No events yet."
THE_END = "That is all."


def record(project: Deployment, *texts: str) -> list[str]:
    return project.insert_many("events", [{"text": text} for text in texts])


def numbered(first: int, last: int) -> list[str]:
    """Texts from the first to the last, in either direction."""
    step = 1 if last >= first else -1
    return [f"event {number}" for number in range(first, last + step, step)]


def more(page: Page) -> Locator:
    return page.get_by_role("button", name="Load more")


def expect_events(page: Page, *texts: str, all_loaded: bool) -> None:
    expect(page.get_by_role("listitem")).to_have_text(list(texts))
    expect(page.get_by_text(THE_END, exact=True)).to_have_count(1 if all_loaded else 0)
    expect(more(page)).to_have_count(0 if all_loaded else 1)
    expect(page.get_by_role("status")).to_have_count(0)


def test_the_schema_is_the_one_of_the_task(project: Deployment, answer: Deployment) -> None:
    same_schema(project, answer)


def test_the_query_returns_pages_newest_first_and_reads_no_more_than_them(project: Deployment) -> None:
    record(project, *numbered(1, 12))
    expected = project.documents("events")[::-1]
    pages = project.pages("events:list", num_items=5)
    assert_same([event for page in pages for event in page.items], expected, ignore=())
    assert [len(page.items) for page in pages][:2] == [5, 5]
    with project.trace() as work:
        project.query("events:list", paginationOpts={"numItems": 5, "cursor": None})
    assert work.documents_read <= 6, f"a page of 5 events was asked for, and {work.documents_read} were read"
    for arguments in ({}, {"paginationOpts": {"numItems": "5", "cursor": None}}, {"paginationOpts": {"numItems": 5}}):
        with project.fails("ArgumentValidationError"):
            project.query("events:list", arguments)


def test_the_page_loads_with_the_paginating_hook_of_the_convex_client(files: Sources) -> None:
    hooks = ("usePaginatedQuery", "usePaginatedQuery_experimental")
    calls = [call for hook in hooks for call in files.imported_calls("convex/react", hook)]
    assert calls, "no file in src/ calls usePaginatedQuery of convex/react"


def test_it_says_that_it_is_loading_and_when_there_is_nothing(app: App) -> None:
    with app.opening() as page:
        expect(page.get_by_role("heading", level=1)).to_have_text("Events")
        expect(page.get_by_role("status")).to_have_text(LOADING)
        for text in (NOTHING, THE_END):
            expect(page.get_by_text(text)).to_have_count(0)
        expect(page.get_by_role("list")).to_have_count(0)
        expect(more(page)).to_have_count(0)
    expect(page.get_by_text(NOTHING, exact=True)).to_be_visible()
    expect(page.get_by_text(THE_END)).to_have_count(0)
    expect(page.get_by_role("status")).to_have_count(0)
    expect(page.get_by_role("list")).to_have_count(0)
    expect(more(page)).to_have_count(0)


def test_it_loads_five_events_at_a_time_until_all_are_there(app: App, project: Deployment) -> None:
    record(project, *numbered(1, 12))
    page = app.open()
    expect_events(page, *numbered(12, 8), all_loaded=False)
    with app.holding(page):
        more(page).click()
        expect(more(page)).to_be_disabled()
        expect_events(page, *numbered(12, 8), all_loaded=False)
    expect_events(page, *numbered(12, 3), all_loaded=False)
    expect(more(page)).to_be_enabled()
    more(page).click()
    expect_events(page, *numbered(12, 1), all_loaded=True)


def test_three_events_are_all_there_are(app: App, project: Deployment) -> None:
    record(project, *numbered(1, 3))
    expect_events(app.open(), *numbered(3, 1), all_loaded=True)


def test_only_events_that_are_shown_are_sent_to_the_page(app: App, project: Deployment) -> None:
    record(project, *numbered(1, 30))
    received: list[str] = []
    page = app.open()
    page.on("websocket", lambda socket: socket.on("framereceived", lambda frame: received.append(str(frame))))
    page.reload()
    expect_events(page, *numbered(30, 26), all_loaded=False)
    sent = [text for text in numbered(30, 1) if any(f'"{text}"' in message for message in received)]
    assert sent == numbered(30, 26), f"5 events are shown, and {len(sent)} were sent to the page"


def test_what_is_loaded_stays_up_to_date(app: App, project: Deployment) -> None:
    [first, *_] = record(project, *numbered(1, 7))
    page = app.open()
    expect_events(page, *numbered(7, 3), all_loaded=False)
    more(page).click()
    expect_events(page, *numbered(7, 1), all_loaded=True)
    [newest] = record(project, "new")
    expect_events(page, "new", *numbered(7, 1), all_loaded=True)
    project.replace(first, {"text": "FIRST"})
    expect_events(page, "new", *numbered(7, 2), "FIRST", all_loaded=True)
    project.delete("events", newest)
    expect_events(page, *numbered(7, 2), "FIRST", all_loaded=True)

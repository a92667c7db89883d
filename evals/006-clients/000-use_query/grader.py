"""A page that shows the messages of a channel, live."""

from playwright.sync_api import Page, expect

from convex_evals.pipeline.grading.kit import App, Deployment, Sources, assert_same, same_schema

LOADING = "Loading…"
NOTHING = "No messages yet."


def send(project: Deployment, channel: str, *lines: str) -> list[str]:
    """Each line is like `ada: Hello`."""
    messages = [dict(zip(("author", "text"), line.split(": ", 1), strict=True)) for line in lines]
    return project.insert_many("messages", [{"channel": channel, **message} for message in messages])


def expect_messages(page: Page, *lines: str) -> None:
    expect(page.get_by_role("listitem")).to_have_text(list(lines))
    expect(page.get_by_role("list")).to_have_count(1)
    expect(page.get_by_text(NOTHING)).to_have_count(0)
    expect(page.get_by_role("status")).to_have_count(0)


def expect_loading(page: Page) -> None:
    expect(page.get_by_role("status")).to_have_text(LOADING)
    expect(page.get_by_role("list")).to_have_count(0)
    expect(page.get_by_text(NOTHING)).to_have_count(0)


def test_the_schema_is_the_one_of_the_task(project: Deployment, answer: Deployment) -> None:
    same_schema(project, answer)


def test_the_query_returns_the_messages_of_one_channel_oldest_first(project: Deployment) -> None:
    send(project, "general", "zoe: one", "ada: two")
    send(project, "random", *(f"alan: {i}" for i in range(20)))
    send(project, "general", "ben: three")
    expected = [message for message in project.documents("messages") if message["channel"] == "general"]
    with project.trace() as work:
        messages = project.query("messages:list", channel="general")
    assert_same(messages, expected, ignore=())
    assert work.documents_read <= 3, f"the channel has 3 messages, and the query read {work.documents_read}"
    assert project.query("messages:list", channel="other") == []


def test_the_query_rejects_anything_but_a_channel(project: Deployment) -> None:
    for arguments in ({}, {"channel": 5}, {"channel": None}):
        with project.fails("ArgumentValidationError"):
            project.query("messages:list", arguments)


def test_the_page_subscribes_with_a_hook_of_the_convex_client(files: Sources) -> None:
    hooks = ("useQuery", "useQueries", "useQuery_experimental")
    calls = [call for hook in hooks for call in files.imported_calls("convex/react", hook)]
    assert calls, "no file in src/ calls useQuery of convex/react"


def test_it_says_that_it_is_loading_until_the_messages_are_there(app: App, project: Deployment) -> None:
    send(project, "general", "ada: Hello there")
    with app.opening() as page:
        expect(page.get_by_role("heading", level=1)).to_have_text("Messages")
        expect_loading(page)
    expect_messages(page, "ada: Hello there")


def test_it_shows_the_messages_in_their_order_and_says_when_there_are_none(app: App, project: Deployment) -> None:
    send(project, "general", "zoe: b", "ada: a", "zoe: c")
    send(project, "random", "alan: not here")
    expect_messages(app.open(), "zoe: b", "ada: a", "zoe: c")
    project.clear("messages")
    page = app.open()
    expect(page.get_by_text(NOTHING, exact=True)).to_be_visible()
    expect(page.get_by_role("list")).to_have_count(0)
    expect(page.get_by_role("status")).to_have_count(0)


def test_it_follows_the_table_without_being_reloaded(app: App, project: Deployment) -> None:
    page = app.open()
    expect(page.get_by_text(NOTHING, exact=True)).to_be_visible()
    [first] = send(project, "general", "ada: one")
    expect_messages(page, "ada: one")
    send(project, "general", "ben: two")
    send(project, "random", "alan: elsewhere")
    expect_messages(page, "ada: one", "ben: two")
    project.replace(first, {"channel": "general", "author": "ada", "text": "ONE"})
    expect_messages(page, "ada: ONE", "ben: two")
    project.delete("messages", first)
    expect_messages(page, "ben: two")


def test_another_channel_is_loaded_when_it_is_chosen(app: App, project: Deployment) -> None:
    send(project, "general", "ada: one")
    send(project, "random", "alan: two")
    page = app.open()
    channel = page.get_by_label("Channel")
    expect(channel).to_have_value("general")
    expect(channel.get_by_role("option")).to_have_text(["general", "random"])
    expect_messages(page, "ada: one")
    with app.holding(page):
        channel.select_option("random")
        expect_loading(page)
    expect_messages(page, "alan: two")
    send(project, "random", "alan: three")
    expect_messages(page, "alan: two", "alan: three")

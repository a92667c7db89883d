"""A page on which what is shown stays until what replaces it is complete, although everything is live."""

from itertools import groupby
from typing import Any

from playwright.sync_api import Locator, Page, expect

from convex_evals.pipeline.grading.kit import App, Deployment, Sources

STATE = """({
  heading: document.querySelector('h2')?.textContent ?? null,
  titles: [...document.querySelectorAll('ul > li')].map((item) => item.textContent.trim()),
  current: [...document.querySelectorAll('[aria-current]')].map((each) => each.textContent.trim()),
  article: document.querySelector('article')?.querySelector('h3, p')?.textContent ?? null,
  body: [...document.querySelectorAll('article p, article li')].map((each) => each.textContent),
  isLoading: document.body.textContent.includes('Loading…'),
})"""

IDS = dict[str, str]


def write(project: Deployment, topic: str, titles: str) -> IDS:
    """Articles, oldest first, each with a note."""
    ids = {}
    for title in titles.split():
        ids[title] = project.insert("articles", topic=topic, title=title, body=f"About {title}")
        project.insert("notes", articleId=ids[title], text=f"note on {title}")
    return ids


def library(project: Deployment) -> IDS:
    return (
        write(project, "art", "a1 a2 a3 a4 a5 a6 a7 a8")
        | write(project, "war", "w1 w2")
        | write(project, "law", "l1 l2 l3 l4")
    )


def replace(project: Deployment, id: str, **fields: str) -> None:
    document = project.get(id)
    assert document is not None
    project.replace(id, {key: document[key] for key in ("topic", "title", "body")} | fields)


def select(page: Page, topic: str) -> None:
    page.get_by_label("Topic").select_option(topic)
    expect(page.get_by_label("Topic").locator("option:checked")).to_have_text(topic)


def title(page: Page, name: str) -> Locator:
    return page.locator("ul").get_by_role("button", name=name, exact=True)


def more(page: Page) -> Locator:
    return page.get_by_role("button", name="Load more", exact=True)


def expect_list(page: Page, heading: str, titles: str, *, is_busy: bool = False, is_complete: bool = False) -> None:
    expect(page.get_by_role("heading", level=2)).to_have_text(heading)
    expect(page.locator("ul > li")).to_have_text(titles.split())
    expect(page.locator("ul")).to_have_attribute("aria-busy", "true" if is_busy else "false")
    expect(more(page)).to_have_count(0 if is_complete else 1)


def expect_article(page: Page, name: str, *notes: str, body: str | None = None) -> None:
    expect(page.locator("article h3")).to_have_text(name)
    expect(page.locator("article p")).to_have_text(body or f"About {name}")
    expect(page.locator("article ol")).to_have_count(1)
    expect(page.locator("article ol > li")).to_have_text(list(notes))


def expect_current(page: Page, *names: str) -> None:
    expect(page.locator("[aria-current]")).to_have_text(list(names))
    for each in page.locator("[aria-current]").all():
        expect(each).to_have_attribute("aria-current", "true")


def changes(states: list[dict[str, Any]], *names: str) -> list[tuple[Any, ...]]:
    """What these parts of the page were, one after the other."""
    seen = [
        tuple(" ".join(part) if isinstance(part := state[name], list) else part for name in names) for state in states
    ]
    return [each for each, _ in groupby(seen)]


def test_the_page_uses_the_functions_of_the_given_backend(files: Sources) -> None:
    assert any("convex/react" in files.text(path) for path in files.paths("src/**/*"))


def test_it_loads_once_and_shows_the_newest_articles(app: App, project: Deployment) -> None:
    library(project)
    with app.opening() as page:
        expect(page.get_by_text("Loading…", exact=True)).to_have_count(1)
        for place in (page.locator("ul"), page.get_by_role("heading"), more(page), page.locator("article")):
            expect(place).to_have_count(0)
        options = page.get_by_label("Topic").locator("option").all_text_contents()
        assert [each.strip() for each in options] == ["All", "art", "law", "war"]
    expect_list(page, "All articles", "l4 l3 l2")
    expect(page.get_by_text("Loading…")).to_have_count(0)
    expect(page.locator("article")).to_have_count(0)
    expect_current(page)


def test_a_topic_selected_before_anything_has_arrived_is_the_first_to_appear(app: App, project: Deployment) -> None:
    library(project)
    with app.opening() as page:
        expect(page.get_by_text("Loading…", exact=True)).to_have_count(1)
        select(page, "war")
        expect(page.get_by_text("Loading…", exact=True)).to_have_count(1)
    expect_list(page, "Articles about war", "w2 w1", is_complete=True)


def test_another_topic_appears_when_it_is_there_and_not_before(app: App, project: Deployment) -> None:
    library(project)
    page = app.open()
    expect_list(page, "All articles", "l4 l3 l2")
    with app.frames(page, STATE) as states:
        with app.holding(page):
            select(page, "art")
            expect_list(page, "All articles", "l4 l3 l2", is_busy=True)
            select(page, "war")
            expect_list(page, "All articles", "l4 l3 l2", is_busy=True)
        expect_list(page, "Articles about war", "w2 w1", is_complete=True)
        select(page, "law")
        expect_list(page, "Articles about law", "l4 l3 l2")
    seen = changes(states, "heading", "titles", "isLoading")
    assert seen == [
        ("All articles", "l4 l3 l2", False),
        ("Articles about war", "w2 w1", False),
        ("Articles about law", "l4 l3 l2", False),
    ]


def test_going_back_to_the_topic_that_is_shown_changes_nothing(app: App, project: Deployment) -> None:
    library(project)
    page = app.open()
    select(page, "art")
    expect_list(page, "Articles about art", "a8 a7 a6")
    more(page).click()
    loaded = "a8 a7 a6 a5 a4 a3"
    expect_list(page, "Articles about art", loaded)
    with app.frames(page, STATE) as states:
        with app.holding(page):
            select(page, "law")
            expect_list(page, "Articles about art", loaded, is_busy=True)
            select(page, "art")
            expect_list(page, "Articles about art", loaded)
        write(project, "art", "a9")
        expect_list(page, "Articles about art", f"a9 {loaded}")
    assert changes(states, "titles") == [(loaded,), (f"a9 {loaded}",)]
    more(page).click()
    expect_list(page, "Articles about art", f"a9 {loaded} a2 a1", is_complete=True)


def test_articles_stay_while_more_are_loaded(app: App, project: Deployment) -> None:
    ids = library(project)
    page = app.open()
    select(page, "art")
    expect_list(page, "Articles about art", "a8 a7 a6")
    with app.frames(page, STATE) as states:
        with app.holding(page):
            more(page).click()
            expect(more(page)).to_be_disabled()
            expect_list(page, "Articles about art", "a8 a7 a6")
        expect_list(page, "Articles about art", "a8 a7 a6 a5 a4 a3")
        expect(more(page)).to_be_enabled()
        project.delete("articles", ids["a7"])
        expect_list(page, "Articles about art", "a8 a6 a5 a4 a3")
        replace(project, ids["a5"], title="A5")
        expect_list(page, "Articles about art", "a8 a6 A5 a4 a3")
    assert all(titles.startswith("a8") for (titles,) in changes(states, "titles"))


def test_an_article_appears_complete_and_not_before(app: App, project: Deployment) -> None:
    ids = library(project)
    project.insert("notes", articleId=ids["l3"], text="another")
    page = app.open()
    expect_list(page, "All articles", "l4 l3 l2")
    with app.holding(page):
        title(page, "l4").click()
        expect(page.locator("article")).to_have_count(0)
        expect_current(page)
    expect_article(page, "l4", "note on l4")
    expect_current(page, "l4")
    with app.frames(page, STATE) as states:
        with app.holding(page):
            title(page, "l2").click()
            expect_article(page, "l4", "note on l4")
            expect_current(page, "l4")
            title(page, "l3").click()
            expect_article(page, "l4", "note on l4")
        expect_article(page, "l3", "note on l3", "another")
        expect_current(page, "l3")
        title(page, "l3").click()
        title(page, "l2").click()
        expect_article(page, "l2", "note on l2")
    assert changes(states, "article", "body", "current") == [
        ("l4", "About l4 note on l4", "l4"),
        ("l3", "About l3 note on l3 another", "l3"),
        ("l2", "About l2 note on l2", "l2"),
    ]


def test_an_article_without_notes_has_an_empty_list(app: App, project: Deployment) -> None:
    project.insert("articles", topic="law", title="bare", body="No notes")
    page = app.open()
    title(page, "bare").click()
    expect_article(page, "bare", body="No notes")


def test_the_article_stays_when_the_topic_changes(app: App, project: Deployment) -> None:
    library(project)
    page = app.open()
    title(page, "l3").click()
    expect_article(page, "l3", "note on l3")
    with app.frames(page, STATE) as states:
        select(page, "war")
        expect_list(page, "Articles about war", "w2 w1", is_complete=True)
        expect_current(page)
        title(page, "w1").click()
        expect_current(page, "w1")
        select(page, "law")
        expect_list(page, "Articles about law", "l4 l3 l2")
    assert changes(states, "article", "body") == [("l3", "About l3 note on l3"), ("w1", "About w1 note on w1")]


def test_the_article_is_live_and_can_be_removed(app: App, project: Deployment) -> None:
    ids = library(project)
    page = app.open()
    title(page, "l4").click()
    expect_article(page, "l4", "note on l4")
    project.insert("notes", articleId=ids["l4"], text="new")
    replace(project, ids["l4"], body="Changed")
    expect_article(page, "l4", "note on l4", "new", body="Changed")
    project.delete("articles", ids["l4"])
    expect(page.locator("article")).to_have_text("This article has been removed.")
    expect(page.locator("article p")).to_have_count(1)
    expect_list(page, "All articles", "l3 l2")
    title(page, "l2").click()
    expect_article(page, "l2", "note on l2")
    with app.holding(page):
        project.delete("articles", ids["l3"])
        title(page, "l3").click()
        expect_article(page, "l2", "note on l2")
    expect(page.locator("article")).to_have_text("This article has been removed.")


def test_a_broken_article_does_not_take_the_former_one_away(app: App, project: Deployment) -> None:
    ids = library(project)
    replace(project, ids["l3"], body="")
    page = app.open()
    title(page, "l3").click()
    expect(page.get_by_role("alert")).to_have_text("l3 cannot be read")
    expect(page.locator("article")).to_have_count(0)
    title(page, "l4").click()
    expect_article(page, "l4", "note on l4")
    expect(page.get_by_role("alert")).to_have_count(0)
    with app.frames(page, STATE) as states:
        title(page, "l3").click()
        expect(page.get_by_role("alert")).to_have_text("l3 cannot be read")
        expect_article(page, "l4", "note on l4")
        expect_current(page, "l4")
        project.insert("notes", articleId=ids["l4"], text="new")
        expect_article(page, "l4", "note on l4", "new")
        select(page, "war")
        expect_list(page, "Articles about war", "w2 w1", is_complete=True)
        select(page, "All")
        expect_list(page, "All articles", "l4 l3 l2")
        title(page, "l4").click()
        expect(page.get_by_role("alert")).to_have_count(0)
        expect_article(page, "l4", "note on l4", "new")
    assert changes(states, "article", "body") == [("l4", "About l4 note on l4"), ("l4", "About l4 note on l4 new")]


def test_a_broken_article_is_shown_as_soon_as_it_is_repaired(app: App, project: Deployment) -> None:
    ids = library(project)
    page = app.open()
    title(page, "l4").click()
    expect_article(page, "l4", "note on l4")
    replace(project, ids["l4"], body="")
    expect(page.get_by_role("alert")).to_have_text("l4 cannot be read")
    expect(page.locator("article")).to_have_count(0)
    replace(project, ids["l4"], body="Repaired")
    expect_article(page, "l4", "note on l4", body="Repaired")
    expect(page.get_by_role("alert")).to_have_count(0)
    replace(project, ids["l2"], body="")
    title(page, "l2").click()
    expect(page.get_by_role("alert")).to_have_text("l2 cannot be read")
    expect_article(page, "l4", "note on l4", body="Repaired")
    replace(project, ids["l2"], body="About l2")
    expect_article(page, "l2", "note on l2")
    expect(page.get_by_role("alert")).to_have_count(0)
    expect_current(page, "l2")

"""A page that shows notes, live."""

from playwright.sync_api import expect

from convex_evals.pipeline.grading.kit import App, Deployment, Sources


def test_the_page_subscribes(files: Sources) -> None:
    assert files.imported_calls("convex/react", "useQuery")


def test_the_page_shows_the_notes_and_follows_them(app: App, project: Deployment) -> None:
    project.insert("notes", {"text": "one"})
    page = app.open()
    expect(page.get_by_role("heading", level=1)).to_have_text("Notes")
    expect(page.get_by_role("listitem")).to_have_text(["one"])
    project.insert("notes", {"text": "two"})
    expect(page.get_by_role("listitem")).to_have_text(["one", "two"])

"""A form that calls a mutation: once per submit, and with what comes of it on the page."""

from playwright.sync_api import Locator, Page, expect

from convex_evals.pipeline.grading.kit import App, Deployment, Sources, assert_same, same_schema, wait_until

FULL = "The list is full."
EMPTY = "Enter a name."


def names(project: Deployment) -> list[str]:
    return [item["name"] for item in project.documents("items")]


def field(page: Page) -> Locator:
    return page.get_by_label("Item")


def button(page: Page) -> Locator:
    return page.get_by_role("button", name="Add")


def expect_ready(page: Page, text: str, alert: str | None) -> None:
    expect(button(page)).to_be_enabled()
    expect(field(page)).to_have_value(text)
    if alert is None:
        expect(page.get_by_role("alert")).to_have_count(0)
    else:
        expect(page.get_by_role("alert")).to_have_text(alert)


def test_the_schema_is_the_one_of_the_task(project: Deployment, answer: Deployment) -> None:
    same_schema(project, answer)


def test_the_mutation_adds_trimmed_names_and_returns_their_ids(project: Deployment) -> None:
    ids = [project.mutation("items:add", name=name) for name in ("  Milk\t", "Brown bread")]
    expected = project.documents("items")
    assert_same([project.get(id) for id in ids], expected, ignore=())
    assert_same(names(project), ["Milk", "Brown bread"])
    assert_same(project.query("items:list"), expected, ignore=())


def test_the_mutation_refuses_empty_names_and_a_sixth_item(project: Deployment) -> None:
    for name in ("", " \n\t"):
        with project.fails(data=EMPTY):
            project.mutation("items:add", name=name)
    assert names(project) == []
    for number in range(5):
        project.mutation("items:add", name=str(number))
    with project.fails(data=FULL):
        project.mutation("items:add", name="5")
    assert names(project) == ["0", "1", "2", "3", "4"]
    for arguments in ({}, {"name": 5}, {"name": None}):
        with project.fails("ArgumentValidationError"):
            project.mutation("items:add", arguments)


def test_the_page_calls_the_mutation_with_the_hook_of_the_convex_client(files: Sources) -> None:
    assert files.imported_calls("convex/react", "useMutation"), "no file in src/ calls useMutation of convex/react"


def test_submitting_adds_what_was_typed_and_clears_the_input(app: App, project: Deployment) -> None:
    page = app.open()
    expect(page.get_by_role("heading", level=1)).to_have_text("Shopping list")
    expect_ready(page, "", None)
    field(page).fill("  Milk ")
    button(page).click()
    expect(page.get_by_role("listitem")).to_have_text(["Milk"])
    expect_ready(page, "", None)
    field(page).fill("Bread")
    field(page).press("Enter")
    expect(page.get_by_role("listitem")).to_have_text(["Milk", "Bread"])
    expect_ready(page, "", None)
    assert names(project) == ["Milk", "Bread"]


def test_the_list_follows_what_others_do(app: App, project: Deployment) -> None:
    page = app.open()
    first = project.mutation("items:add", name="Milk")
    project.mutation("items:add", name="Apples")
    expect(page.get_by_role("listitem")).to_have_text(["Milk", "Apples"])
    project.delete("items", first)
    expect(page.get_by_role("listitem")).to_have_text(["Apples"])


def test_nothing_is_added_twice_while_the_mutation_is_under_way(app: App, project: Deployment) -> None:
    page = app.open()
    field(page).fill("Milk")
    with app.holding(page):
        button(page).dblclick()
        expect(button(page)).to_be_disabled()
        field(page).press("Enter")
        field(page).press("Enter")
        wait_until(lambda: names(project), "the first item")
    expect_ready(page, "", None)
    field(page).fill("Bread")
    button(page).click()
    # The mutations of one page run in the order in which it called them, so a second Milk would be before the Bread.
    expect(page.get_by_role("listitem").last).to_have_text("Bread")
    assert names(project) == ["Milk", "Bread"]


def test_what_the_mutation_refuses_is_told_and_can_be_corrected(app: App, project: Deployment) -> None:
    ids = project.insert_many("items", [{"name": str(number)} for number in range(5)])
    page = app.open()
    field(page).fill(" Milk")
    button(page).click()
    expect_ready(page, " Milk", FULL)
    field(page).fill("  ")
    button(page).click()
    expect_ready(page, "  ", EMPTY)
    project.delete("items", ids[0])
    field(page).fill("Bread")
    field(page).press("Enter")
    expect(page.get_by_role("listitem").last).to_have_text("Bread")
    expect_ready(page, "", None)

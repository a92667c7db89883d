"""One user's expenses, summed up by category."""

from typing import Any

from convex_evals.pipeline.grading.kit import Deployment, assert_same, same_schema


def insert_expenses(project: Deployment, user: str, *expenses: tuple[str, float]) -> None:
    rows = [{"user": user, "category": category, "amount": amount} for category, amount in expenses]
    project.insert_many("expenses", rows)


def group(category: str, count: int, total: float) -> dict[str, Any]:
    return {"category": category, "count": count, "total": total}


def test_the_schema_is_the_one_of_the_task(project: Deployment, answer: Deployment) -> None:
    same_schema(project, answer)


def test_groups_the_expenses_of_the_user_alone_largest_total_first(project: Deployment) -> None:
    insert_expenses(project, "ada", ("food", 10), ("rent", 500), ("food", 25), ("books", 100), ("food", 2.5))
    insert_expenses(project, "alan", ("food", 1000), ("travel", 3))
    expected = [group("rent", 1, 500), group("books", 1, 100), group("food", 3, 37.5)]
    assert_same(project.query("index:getTotalsByCategory", user="ada"), expected)
    assert_same(
        project.query("index:getTotalsByCategory", user="alan"), [group("food", 1, 1000), group("travel", 1, 3)]
    )


def test_equal_totals_are_in_alphabetical_order(project: Deployment) -> None:
    insert_expenses(project, "ada", ("pears", 6), ("dates", 2), ("apples", 6), ("figs", 3), ("figs", 3), ("dates", 5))
    expected = [group("dates", 2, 7), group("apples", 1, 6), group("figs", 2, 6), group("pears", 1, 6)]
    assert_same(project.query("index:getTotalsByCategory", user="ada"), expected)


def test_totals_are_compared_as_numbers(project: Deployment) -> None:
    insert_expenses(project, "ada", ("a", 9), ("b", 100), ("refunds", -20), ("refunds", -5), ("c", 20))
    expected = [group("b", 1, 100), group("c", 1, 20), group("a", 1, 9), group("refunds", 2, -25)]
    assert_same(project.query("index:getTotalsByCategory", user="ada"), expected)


def test_a_category_can_be_any_text(project: Deployment) -> None:
    categories = ["Süßes", "", "food", "Food", "eating out", "日本", "$", "constructor", "food "]
    expenses = [(category, 100 - position) for position, category in enumerate(categories)]
    insert_expenses(project, "ada", *expenses, *expenses)
    expected = [group(category, 2, 2 * amount) for category, amount in expenses]
    assert_same(project.query("index:getTotalsByCategory", user="ada"), expected)


def test_returns_an_empty_array_for_a_user_without_expenses(project: Deployment) -> None:
    insert_expenses(project, "alan", ("food", 1))
    assert_same(project.query("index:getTotalsByCategory", user="ada"), [])


def test_reads_each_expense_of_the_user_once(project: Deployment) -> None:
    insert_expenses(project, "ada", *[(f"category {number % 40}", 1) for number in range(2000)])
    insert_expenses(project, "alan", *[("food", 1)] * 500)
    with project.trace() as work:
        found = project.query("index:getTotalsByCategory", user="ada")
    assert_same(sorted(entry["count"] for entry in found), [50] * 40)
    assert work.documents_read <= 2000, f"of 2500 expenses 2000 are hers, and {work.documents_read} were read"


def test_rejects_arguments_that_are_not_one_user(project: Deployment) -> None:
    for arguments in ({}, {"user": None}, {"user": "ada", "category": "food"}):
        with project.fails("ArgumentValidationError"):
            project.query("index:getTotalsByCategory", arguments)

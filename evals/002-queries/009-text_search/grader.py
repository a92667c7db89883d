"""Full text search among the articles of one author."""

from convex_evals.pipeline.grading.kit import Deployment, assert_same, same_schema

BODIES = {
    "both": "The red bicycle stands in the garden",
    "bicycle": "A bicycle has two wheels",
    "capital": "BICYCLES and trains",
    "train": "A train has many wheels",
    "inside": "An unbicycled road",
}


def insert_articles(project: Deployment, author: str, bodies: dict[str, str]) -> None:
    articles = [{"title": title, "body": body, "author": author} for title, body in bodies.items()]
    project.insert_many("articles", articles)


def search(project: Deployment, text: str, author: str = "ada") -> list[str]:
    return [article["title"] for article in project.query("index:searchArticles", text=text, author=author)]


def test_the_schema_is_the_one_of_the_task(project: Deployment, answer: Deployment) -> None:
    same_schema(project, answer)


def test_finds_the_articles_that_contain_one_of_the_words(project: Deployment) -> None:
    insert_articles(project, "ada", BODIES)
    for text, expected in {
        "Wheels": ["bicycle", "train"],
        "wheels garden": ["bicycle", "train", "both"],
        "bicycle": ["both", "bicycle", "capital"],
        "bicy": ["both", "bicycle", "capital"],
        "bicy garden": ["both"],
        "road, please!": ["inside"],
        "both": [],
        "airplane": [],
        "": [],
    }.items():
        assert_same(search(project, text), expected, ordered=False, what=f"what {text!r} finds")


def test_the_most_relevant_article_comes_first(project: Deployment) -> None:
    bodies = {"one": "The bicycle was sold", "all": "The red bicycle was sold yesterday", "two": "red bicycle"}
    insert_articles(project, "ada", {**bodies, **{f"other {i}": "nothing to see" for i in range(5)}})
    assert_same(search(project, "red bicycle yesterday"), ["all", "two", "one"])


def test_returns_complete_documents(project: Deployment) -> None:
    insert_articles(project, "ada", BODIES)
    [expected] = [article for article in project.documents("articles") if article["title"] == "both"]
    assert_same(project.query("index:searchArticles", text="garden", author="ada"), [expected], ignore=())


def test_finds_only_articles_of_the_author(project: Deployment) -> None:
    insert_articles(project, "ada", {"hers": "a garden"})
    insert_articles(project, "alan", {"his": "a garden", "hers?": "ada has a garden"})
    assert_same(search(project, "garden"), ["hers"])
    assert_same(search(project, "garden", "Ada"), [])


def test_returns_ten_articles_however_many_others_match_better(project: Deployment) -> None:
    insert_articles(project, "alan", {f"short {i}": "garden" for i in range(100)})
    insert_articles(project, "ada", {f"long {i}": f"a garden with {i} trees and a wall around it" for i in range(12)})
    with project.trace() as work:
        found = search(project, "garden")
    assert len(found) == 10, f"12 articles match, so 10 must be returned, not {len(found)}"
    assert all(title.startswith("long") for title in found), f"not only articles of the author: {found}"
    assert work.documents_read <= 10, f"it returned 10 articles, and read {work.documents_read}"


def test_rejects_arguments_that_are_not_a_text_and_an_author(project: Deployment) -> None:
    for arguments in ({}, {"text": "garden"}, {"author": "ada"}, {"text": 5, "author": "ada"}):
        with project.fails("ArgumentValidationError"):
            project.query("index:searchArticles", arguments)

"""Articles with both of two tags: the intersection of two small ranges, however large the tables are."""

from convex_evals.pipeline.grading.kit import Deployment, assert_same

TAGS = {
    "tea": ["hot", "green"],
    "soup": ["hot"],
    "peas": ["green", "round"],
    "mint": ["green", "hot", "fresh"],
    "moon": ["round"],
    "wasabi": ["hot", "green"],
}


def insert_articles(project: Deployment, tags: dict[str, list[str]]) -> dict[str, str]:
    """Title -> id. Articles that come later are tagged earlier, so that only their own age tells their order."""
    articles = [{"title": title, "body": f"About {title}"} for title in tags]
    ids = dict(zip(tags, project.insert_many("articles", articles), strict=True))
    taggings = [{"articleId": ids[title], "tag": tag} for title in reversed(tags) for tag in tags[title]]
    project.insert_many("taggings", taggings)
    return ids


def titles(project: Deployment, first: str, second: str) -> list[str]:
    found = project.query("index:getArticlesWithBoth", first=first, second=second)
    return [article["title"] for article in found]


def test_the_fields_are_those_of_the_task(project: Deployment, answer: Deployment) -> None:
    for table in ("articles", "taggings"):
        assert_same(project.schema().table(table).fields, answer.schema().table(table).fields)


def test_returns_the_articles_with_both_tags_the_oldest_first(project: Deployment) -> None:
    insert_articles(project, TAGS)
    assert_same(titles(project, "hot", "green"), ["tea", "mint", "wasabi"])
    assert_same(titles(project, "green", "hot"), ["tea", "mint", "wasabi"])
    assert_same(titles(project, "round", "green"), ["peas"])


def test_no_article_with_both_tags_is_an_empty_array(project: Deployment) -> None:
    insert_articles(project, TAGS)
    for first, second in (("round", "hot"), ("hot", "cold"), ("cold", "hot"), ("cold", "dry"), ("Hot", "green")):
        assert titles(project, first, second) == []


def test_the_same_tag_twice_is_all_articles_that_carry_it(project: Deployment) -> None:
    insert_articles(project, TAGS)
    assert_same(titles(project, "green", "green"), ["tea", "peas", "mint", "wasabi"])


def test_returns_complete_documents(project: Deployment) -> None:
    ids = insert_articles(project, TAGS)
    found = project.query("index:getArticlesWithBoth", first="fresh", second="hot")
    assert found == [project.get(ids["mint"])]


def test_an_article_that_is_tagged_twice_is_returned_once(project: Deployment) -> None:
    ids = insert_articles(project, {"tea": ["hot", "hot", "green", "green"], "soup": ["hot", "hot"], "peas": ["green"]})
    project.insert("taggings", articleId=ids["tea"], tag="hot")
    assert titles(project, "hot", "green") == ["tea"]
    assert titles(project, "green", "hot") == ["tea"]
    assert_same(titles(project, "hot", "hot"), ["tea", "soup"])


def test_articles_that_are_gone_are_left_out(project: Deployment) -> None:
    ids = insert_articles(project, TAGS)
    project.delete("articles", ids["mint"])
    assert_same(titles(project, "hot", "green"), ["tea", "wasabi"])


def test_reads_only_taggings_of_the_two_tags_and_articles_with_both(project: Deployment) -> None:
    other = [f"tag {i}" for i in range(4)]
    tags = {f"large {i}": ["large", *other] for i in range(120)}
    tags |= {f"both {i}": ["large", "small", *other] for i in range(5)}
    tags |= {f"small {i}": ["small", *other] for i in range(10)}
    tags |= {f"none {i}": other for i in range(165)}
    insert_articles(project, tags)
    most = 125 + 15 + 5  # the taggings of both tags, and the articles
    for first, second in (("large", "small"), ("small", "large")):
        with project.trace() as work:
            found = titles(project, first, second)
        assert found == [f"both {i}" for i in range(5)]
        assert work.documents_read <= most, f"{most} documents are enough, and it read {work.documents_read}"


def test_rejects_arguments_that_are_not_two_tags(project: Deployment) -> None:
    no_text = ({"first": 5, "second": "hot"}, {"first": "hot", "second": 5})
    for arguments in ({}, {"first": "hot"}, {"second": "hot"}, *no_text):
        with project.fails("ArgumentValidationError"):
            project.query("index:getArticlesWithBoth", arguments)

"""Posts that have all the given tags, newest first."""

from convex_evals.pipeline.grading.kit import Deployment, assert_same, same_schema

POSTS = [
    {"title": "a", "tags": ["java", "web"], "likes": 1},
    {"title": "b", "tags": ["javascript", "web"], "likes": 9},
    {"title": "c", "tags": [], "likes": 0},
    {"title": "d", "tags": ["web", "news", "java"], "likes": 5},
    {"title": "e", "tags": ["Java", "news"], "likes": 3},
    {"title": "f", "tags": ["web java"], "likes": 2},
]


def titles(project: Deployment, *tags: str) -> list[str]:
    return [post["title"] for post in project.query("index:getPostsWithTags", tags=tags)]


def test_the_schema_is_the_one_of_the_task(project: Deployment, answer: Deployment) -> None:
    same_schema(project, answer)


def test_returns_the_posts_that_have_every_tag_newest_first(project: Deployment) -> None:
    project.insert_many("posts", POSTS)
    assert_same(titles(project, "web"), ["d", "b", "a"])
    assert_same(titles(project, "java", "web"), ["d", "a"])
    assert_same(titles(project, "web", "java", "news"), ["d"])
    assert_same(titles(project, "web", "web"), ["d", "b", "a"])
    assert_same(titles(project, "java", "javascript"), [])


def test_tags_are_compared_exactly(project: Deployment) -> None:
    project.insert_many("posts", POSTS)
    assert_same(titles(project, "java"), ["d", "a"])
    assert_same(titles(project, "Java"), ["e"])
    assert_same(titles(project, "web java"), ["f"])
    assert_same(titles(project, "jav"), [])
    assert_same(titles(project, ""), [])


def test_without_tags_all_posts_are_returned_as_complete_documents(project: Deployment) -> None:
    assert_same(titles(project), [])
    project.insert_many("posts", POSTS)
    assert_same(project.query("index:getPostsWithTags", tags=[]), project.documents("posts")[::-1], ignore=())


def test_misses_no_post_among_several_hundred(project: Deployment) -> None:
    project.insert_many("posts", [{"title": f"{i}", "tags": ["all", f"tag {i}"], "likes": i} for i in range(400)])
    assert_same(titles(project, "tag 0"), ["0"])
    assert_same(titles(project, "tag 399"), ["399"])
    found = len(titles(project, "all"))
    assert found == 400, f"400 posts have the tag, and {found} were returned"


def test_rejects_arguments_that_are_not_a_list_of_tags(project: Deployment) -> None:
    for arguments in ({}, {"tags": "java"}, {"tags": [5]}, {"tags": ["java"], "limit": 1}):
        with project.fails("ArgumentValidationError"):
            project.query("index:getPostsWithTags", arguments)

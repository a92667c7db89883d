"""A user is deleted with posts, comments and likes, over three levels and along several ways to the same document."""

from collections.abc import Mapping
from typing import Any

from convex_evals.pipeline.grading.kit import Deployment, assert_same, same_function_spec

TABLES = ("users", "posts", "comments", "likes")
# Name -> author; name -> (post, author); name -> (comment, user). Everything of Ada's begins with "x".
POSTS = {"x1": "ada", "x2": "ada", "alan's": "alan", "x3": "ada", "grace's": "grace"}
COMMENTS = {
    "x by ada on x1": ("x1", "ada"),
    "x by alan on x1": ("x1", "alan"),
    "x by grace on x2": ("x2", "grace"),
    "x by ada on alan's": ("alan's", "ada"),
    "by alan on alan's": ("alan's", "alan"),
    "by alan on grace's": ("grace's", "alan"),
    "by grace on alan's": ("alan's", "grace"),
}
DELETED_LIKES = [
    ("x by ada on x1", "ada"),
    ("x by ada on x1", "alan"),
    ("x by alan on x1", "alan"),
    ("x by grace on x2", "ada"),
    ("x by ada on alan's", "grace"),
    ("by alan on alan's", "ada"),
    ("by grace on alan's", "ada"),
]
KEPT_LIKES = [("by alan on alan's", "grace"), ("by alan on grace's", "alan"), ("by grace on alan's", "alan")]


def insert_blog(project: Deployment) -> dict[str, str]:
    """Ids by the names of users."""
    names = ("ada", "alan", "grace")
    users = _ids(names, project.insert_many("users", [{"name": name} for name in names]))
    posts = _ids(
        POSTS,
        project.insert_many("posts", [{"authorId": users[author], "title": title} for title, author in POSTS.items()]),
    )
    documents = [
        {"postId": posts[post], "authorId": users[author], "text": text} for text, (post, author) in COMMENTS.items()
    ]
    comments = _ids(COMMENTS, project.insert_many("comments", documents))
    likes = [{"commentId": comments[text], "userId": users[name]} for text, name in DELETED_LIKES + KEPT_LIKES]
    project.insert_many("likes", likes)
    return users


def _ids(names: tuple[str, ...] | Mapping[str, object], ids: list[str]) -> dict[str, str]:
    return dict(zip(names, ids, strict=True))


def stored(project: Deployment) -> dict[str, list[dict[str, Any]]]:
    return {table: project.documents(table) for table in TABLES}


def test_the_fields_and_the_function_are_those_of_the_task(project: Deployment, answer: Deployment) -> None:
    for table in TABLES:
        assert_same(project.schema().table(table).fields, answer.schema().table(table).fields)
    same_function_spec(project, answer)


def test_everything_that_depends_on_the_user_is_deleted_and_nothing_else(project: Deployment) -> None:
    ada = insert_blog(project)["ada"]
    before = stored(project)
    project.mutation("index:deleteUser", userId=ada)
    kept = {
        "users": [user for user in before["users"] if user["name"] != "ada"],
        "posts": [post for post in before["posts"] if not post["title"].startswith("x")],
        "comments": [comment for comment in before["comments"] if not comment["text"].startswith("x")],
        "likes": before["likes"][len(DELETED_LIKES) :],
    }
    for table in TABLES:
        assert_same(project.documents(table), kept[table], ignore=(), what=f"what is left of {table}")
    assert project.scheduled() == [], "nothing must be left to be done"


def test_each_deleted_document_counts_once(project: Deployment) -> None:
    users = insert_blog(project)
    assert project.mutation("index:deleteUser", userId=users["ada"]) == {"posts": 3, "comments": 4, "likes": 7}
    assert project.mutation("index:deleteUser", userId=users["grace"]) == {"posts": 1, "comments": 2, "likes": 3}
    assert project.mutation("index:deleteUser", userId=users["alan"]) == {"posts": 1, "comments": 1, "likes": 0}
    assert stored(project) == {table: [] for table in TABLES}


def test_a_user_on_whom_nothing_depends_is_deleted(project: Deployment) -> None:
    insert_blog(project)
    before = stored(project)
    guest = project.insert("users", name="guest")
    assert project.mutation("index:deleteUser", userId=guest) == {"posts": 0, "comments": 0, "likes": 0}
    assert_same(stored(project), before, ignore=())


def test_a_user_who_is_gone_is_an_error(project: Deployment) -> None:
    users = insert_blog(project)
    project.mutation("index:deleteUser", userId=users["ada"])
    project.delete("users", users["alan"])
    before = stored(project)
    for gone in (users["ada"], users["alan"]):
        with project.fails():
            project.mutation("index:deleteUser", userId=gone)
    assert_same(stored(project), before, ignore=())


def test_nothing_that_stays_is_read(project: Deployment) -> None:
    ada, other = project.insert_many("users", [{"name": "ada"}, {"name": "other"}])
    for author, count in ((ada, 5), (other, 60)):
        posts = project.insert_many("posts", [{"authorId": author, "title": "post"}] * count)
        comments = project.insert_many(
            "comments", [{"postId": post, "authorId": author, "text": "comment"} for post in posts]
        )
        project.insert_many("likes", [{"commentId": comment, "userId": author} for comment in comments])
    project.insert_many("users", [{"name": "somebody"}] * 60)
    with project.trace() as work:
        received = project.mutation("index:deleteUser", userId=ada)
    assert received == {"posts": 5, "comments": 5, "likes": 5}
    # There are two ways to each comment and like, and looking and deleting may count as two reads.
    most = 2 * (1 + 5 + 2 * 5 + 2 * 5)
    assert work.documents_read <= most, f"16 documents were to be deleted, and {work.documents_read} were read"


def test_other_arguments_are_rejected(project: Deployment) -> None:
    ada = insert_blog(project)["ada"]
    before = stored(project)
    post = before["posts"][0]["_id"]
    for arguments in ({}, {"userId": "ada"}, {"userId": post}, {"userId": None}, {"userId": ada, "force": True}):
        with project.fails("ArgumentValidationError"):
            project.mutation("index:deleteUser", arguments)
    assert_same(stored(project), before, ignore=())

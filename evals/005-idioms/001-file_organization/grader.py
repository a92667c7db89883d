"""Functions in several files and folders, and what they share in files of ordinary TypeScript."""

from typing import Any

import pytest

from convex_evals.pipeline.grading.kit import Deployment, Sources, assert_same, same_function_spec, same_schema

PUBLIC = {"posts:create", "posts:rename", "posts:get", "comments:add", "comments:list"}
NOT_FOUND = {"code": "POST_NOT_FOUND"}
TAKEN = {"code": "SLUG_TAKEN"}
SLUGS = {
    " Hello, World!": "hello-world",
    "C++ -- 20 years (later)": "c-20-years-later",
    "Über uns": "ber-uns",
    "already-fine-7": "already-fine-7",
}
USERS_OF_POSTS = ("convex/posts.ts", "convex/comments.ts", "convex/admin/posts.ts")
NEED_A_POST: dict[str, dict[str, Any]] = {
    "posts:rename": {"title": "New"},
    "comments:add": {"text": "hi"},
    "admin/posts:remove": {},
    "posts:get": {},
    "comments:list": {},
}


def create(project: Deployment, *titles: str) -> list[str]:
    return [project.mutation("posts:create", title=title) for title in titles]


def posts(project: Deployment) -> list[tuple[str, str]]:
    return [(post["title"], post["slug"]) for post in project.documents("posts")]


def test_posts_are_created_with_slugs_made_of_their_titles(project: Deployment) -> None:
    assert create(project, *SLUGS) == list(SLUGS.values())
    assert_same(project.documents("posts"), [{"title": title, "slug": slug} for title, slug in SLUGS.items()])
    assert project.query("posts:get", slug="hello-world") == {"title": " Hello, World!", "slug": "hello-world"}


def test_posts_are_renamed_by_the_same_rule(project: Deployment) -> None:
    create(project, "one", "two")
    for title, slug in SLUGS.items():
        [_, (_, old)] = posts(project)
        assert project.mutation("posts:rename", slug=old, title=title) == slug
        assert posts(project) == [("one", "one"), (title, slug)]
    assert project.mutation("posts:rename", slug="one", title="ONE!") == "one"
    assert posts(project)[0] == ("ONE!", "one")


def test_a_slug_belongs_to_one_post(project: Deployment) -> None:
    create(project, "One", "Two")
    with project.fails(data=TAKEN):
        create(project, "one?")
    with project.fails(data=TAKEN):
        project.mutation("posts:rename", slug="two", title="-one-")
    assert posts(project) == [("One", "one"), ("Two", "two")]


def test_comments_belong_to_their_post_the_oldest_first(project: Deployment) -> None:
    create(project, "One", "Two")
    first = project.mutation("comments:add", slug="one", text="z")
    assert_same(project.get(first), {"postId": project.documents("posts")[0]["_id"], "text": "z"})
    for slug, text in (("two", "b"), ("one", "a"), ("one", "m")):
        project.mutation("comments:add", slug=slug, text=text)
    assert project.query("comments:list", slug="one") == ["z", "a", "m"]
    assert project.query("comments:list", slug="two") == ["b"]


def test_a_post_is_removed_with_its_comments(project: Deployment) -> None:
    create(project, "One", "Two")
    for slug, text in (("one", "a"), ("two", "b"), ("one", "c")):
        project.mutation("comments:add", slug=slug, text=text)
    assert project.admin.mutation("admin/posts:remove", slug="one") == 2
    assert posts(project) == [("Two", "two")]
    assert [comment["text"] for comment in project.documents("comments")] == ["b"]


@pytest.mark.parametrize("function", NEED_A_POST)
def test_a_post_that_is_not_there_is_the_same_error_everywhere(project: Deployment, function: str) -> None:
    create(project, "One")
    kind = project.functions()[function].kind
    call = project.admin.query if kind == "query" else project.admin.mutation
    with project.fails(data=NOT_FOUND):
        call(function, {"slug": "One", **NEED_A_POST[function]})
    assert (posts(project), project.documents("comments")) == ([("One", "one")], [])


def test_other_posts_and_comments_are_not_read(project: Deployment) -> None:
    ids = project.insert_many("posts", [{"title": f"Post {each}", "slug": f"post-{each}"} for each in range(50)])
    project.insert_many("comments", [{"postId": each, "text": "hi"} for each in ids])
    with project.trace() as work:
        project.mutation("posts:create", title="Another")
        project.query("posts:get", slug="post-49")
        project.mutation("posts:rename", slug="post-49", title="New")
        project.mutation("comments:add", slug="new", text="hi")
        project.query("comments:list", slug="new")
        project.admin.mutation("admin/posts:remove", slug="new")
    assert work.documents_read < 30


def test_the_schema_and_the_functions_are_those_of_the_task(project: Deployment, answer: Deployment) -> None:
    same_schema(project, answer)
    same_function_spec(project, answer, sorted(PUBLIC | {"admin/posts:remove"}))
    assert set(project.functions()) == PUBLIC | {"admin/posts:remove"}, "ordinary functions must not be registered"
    with project.fails("Could not find public function"):
        project.mutation("admin/posts:remove", slug="one")


def test_what_is_shared_is_imported_and_called(files: Sources) -> None:
    assert "slugify" in files.module("convex/lib/slugs.ts").exports
    assert "requirePost" in files.module("convex/lib/posts.ts").exports
    assert files.module("convex/posts.ts").calls_of("slugify"), "slugs must be made with slugify"
    assert [path for path in USERS_OF_POSTS if not files.module(path).calls_of("requirePost")] == []


def test_the_rules_are_written_once(files: Sources) -> None:
    modules = [files.module(path) for path in USERS_OF_POSTS]
    assert [module.path for module in modules if module.calls_of("toLowerCase")] == []
    others = [module for module in modules if module.path != "convex/posts.ts"]
    lookups = [module.path for module in others for call in module.calls_of("query") if call.texts == ("posts",)]
    assert lookups == [], "posts are looked up with requirePost"

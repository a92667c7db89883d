"""Short links: one function only looks and can be subscribed to; what counts and schedules is a mutation."""

from typing import Any

from convex_evals.pipeline.grading.kit import Deployment, assert_same, same_function_spec, same_schema, wait_until

FUNCTIONS = ("index:preview", "index:follow", "index:recordVisit")
DOCS = {"code": "docs", "target": "https://docs.example", "clicks": 7}
BLOG = {"code": "blog", "target": "https://blog.example", "clicks": 0}


def visits(project: Deployment) -> list[tuple[str, str]]:
    return [(visit["linkId"], visit["source"]) for visit in project.documents("visits")]


def test_the_schema_and_the_kinds_of_functions_are_right(project: Deployment, answer: Deployment) -> None:
    same_schema(project, answer)
    same_function_spec(project, answer, FUNCTIONS)


def test_a_preview_tells_the_target_and_the_clicks_and_has_no_effects(project: Deployment) -> None:
    project.insert_many("links", [DOCS, BLOG])
    before = project.documents("links")
    assert project.query("index:preview", code="docs") == {"target": "https://docs.example", "clicks": 7}
    assert project.query("index:preview", code="blog") == {"target": "https://blog.example", "clicks": 0}
    assert project.query("index:preview", code="shop") is None
    assert project.documents("links") == before
    assert (project.scheduled(), visits(project)) == ([], [])


def test_following_adds_one_click_to_the_link_and_returns_it(project: Deployment) -> None:
    docs, blog = project.insert_many("links", [DOCS, BLOG])
    for clicks in (8, 9, 10):
        received = project.mutation("index:follow", code="docs", source="mail")
        assert received == {"target": "https://docs.example", "clicks": clicks}
    assert_same(project.get(docs), {**DOCS, "clicks": 10}, what="the link")
    assert_same(project.get(blog), BLOG, what="the other link")


def test_a_subscribed_preview_shows_the_next_click(project: Deployment) -> None:
    project.insert_many("links", [DOCS, BLOG])
    with project.subscribe("index:preview", code="docs") as live:
        live.wait_until(lambda link: link["clicks"] == 7)
        project.mutation("index:follow", code="docs", source="mail")
        live.wait_until(lambda link: link["clicks"] == 8)


def test_each_visit_is_recorded_by_a_function_that_runs_afterwards(project: Deployment) -> None:
    docs, blog = project.insert_many("links", [DOCS, BLOG])
    project.mutation("index:follow", code="docs", source="mail")
    project.mutation("index:follow", code="blog", source="")
    wait_until(lambda: len(visits(project)) == 2, "two visits")
    assert_same(visits(project), [(docs, "mail"), (blog, "")], ordered=False)
    jobs = project.scheduled()
    assert [job.function for job in jobs] == ["index:recordVisit"] * 2
    assert_same(
        [job.args for job in jobs],
        [{"linkId": docs, "source": "mail"}, {"linkId": blog, "source": ""}],
        ordered=False,
    )


def test_following_an_unknown_code_does_nothing(project: Deployment) -> None:
    project.insert_many("links", [DOCS, BLOG])
    before = project.documents("links")
    assert project.mutation("index:follow", code="shop", source="mail") is None
    assert project.documents("links") == before
    assert (project.scheduled(), visits(project)) == ([], [])


def test_only_the_backend_itself_records_visits(project: Deployment) -> None:
    docs, _ = project.insert_many("links", [DOCS, BLOG])
    with project.fails("Could not find public function"):
        project.mutation("index:recordVisit", linkId=docs, source="mail")
    assert visits(project) == []
    assert project.admin.mutation("index:recordVisit", linkId=docs, source="mail") is None
    assert visits(project) == [(docs, "mail")]


def test_no_other_links_are_read(project: Deployment) -> None:
    project.insert_many("links", [{**DOCS, "code": f"code {i}"} for i in range(300)])
    for call, kind, extra in (("preview", project.query, {}), ("follow", project.mutation, {"source": "mail"})):
        with project.trace() as work:
            kind(f"index:{call}", {"code": "code 150", **extra})
        # A patch may count as a second look at the same link.
        assert work.documents_read <= 3, f"of 300 links {call} needs one, and it read {work.documents_read}"


def test_other_arguments_are_rejected(project: Deployment) -> None:
    docs, _ = project.insert_many("links", [DOCS, BLOG])
    wrong: list[tuple[Any, dict[str, Any]]] = [
        (project.query, {"function": "preview"}),
        (project.query, {"function": "preview", "code": 5}),
        (project.mutation, {"function": "follow", "code": "docs"}),
        (project.mutation, {"function": "follow", "code": 5, "source": "mail"}),
        (project.mutation, {"function": "follow", "code": "docs", "source": None}),
        (project.admin.mutation, {"function": "recordVisit", "linkId": "docs", "source": "mail"}),
        (project.admin.mutation, {"function": "recordVisit", "linkId": docs, "source": 5}),
    ]
    for call, arguments in wrong:
        function = arguments.pop("function")
        with project.fails("ArgumentValidationError"):
            call(f"index:{function}", arguments)
    assert_same(project.get(docs), DOCS, what="the link")

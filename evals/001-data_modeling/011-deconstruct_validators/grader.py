"""Arguments made from the validators of a table."""

from collections import Counter
from collections.abc import Iterator
from typing import Any

from convex_evals.pipeline.grading.kit import CallFailed, Deployment, Sources, assert_same, same_function_spec

WRITTEN: dict[str, Any] = {"title": "Ducks", "summary": "On ponds", "language": "de", "tags": ["birds", "water"]}
NEW: dict[str, Any] = {"status": "draft", "metrics": {"views": 0, "likes": 0}}
ARTICLE: dict[str, Any] = {**WRITTEN, "status": "published", "metrics": {"views": 12, "likes": 3}}
BARE: dict[str, Any] = {"title": "", "language": "fr", "tags": []}


def is_accepted(project: Deployment, path: str, arguments: dict[str, Any]) -> bool:
    try:
        project.admin.mutation(path, arguments)
    except CallFailed:
        return False
    return True


def test_the_fields_and_the_functions_have_the_described_types(project: Deployment, answer: Deployment) -> None:
    assert project.schema().table("articles").fields == answer.schema().table("articles").fields
    same_function_spec(
        project, answer, [f"index:{name}" for name in ("create", "update", "setStatus", "importArticles")]
    )


def test_a_new_article_is_a_draft_without_views_and_likes(project: Deployment) -> None:
    for written in (WRITTEN, BARE):
        assert_same(project.get(project.mutation("index:create", written)), {**written, **NEW}, what="the article")


def test_an_update_sets_what_is_given_and_leaves_the_rest(project: Deployment) -> None:
    changes: list[dict[str, Any]] = [{}, {"title": "Geese"}, {"language": "en", "tags": []}, {"summary": ""}, WRITTEN]
    for before in (ARTICLE, {**BARE, **NEW}):
        for change in changes:
            article = project.insert("articles", before)
            assert project.mutation("index:update", articleId=article, changes=change) is None
            assert_same(project.get(article), {**before, **change}, what=f"the article updated with {change}")


def test_the_status_of_an_article_is_set(project: Deployment) -> None:
    article, other = project.insert("articles", ARTICLE), project.insert("articles", ARTICLE)
    for status in ("archived", "draft", "published", "archived"):
        assert project.mutation("index:setStatus", articleId=article, status=status) is None
        assert_same(project.get(article), {**ARTICLE, "status": status}, what="the article")
    assert_same(project.get(other), ARTICLE, what="another article")


def test_articles_are_imported_in_their_order_but_not_by_clients(project: Deployment) -> None:
    articles = [{**ARTICLE, "title": title} for title in ("c", "a", "b")]
    ids = project.admin.mutation("index:importArticles", articles=[*articles, {**BARE, **NEW}])
    stored = project.documents("articles")
    assert_same(stored, [*articles, {**BARE, **NEW}], what="the imported articles")
    assert ids == [article["_id"] for article in stored]
    with project.fails("Could not find public function"):
        project.mutation("index:importArticles", articles=articles)


def test_articles_that_are_gone_cannot_be_changed(project: Deployment) -> None:
    article = project.insert("articles", ARTICLE)
    project.delete("articles", article)
    with project.fails():
        project.mutation("index:update", articleId=article, changes={"title": "Geese"})
    with project.fails():
        project.mutation("index:setStatus", articleId=article, status="draft")


def test_values_of_other_types_are_refused(project: Deployment) -> None:
    article = project.insert("articles", ARTICLE)
    fields: list[dict[str, Any]] = [
        {"title": 1},
        {"summary": None},
        {"language": "es"},
        {"tags": [1]},
        {"status": "draft"},
        {"metrics": {"views": 0, "likes": 0}},
        {"color": "red"},
    ]
    wrong = [("index:create", {**WRITTEN, **field}) for field in fields]
    wrong += [("index:update", {"articleId": article, "changes": field}) for field in fields]
    wrong += [
        ("index:create", {"title": "Ducks", "language": "de"}),
        ("index:setStatus", {"articleId": article, "status": "deleted"}),
        ("index:importArticles", {"articles": [ARTICLE, {**ARTICLE, "language": "es"}]}),
        ("index:importArticles", {"articles": [WRITTEN]}),
    ]
    assert [call for call in wrong if is_accepted(project, *call)] == []
    assert_same(project.documents("articles"), [ARTICLE], what="the articles")


def test_every_validator_of_a_field_is_written_once(files: Sources) -> None:
    written = Counter(written_validators(files))
    literals = ("en", "de", "fr", "draft", "published", "archived")
    assert [literal for literal in literals if written[f"literal {literal}"] > 1] == []
    # `title`, `summary` and the tags are texts, `views` and `likes` are numbers; nothing else is.
    assert written["string"] <= 3, "v.string() is written more than once for a field"
    assert written["number"] + written["float64"] <= 2, "v.number() is written more than once for a field"


def written_validators(files: Sources) -> Iterator[str]:
    """The simple validators that stand in the sources: `string`, `number`, `literal draft`."""
    for module in files.modules():
        names = {each.alias for each in module.imports if (each.source, each.name) == ("convex/values", "v")}
        for chain in module.chains:
            if chain.root in names:
                call = chain.calls[0]
                yield f"literal {call.texts[0]}" if call.name == "literal" else call.name

import pytest

from convex_evals.analysis.gaps.concepts import (
    CONCEPTS,
    differing_concepts,
    find_concepts,
    kinds_of,
    used_in,
    without_concepts,
)

SAME_CAUSE = [
    ("type cycle", "'a' implicitly has type 'any' … in its own initializer", "types that reference themselves"),
    ("dotted path", 'patch(id, { "a.b": 1 })', "uses MongoDB's dot notation"),
    ("route pattern", 'path: "/files/:id"', "path parameters, as elsewhere"),
    ("node types", "Cannot find name 'process'. Do you need type definitions?", "no Node typings"),
    ("missing await", "@typescript-eslint/no-floating-promises", "forgets to `await`, without an await"),
    ("unbounded read", 'ctx.db.query("a").collect()', "loads the whole table"),
    ("unbounded read", "Too many documents read in one function", "reads all of them first"),
    ("filter in code", "rows.filter((row) => row.open)", "filters in JavaScript"),
    ("existence check", "'row' is possibly 'null'", "doesn't check that it is there"),
    ("import", "Module 'a' has no exported member 'B'", "does not know where `B` comes from"),
    ("default export", "export default jobs;", "no default export"),
    ("router", "const http = httpRouter();", "never registers the handler"),
    ("sorting", 'rows.order("desc")', "sorts the wrong way"),
    ("dates", "at: new Date()", "stores Date objects"),
    ("literal types", "Type 'boolean' is not assignable to type 'true'", "needs literal types"),
]
KINDS = [
    ("export const a = internalMutation({})", {"mutation"}),
    ('await ctx.db.query("a").first()', set()),
    ("Property 'x' does not exist on type 'GenericQueryCtx<DataModel>'", {"query"}),
    ("no 'keep' on type 'StorageWriter'", {"mutation"}),
    ("`save` is a `mutation`, and it is called in an http action", {"mutation", "action"}),
    ("calls mutations", set()),
]


@pytest.mark.parametrize(("name", "shown", "said"), SAME_CAUSE)
def test_a_cause_is_recognised_in_code_and_in_words(name: str, shown: str, said: str) -> None:
    assert name in find_concepts(shown)
    assert name in find_concepts(said)


def test_a_filter_of_the_database_is_none_in_code() -> None:
    assert "filter in code" not in find_concepts('.filter((q) => q.eq(q.field("open"), true))')


def test_imports_of_the_same_module_do_not_differ() -> None:
    one, other = 'import { a } from "convex/server";', 'import { a, b } from "convex/server";'
    assert not differing_concepts(one, other)
    assert differing_concepts(one, 'import { a } from "convex/values";') == {"import"}


def test_what_the_answer_lacks_may_show_a_cause() -> None:
    indexed, scanned = 'query("a").withIndex("by_b").first()', 'query("a").first()'
    assert "filter instead of an index" in differing_concepts(scanned, indexed)
    assert "filter instead of an index" not in differing_concepts(indexed, scanned)


def test_names_are_used_once() -> None:
    assert len({each.name for each in CONCEPTS}) == len(CONCEPTS)


def test_ordinary_code_shows_no_cause() -> None:
    assert not find_concepts('const total = rows.length;\nlog({ total, label: "all" });')


def test_what_both_sides_show_alike_is_no_difference() -> None:
    one, other = 'await ctx.db.query("a").collect(); f(1)', 'await ctx.db.query("a").collect(); f(2)'
    assert not differing_concepts(one, other)
    assert differing_concepts(one, 'await ctx.db.query("a").first(); f(2)') == {"unbounded read"}


def test_what_a_concept_stands_for_is_not_counted_again() -> None:
    assert without_concepts("circular inference in actions").split() == ["inference", "in", "actions"]


@pytest.mark.parametrize(("text", "kinds"), KINDS)
def test_kinds_of_functions_show_in_code_in_types_and_in_words(text: str, kinds: set[str]) -> None:
    assert kinds_of(text) == kinds


@pytest.mark.parametrize(
    ("shown", "said", "used"),
    [
        ("mutation({ handler: (ctx) => ctx.storage.store(b) })", "uploads from a mutation", "storage in mutation"),
        ("action({ handler: (ctx) => ctx.db.get(id) })", "reads the database in actions", "database in action"),
        ("query({ handler: (ctx) => ctx.scheduler.runAfter(0, f) })", "schedules from a query", "scheduler in query"),
        ("mutation({ handler: () => fetch(url) })", "fetches in mutations", "network in mutation"),
    ],
)
def test_what_is_used_where_is_the_same_in_code_and_in_words(shown: str, said: str, used: str) -> None:
    assert used in used_in(shown)
    assert used in used_in(said)

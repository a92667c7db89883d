import pytest

from convex_evals.analysis.gaps.kinds import kinds_of, used_in

KINDS = [
    ("export const a = internalMutation({})", {"mutation"}),
    ('await ctx.db.query("a").first()', set()),
    ("Property 'x' does not exist on type 'GenericQueryCtx<DataModel>'", {"query"}),
    ("no 'keep' on type 'StorageWriter'", {"mutation"}),
    ("`save` is a `mutation`, and it is called in an http action", {"mutation", "action"}),
    ("calls mutations", set()),
]


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

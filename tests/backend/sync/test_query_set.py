from collections.abc import Mapping
from typing import Any

import pytest

from convex_evals.backend.functions.calls import CallFailure, QueryOutcome
from convex_evals.backend.identity import ADMIN, ANONYMOUS
from convex_evals.backend.runtime import LogLine
from convex_evals.backend.sync.client_messages import AddQuery, Modification, ModifyQuerySet, RemoveQuery
from convex_evals.backend.sync.errors import BrokenInvariant, ProtocolViolation
from convex_evals.backend.sync.query_set import QuerySet, Update
from convex_evals.backend.sync.server_messages import (
    Failure,
    QueryFailed,
    QueryRemoved,
    QueryUpdated,
    StateVersion,
    Transition,
)

Keys = Any  # stands where a ReadSet does: here, the set of keys that were read


class Write:
    def __init__(self, *keys: str) -> None:
        self.keys = set(keys)

    def touches(self, read_set: Keys) -> bool:
        return bool(self.keys & read_set)


def add(query_id: int, journal: str | None = None) -> AddQuery:
    return AddQuery(query_id, "m:list", [{}], journal=journal)


def change(base: int, *modifications: Modification) -> ModifyQuerySet:
    return ModifyQuerySet(base, base + 1, modifications)


def value(text: str, reads: str = "", journal: str | None = None) -> QueryOutcome:
    keys: Keys = set(reads.split())
    return QueryOutcome(text, None, "0123456789abcdef", read_set=keys, journal=journal)


def never(read_set: Keys, ts: int) -> bool:
    return False


def overtaken_by_a(read_set: Keys, ts: int) -> bool:
    return "a" in read_set and ts == 1000


def ran(update: Update) -> list[int]:
    return [query.request.query_id for query in update.to_run]


def settle(queries: QuerySet, ts: int, outcomes: Mapping[int, QueryOutcome] | None = None) -> Transition:
    return queries.finish(queries.begin(ts), outcomes or {}, never)


def subscribed(outcomes: Mapping[int, QueryOutcome]) -> QuerySet:
    """A client that has seen these results at ts 1000."""
    queries = QuerySet()
    queries.modify(change(0, *(add(query_id) for query_id in outcomes)))
    settle(queries, 1000, outcomes)
    return queries


def test_the_first_transition_starts_at_zero_and_holds_every_added_query() -> None:
    queries = QuerySet()
    queries.modify(change(0, add(7), add(3)))
    assert settle(queries, 1000, {3: value("3.0"), 7: value("7.0")}) == Transition(
        StateVersion(0, 0, 0),
        StateVersion(1, 0, 1000),
        (QueryUpdated(3, "3.0", [], None), QueryUpdated(7, "7.0", [], None)),
    )


def test_each_transition_starts_where_the_last_one_ended() -> None:
    queries = subscribed({})
    first = settle(queries, 2000)
    assert (first.start, first.end) == (StateVersion(1, 0, 1000), StateVersion(1, 0, 2000))
    assert settle(queries, 3000).start == first.end


def test_an_update_with_nothing_to_say_is_empty() -> None:
    queries = subscribed({0: value("1.0", "a")})
    assert settle(queries, 1000) == Transition(StateVersion(1, 0, 1000), StateVersion(1, 0, 1000))


def test_several_changes_of_the_query_set_are_answered_at_once() -> None:
    queries = subscribed({0: value("1.0")})
    queries.modify(change(1, RemoveQuery(0), add(1)))
    queries.modify(change(2, add(2), RemoveQuery(1)))
    transition = settle(queries, 2000, {2: value("2.0")})
    assert transition.end.query_set == 3
    assert transition.modifications == (QueryRemoved(0), QueryRemoved(1), QueryUpdated(2, "2.0", [], None))


def test_a_query_added_again_is_shown_again_though_nothing_changed() -> None:
    queries = subscribed({0: value("1.0")})
    queries.modify(change(1, RemoveQuery(0), add(0)))
    assert settle(queries, 2000, {0: value("1.0")}).modifications == (QueryUpdated(0, "1.0", [], None),)


def test_only_queries_that_read_what_was_written_run_again() -> None:
    queries = subscribed({0: value("1.0", "a"), 1: value("2.0", "b")})
    assert queries.invalidate(Write("b", "c"))
    assert ran(queries.begin(2000)) == [1]


def test_a_commit_that_touches_nothing_wakes_nobody() -> None:
    queries = subscribed({0: value("1.0", "a")})
    assert not queries.invalidate(Write("z"))
    assert ran(queries.begin(2000)) == []


def test_a_query_without_reads_is_never_woken_by_a_commit() -> None:
    queries = subscribed({0: QueryOutcome(None, CallFailure("no such function"), "0123456789abcdef")})
    assert not queries.invalidate(Write("a"))


def test_an_equal_result_is_not_sent_again() -> None:
    queries = subscribed({0: value("1.0", "a")})
    queries.invalidate(Write("a"))
    assert settle(queries, 2000, {0: value("1.0", "a")}) == Transition(
        StateVersion(1, 0, 1000), StateVersion(1, 0, 2000)
    )


def test_equal_results_with_other_log_lines_are_different() -> None:
    queries = subscribed({0: value("1.0", "a")})
    queries.invalidate(Write("a"))
    again = value("1.0", "a")
    again.log_lines.append(LogLine("LOG", ("'hi'",), 0.0))
    assert settle(queries, 2000, {0: again}).modifications == (QueryUpdated(0, "1.0", ["[LOG] 'hi'"], None),)


def test_an_error_that_repeats_under_another_request_id_is_not_sent_again() -> None:
    def failing(request_id: str, message: str = "boom\n") -> QueryOutcome:
        keys: Keys = {"a"}
        return QueryOutcome(None, CallFailure(message, '"data"'), request_id, read_set=keys)

    queries = QuerySet()
    queries.modify(change(0, add(0)))
    first = settle(queries, 1000, {0: failing("1111111111111111")})
    text = "[Request ID: 1111111111111111] Server Error\nboom\n"
    assert first.modifications == (QueryFailed(0, Failure(text, '"data"'), [], None),)
    queries.invalidate(Write("a"))
    assert settle(queries, 2000, {0: failing("2222222222222222")}).modifications == ()
    queries.invalidate(Write("a"))
    assert len(settle(queries, 3000, {0: failing("3333333333333333", "bang\n")}).modifications) == 1


def test_a_query_overtaken_by_a_commit_while_it_ran_is_stale_again() -> None:
    queries = QuerySet()
    queries.modify(change(0, add(0)))
    update = queries.begin(1000)
    assert not queries.invalidate(Write("a"))  # what it reads is not known yet
    queries.finish(update, {0: value("1.0", "a")}, overtaken_by_a)
    assert queries.is_stale
    assert ran(queries.begin(2000)) == [0]


def test_a_commit_during_a_run_that_only_touches_former_reads_does_not_rerun_it() -> None:
    queries = subscribed({0: value("1.0", "a")})
    queries.invalidate(Write("a"))
    update = queries.begin(2000)
    queries.invalidate(Write("a"))
    queries.finish(update, {0: value("2.0", "b")}, never)
    assert not queries.is_stale


def test_new_code_makes_every_query_run_again_even_one_that_is_running() -> None:
    queries = subscribed({0: value("1.0", "a"), 1: value("2.0")})
    queries.invalidate(Write("a"))
    update = queries.begin(2000)
    queries.invalidate_all()
    queries.finish(update, {0: value("1.0", "a")}, never)
    assert ran(queries.begin(3000)) == [0, 1]


def test_a_new_identity_runs_every_query_and_raises_the_identity_version() -> None:
    queries = subscribed({0: value("1.0")})
    queries.authenticate(0, ADMIN)
    update = queries.begin(2000)
    assert (ran(update), update.identity) == ([0], ADMIN)
    transition = queries.finish(update, {0: value("1.0")}, never)
    assert (transition.end, transition.modifications) == (StateVersion(1, 1, 2000), ())


def test_until_someone_authenticates_queries_run_anonymously() -> None:
    assert QuerySet().begin(1000).identity == ANONYMOUS


def test_the_journal_of_a_run_is_passed_to_the_next_one() -> None:
    queries = QuerySet()
    queries.modify(change(0, add(0, journal="from the client")))
    update = queries.begin(1000)
    assert update.to_run[0].journal == "from the client"
    transition = queries.finish(update, {0: value("[]", "a", journal="end of page")}, never)
    assert transition.modifications == (QueryUpdated(0, "[]", [], "end of page"),)
    queries.invalidate(Write("a"))
    assert queries.begin(2000).to_run[0].journal == "end of page"


def test_time_never_runs_backwards() -> None:
    queries = subscribed({})
    assert settle(queries, 500).end.ts == 1000


def test_what_arrives_during_an_update_belongs_to_the_next_one() -> None:
    queries = QuerySet()
    queries.modify(change(0, add(0)))
    update = queries.begin(1000)
    queries.modify(change(1, RemoveQuery(0)))
    assert queries.finish(update, {0: value("1.0")}, never).end.query_set == 1
    assert settle(queries, 1000).modifications == (QueryRemoved(0),)


def test_the_base_version_must_be_the_newest_one_received() -> None:
    queries = QuerySet()
    queries.modify(change(0))
    queries.modify(change(1))
    with pytest.raises(ProtocolViolation, match=r"^Base version 3 passed up doesn't match the current version 2$"):
        queries.modify(change(3))
    with pytest.raises(ProtocolViolation, match=r"^Base version 1 passed up doesn't match the current version 0$"):
        queries.authenticate(1, ADMIN)


@pytest.mark.parametrize(
    "message",
    [
        ModifyQuerySet(0, 0, ()),
        ModifyQuerySet(0, 1, (add(0), add(0))),
        ModifyQuerySet(0, 1, (RemoveQuery(0),)),
        ModifyQuerySet(0, 1, (add(0), RemoveQuery(0), RemoveQuery(0))),
    ],
)
def test_a_client_that_contradicts_itself_is_refused(message: ModifyQuerySet) -> None:
    with pytest.raises(BrokenInvariant):
        QuerySet().modify(message)

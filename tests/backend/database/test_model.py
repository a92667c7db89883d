"""Random operations, compared with a model that keeps documents in a list and sorts it for every query."""

from collections.abc import Callable
from typing import Any, NamedTuple

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from convex_evals.backend.database import (
    Database,
    PageRequest,
    Savepoint,
    activate_schema,
    prepare_schema,
)
from convex_evals.backend.errors import Conflict
from convex_evals.backend.schema import Schema
from convex_evals.backend.values import UNDEFINED, decode_field, sort_key

VALUES = st.sampled_from(
    [{"$undefined": None}, None, {"$integer": "AQAAAAAAAAA="}, 0, 1, 2.5, False, "", "a", "b", [1], {"x": 1}]
)
UNSET = {"$undefined": None}
ALL = "no bound"
BOUNDS = VALUES | st.just(ALL)
PICKS = st.integers(0, 100)
SCHEMA = {
    "tables": [
        {
            "tableName": "t",
            "documentType": {"type": "any"},
            "indexes": [
                {"indexDescriptor": "by_a", "fields": ["a"]},
                {"indexDescriptor": "by_a_b", "fields": ["a", "b"]},
            ],
        }
    ],
    "schemaValidation": True,
}

Row = dict[str, Any]
Rows = dict[str, Row]
Changes = dict[str, Row | None]


def key(row: Row, *fields: str) -> tuple[bytes, ...]:
    return tuple(sort_key(row.get(field, UNDEFINED)) for field in (*fields, "_creationTime", "_id"))


def fields_of(a: object, b: object) -> dict[str, object]:
    return {name: value for name, value in (("a", a), ("b", b)) if value != UNSET}


def decoded(fields: dict[str, object]) -> Row:
    return {name: decode_field(value) for name, value in fields.items()}


def applied(rows: Rows, changes: Changes) -> Rows:
    return {id: row for id, row in {**rows, **changes}.items() if row is not None}


class IndexQuery(NamedTuple):
    index: str
    fields: tuple[str, ...]
    equal: object
    lower: object
    upper: object
    order: str

    @property
    def json(self) -> dict[str, Any]:
        bounded = self.fields[-1] if self.fields else "_creationTime"
        pinned = self.fields[0] if len(self.fields) > 1 else None
        comparisons = [(pinned, "Eq", self.equal)] if pinned else []
        comparisons += [
            (bounded, kind, value) for kind, value in (("Gte", self.lower), ("Lt", self.upper)) if value != ALL
        ]
        parsed = [{"fieldPath": field, "type": kind, "value": value} for field, kind, value in comparisons]
        return {
            "source": {"type": "IndexRange", "indexName": f"t.{self.index}", "range": parsed, "order": self.order},
            "operators": [],
        }

    def run(self, rows: Rows) -> list[Row]:
        found = [row for row in rows.values() if self._accepts(row)]
        return sorted(found, key=lambda row: key(row, *self.fields), reverse=self.order == "desc")

    def _accepts(self, row: Row) -> bool:
        *pinned, value = key(row, *self.fields)[: max(len(self.fields), 1)]
        return (
            all(found == sort_key(decode_field(self.equal)) for found in pinned)
            and (self.lower == ALL or value >= sort_key(decode_field(self.lower)))
            and (self.upper == ALL or value < sort_key(decode_field(self.upper)))
        )


QUERIES = st.builds(
    lambda index, equal, lower, upper, order: IndexQuery(*index, equal, lower, upper, order),
    st.sampled_from([("by_creation_time", ()), ("by_a", ("a",)), ("by_a_b", ("a", "b"))]),
    VALUES,
    BOUNDS,
    BOUNDS,
    st.sampled_from(["asc", "desc"]),
)


class DatabaseMachine(RuleBasedStateMachine):
    """One transaction under observation, and others that commit meanwhile."""

    @initialize()
    def open(self) -> None:
        self.database = Database.open(None)
        transaction = self.database.begin()
        activate_schema(transaction, "", prepare_schema(transaction, "", Schema.parse(SCHEMA)))
        self.database.commit(transaction)
        self.committed: Rows = {}
        self.begin()

    @rule()
    def begin(self) -> None:
        self.transaction = self.database.begin()
        self.base = dict(self.committed)
        self.changes: Changes = {}
        self.disturbed = False
        self.reads: list[Callable[[Rows], object]] = []
        self.savepoints: list[tuple[Savepoint, Changes]] = []

    @property
    def rows(self) -> Rows:
        return applied(self.base, self.changes)

    @rule(a=VALUES, b=VALUES)
    def insert(self, a: object, b: object) -> None:
        document = self.transaction.insert("", "t", fields_of(a, b))
        self.changes[document.id] = document.value

    @rule(pick=PICKS, a=VALUES)
    def patch(self, pick: int, a: object) -> None:
        if (id := self.pick(pick)) is not None:
            document = self.transaction.patch("", id, {"a": a})
            expected = {name: item for name, item in self.rows[id].items() if name != "a"}
            assert document.value == {**expected, **decoded(fields_of(a, UNSET))}
            self.reads.append(lambda rows: rows.get(id))
            if sort_key(document.value) != sort_key(self.rows[id]):  # else nothing is written
                self.changes[id] = document.value

    @rule(pick=PICKS)
    def delete(self, pick: int) -> None:
        if (id := self.pick(pick)) is not None:
            self.transaction.delete("", id)
            self.reads.append(lambda rows: rows.get(id))
            self.changes[id] = None

    @rule(query=QUERIES, count=st.integers(1, 4), batch=st.integers(1, 3))
    def take(self, query: IndexQuery, count: int, batch: int) -> None:
        stream = self.transaction.open_query("", query.json)
        found: list[Row] = []
        while len(found) < count:
            fetched = stream.fetch(batch).documents
            taken = fetched[: count - len(found)]
            stream.pull(len(taken) or 1)
            found += [document.value for document in taken]
            if not fetched:
                break
        assert found == query.run(self.rows)[:count]
        self.remember(lambda rows: query.run(rows)[:count])

    @rule(query=QUERIES, size=st.integers(1, 3))
    def paginate(self, query: IndexQuery, size: int) -> None:
        found: list[Row] = []
        cursor, is_done = None, False
        while not is_done:
            page = self.transaction.paginate("", PageRequest(query.json, cursor, size))
            found += [document.value for document in page.documents]
            cursor, is_done = page.continue_cursor, page.is_done
        assert found == query.run(self.rows)
        self.remember(query.run)

    @rule()
    def savepoint(self) -> None:
        self.savepoints.append((self.transaction.savepoint(), dict(self.changes)))

    @precondition(lambda self: self.savepoints)
    @rule()
    def rollback(self) -> None:
        savepoint, self.changes = self.savepoints.pop()
        self.transaction.rollback(savepoint)

    @precondition(lambda self: self.savepoints)
    @rule()
    def release(self) -> None:
        self.transaction.release(self.savepoints.pop()[0])

    @rule(pick=PICKS, a=VALUES, b=VALUES)
    def another_commits(self, pick: int, a: object, b: object) -> None:
        """Inserts, replaces or deletes."""
        transaction = self.database.begin()
        ids = sorted(self.committed)
        if not ids or pick % 3 == 0:
            document = transaction.insert("", "t", fields_of(a, b))
            self.committed[document.id] = document.value
        elif pick % 3 == 1:
            id = ids[pick % len(ids)]
            self.committed[id] = transaction.replace("", id, fields_of(a, b)).value
        else:
            del self.committed[transaction.delete("", ids[pick % len(ids)]).id]
        self.database.commit(transaction)
        self.disturbed = True

    @rule()
    def commit(self) -> None:
        """Succeeds only if everything that was read would be read the same now."""
        stale = any(read(self.base) != read(self.committed) for read in self.reads)
        try:
            self.database.commit(self.transaction)
        except Conflict:
            assert self.disturbed
        else:
            assert not (stale and self.changes)
            self.committed = applied(self.committed, self.changes)
        self.begin()

    @invariant()
    def the_transaction_sees_its_snapshot_and_its_writes(self) -> None:
        assert self.transaction.snapshot_view().count("", "t") == len(self.base)
        for id, row in self.rows.items():
            document = self.transaction.lookup(self.transaction.catalog("").tables["t"], id)
            assert document is not None
            assert document.value == row

    def pick(self, number: int) -> str | None:
        ids = sorted(self.rows)
        return ids[number % len(ids)] if ids else None

    def remember(self, read: Callable[[Rows], object]) -> None:
        changes = dict(self.changes)
        self.reads.append(lambda rows: read(applied(rows, changes)))


TestDatabaseMachine = DatabaseMachine.TestCase
TestDatabaseMachine.settings = settings(max_examples=60, stateful_step_count=30, deadline=None)

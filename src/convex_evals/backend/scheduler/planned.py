"""Rows with a `nextTs`, in every component: what runs next."""

import heapq
from dataclasses import dataclass
from typing import NamedTuple, cast

from convex_evals.backend.database import Bound, Document, Transaction
from convex_evals.backend.deployed import Application

ROOT = ""
ANY_TIME = Bound(0, included=True)  # rows that are over have no time, and stand before it


class RowKey(NamedTuple):
    namespace: str
    id: str


@dataclass(frozen=True, slots=True)
class Planned:
    key: RowKey
    due: int  # ns
    creation_time: float


def namespaces(application: Application | None) -> list[str]:
    """Also those of unmounted components: what they had planned is still planned."""
    instances = application.instances.values() if application else ()
    return sorted({ROOT, *(instance.id for instance in instances)})


def planned_rows(transaction: Transaction, application: Application | None, table: str, limit: int) -> list[Planned]:
    """The first `limit` rows in the order in which they are due; of those due at once, the oldest first."""
    found = (
        _planned(namespace, row)
        for namespace in namespaces(application)
        for row in transaction.system.scan(namespace, table, "by_next_ts", lower=ANY_TIME, limit=limit)
    )
    return heapq.nsmallest(limit, found, key=lambda row: (row.due, row.creation_time))


def _planned(namespace: str, row: Document) -> Planned:
    return Planned(RowKey(namespace, row.id), cast(int, row.value["nextTs"]), row.creation_time)

"""Finished jobs are kept for a week."""

import asyncio
import logging
from typing import Final

from convex_evals.backend.database import Bound, Transaction
from convex_evals.backend.errors import BackendError
from convex_evals.backend.functions.runner import FunctionRunner
from convex_evals.backend.scheduler.dispatcher import Clock
from convex_evals.backend.scheduler.job_rows import TABLE
from convex_evals.backend.scheduler.planned import ANY_TIME, RowKey, namespaces

logger = logging.getLogger(__name__)

RETENTION_NS: Final = 7 * 86_400 * 10**9
CHECK_EVERY_SECONDS: Final = 10.0
MOST_AT_ONCE: Final = 1000
SOURCE: Final = "_scheduler"


class Retention:
    def __init__(self, functions: FunctionRunner, now: Clock) -> None:
        self._functions = functions
        self._now = now

    async def loop(self) -> None:
        while True:
            try:
                await self.collect()
            except BackendError:
                logger.exception("finished jobs could not be deleted")
            await asyncio.sleep(CHECK_EVERY_SECONDS)

    async def collect(self) -> None:
        """Deletes jobs that were over a week ago."""
        if self._outdated(self._functions.host.database.begin()):
            await self._functions.write(SOURCE, self._delete)

    def _delete(self, transaction: Transaction) -> None:
        for key in self._outdated(transaction):
            transaction.system.delete(key.namespace, TABLE, key.id)

    def _outdated(self, transaction: Transaction) -> list[RowKey]:
        before = Bound(self._now() - RETENTION_NS, included=False)
        return [
            RowKey(namespace, row.id)
            for namespace in namespaces(self._functions.host.application)
            for row in transaction.system.scan(
                namespace, TABLE, "by_completed_ts", lower=ANY_TIME, upper=before, limit=MOST_AT_ONCE
            )
        ]

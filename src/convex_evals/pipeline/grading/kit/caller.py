"""Calling functions as somebody: as nobody in particular, as a user, or as an administrator."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from convex_evals.pipeline.grading.kit.endpoints import HttpEndpoints
from convex_evals.pipeline.grading.kit.failures import ANYTHING, ExpectedFailure
from convex_evals.pipeline.grading.kit.live import LiveQuery
from convex_evals.pipeline.grading.kit.pages import Page, walk
from convex_evals.pipeline.grading.kit.transport import Kind, Transport
from convex_evals.pipeline.grading.kit.values import to_json

Arguments = Mapping[str, Any]


@dataclass(frozen=True)
class Caller:
    """Arguments are named, `query("messages:list", channel="x")`, or given as one dict after the path."""

    transport: Transport
    authorization: str | None = None
    acting_as: Mapping[str, object] | None = None

    def query(self, path: str, args: Arguments | None = None, /, **named: Any) -> Any:
        return self._call("query", path, args, named)

    def mutation(self, path: str, args: Arguments | None = None, /, **named: Any) -> Any:
        return self._call("mutation", path, args, named)

    def action(self, path: str, args: Arguments | None = None, /, **named: Any) -> Any:
        return self._call("action", path, args, named)

    @property
    def http(self) -> HttpEndpoints:
        return HttpEndpoints(self.transport, self.authorization)

    @contextmanager
    def fails(self, text: str = "", *, data: object = ANYTHING) -> Iterator[ExpectedFailure]:
        """The block must call a function that fails, with `text` in its message and, if given, with that `data`."""
        expected = ExpectedFailure(text, data)
        with expected.watch():
            yield expected

    def pages(
        self,
        path: str,
        args: Arguments | None = None,
        /,
        *,
        num_items: int = 10,
        options: str = "paginationOpts",
        **named: Any,
    ) -> list[Page]:
        """All pages of a paginated query, each asked for with the cursor of the one before."""
        given = {**(args or {}), **named}
        return walk(path, lambda opts: self.query(path, {**given, options: opts}), num_items)

    @contextmanager
    def subscribe(self, path: str, args: Arguments | None = None, /, **named: Any) -> Iterator[LiveQuery]:
        """A query that stays up to date while the block runs."""
        encoded = to_json({**(args or {}), **named})
        admin_key = self.transport.admin_key if self.authorization else None
        with LiveQuery.open(self.transport, path, encoded, admin_key, self.acting_as) as live:
            yield live

    def _call(self, kind: Kind, path: str, args: Arguments | None, named: Arguments) -> Any:
        return self.transport.call(kind, path, {**(args or {}), **named}, self.authorization)

"""`ctx.runQuery` and `ctx.runMutation` inside a query or mutation: same transaction, fresh context."""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import replace
from typing import Literal

from convex_evals.backend.errors import DeveloperError
from convex_evals.backend.functions.addresses import AddressBook
from convex_evals.backend.functions.arguments import Arguments, check_arguments
from convex_evals.backend.functions.attempt import Attempt, TransactionKind
from convex_evals.backend.functions.outcomes import Finished
from convex_evals.backend.functions.replies import reply_of
from convex_evals.backend.functions.syscall_args import SyscallArgs
from convex_evals.backend.functions.targets import Target, check_type, find
from convex_evals.backend.runtime.types import SyscallReply

DEEPEST = 8

CalledKind = Literal["Query", "Mutation", "SnapshotQuery"]
CALLED_KINDS: dict[str, CalledKind] = {"query": "Query", "mutation": "Mutation", "snapshotQuery": "SnapshotQuery"}

RunFunction = Callable[[Attempt, Target, Arguments, TransactionKind, int], Awaitable[Finished]]


class NestedCalls:
    """The calls that one execution makes. `run` executes a function in a transaction at a depth."""

    def __init__(self, attempt: Attempt, caller: Target, kind: TransactionKind, depth: int, run: RunFunction) -> None:
        self._attempt = attempt
        self._caller = caller
        self._kind = kind
        self._depth = depth
        self._run = run

    async def call(self, json: Mapping[str, object]) -> SyscallReply:
        """`1.0/runUdf`"""
        args = SyscallArgs(json, "runUdf")
        called = self._check_kind(args)
        if self._depth >= DEEPEST:
            raise DeveloperError("Cross component call depth limit exceeded. Do you have an infinite loop in your app?")
        target = self._find(args)
        given = args.mapping("args")
        attempt = self._snapshot() if called == "SnapshotQuery" else self._attempt
        try:
            check_type(target, "Mutation" if called == "Mutation" else "Query")
            tables = attempt.transaction.catalog(target.instance.id).table_names
            arguments = check_arguments(target, [given], tables, pending=True)
        except DeveloperError as error:
            return reply_of(Finished.failed(error), target.path)
        limits = args.json.get("transactionLimits")
        finished = await self._within(attempt, target, arguments, limits if isinstance(limits, dict) else {})
        return reply_of(finished, target.path)

    def _check_kind(self, args: SyscallArgs) -> CalledKind:
        name = args.text("udfType")
        called = CALLED_KINDS.get(name)
        if called is None:
            raise args.invalid_argument("udfType", f"Invalid UDF type: {name}")
        if self._kind == "Query" and called != "Query":
            raise DeveloperError(f"Cannot call a {called} function from a Query function")
        return called

    def _find(self, args: SyscallArgs) -> Target:
        application = self._caller.application
        book = AddressBook(application, self._attempt.host.handles, self._caller.path.component)
        path = book.resolve(args.json, args.method)
        target = find(application, path)
        if target is None:
            raise DeveloperError(f"Could not find public function for '{path.stripped}'{path.in_component}.")
        return target

    def _snapshot(self) -> Attempt:
        """The state the transaction began with: it sees none of its writes, and its reads bind nobody."""
        return replace(self._attempt, transaction=self._attempt.transaction.snapshot_view())

    async def _within(
        self, attempt: Attempt, target: Target, arguments: Arguments, budgets: Mapping[str, float]
    ) -> Finished:
        transaction = attempt.transaction
        limits, transaction.limits = transaction.limits, transaction.limits.tightened(transaction.usage, budgets)
        savepoint = transaction.savepoint()
        kind: TransactionKind = "Mutation" if target.function.udf_type == "Mutation" else "Query"
        try:
            finished = await self._run(attempt, target, arguments, kind, self._depth + 1)
        finally:
            transaction.limits = limits
        if finished.failure is not None and kind == "Mutation":
            transaction.rollback(savepoint)
        else:
            transaction.release(savepoint)
        return finished

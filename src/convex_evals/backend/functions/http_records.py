"""The entries of the function log about one HTTP action."""

import time
from collections.abc import Sequence
from dataclasses import dataclass, field

from convex_evals.backend.deployed import Environment
from convex_evals.backend.functions.records import identity_type, new_execution_id
from convex_evals.backend.functions.types import Call
from convex_evals.backend.logs import Completion, FunctionLog, Progress
from convex_evals.backend.runtime.types import LogLine


@dataclass(frozen=True, slots=True)
class HttpRun:
    """One run, from now until `record` is called. `identifier` is method and route: `GET /prefix/*`."""

    log: FunctionLog
    call: Call
    identifier: str
    environment: Environment = "isolate"
    execution_id: str = field(default_factory=new_execution_id)
    started: float = field(default_factory=time.perf_counter)

    def report(self, lines: Sequence[LogLine]) -> None:
        """Lines that were written just now."""
        call, component = self.call, self.call.path.component or None
        self.log.append(Progress("HttpAction", self.identifier, component, call.request_id, self.execution_id, lines))

    def record(self, status: int | None, error: str | None = None, user_ms: float = 0.0) -> None:
        """`status` is None when the client was never answered."""
        call, component = self.call, self.call.path.component or None
        self.log.append(
            Completion(
                udf_type="HttpAction",
                identifier=self.identifier,
                component_path=component,
                request_id=call.request_id,
                execution_id=self.execution_id,
                caller=call.caller,
                identity_type=identity_type(call.identity),
                environment=self.environment,
                execution_seconds=time.perf_counter() - self.started,
                user_seconds=user_ms / 1000,
                error=error,
                http_status=None if status is None else str(status),
            )
        )

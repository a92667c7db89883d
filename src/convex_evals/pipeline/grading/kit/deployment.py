"""The fixtures `project` and `answer`: everything a grader can do with a deployment.

And `given`: a deployment of the given project that becomes one of the model's, with its data.
"""

import base64
import json
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from convex_evals.pipeline.grading.kit.assertions import show
from convex_evals.pipeline.grading.kit.caller import BEARER, Arguments, Caller
from convex_evals.pipeline.grading.kit.contents import (
    CronJob,
    Document,
    Environment,
    ScheduledFunction,
    Storage,
    Tables,
    parse_cron,
    parse_scheduled,
)
from convex_evals.pipeline.grading.kit.declarations import (
    FunctionSpec,
    Route,
    Schema,
    parse_functions,
    parse_routes,
    parse_schema,
)
from convex_evals.pipeline.grading.kit.errors import CallTimedOut, DeploymentLost, EvalBroken, Refused
from convex_evals.pipeline.grading.kit.patience import PATIENCE
from convex_evals.pipeline.grading.kit.trace import Work, trace
from convex_evals.pipeline.grading.kit.transport import Transport
from convex_evals.pipeline.grading.kit.web_server import held_requests

if TYPE_CHECKING:
    from concurrent.futures import Future

LOCKSTEP_SECONDS: Final = 2.0
SETTLING_SHARE: Final = 0.9  # of the time for a call, so that the deployment answers before it is over
PATIENCE_SECONDS: Final = 20.0
POLL_SECONDS: Final = 0.05


@dataclass(frozen=True)
class Deployment(Caller):
    """Calls are those of a client that nobody has logged in to; `admin`, `as_user` and `with_token` call as someone."""

    # ------------------------------------------------------------------ who calls

    @property
    def admin(self) -> Caller:
        """May call internal functions too."""
        return Caller(self.transport, self.transport.admin)

    def as_user(self, subject: str = "user", **claims: Any) -> Caller:
        """A user who is logged in. `claims` are what `ctx.auth.getUserIdentity()` tells: `name`, `email`, `issuer` …

        Logged in by the administrator, hence may call internal functions: test with `project` itself that these are.
        """
        identity = {"issuer": "https://issuer.example", "subject": subject, **claims}
        payload = base64.b64encode(json.dumps(identity).encode()).decode()
        return Caller(self.transport, f"{self.transport.admin}:{payload}", identity)

    def with_token(self, token: str) -> Caller:
        """Whoever has this token, which the deployment checks by the project's `auth.config.ts`."""
        return Caller(self.transport, f"{BEARER}{token}")

    # ------------------------------------------------------------------ documents

    def insert(self, table: str, document: Mapping[str, Any] | None = None, /, **fields: Any) -> str:
        """Inserts a document, as dict or as named fields, and returns its id. The deployed schema applies."""
        return self.insert_many(table, [{**(document or {}), **fields}])[0]

    def insert_many(self, table: str, documents: Sequence[Mapping[str, Any]]) -> list[str]:
        """Inserts up to 4096 documents in one transaction and returns their ids, in order."""
        return Tables(self.transport).insert(table, documents)

    def documents(self, table: str, *, component: str | None = None) -> list[Document]:
        """All documents of a table of the app, or of a component by its path, oldest first; none when there is no
        such table."""
        return Tables(self.transport).documents(table, component)

    def get(self, document_id: str) -> Document | None:
        return Tables(self.transport).get(document_id)

    def replace(self, document_id: str, document: Mapping[str, Any]) -> None:
        Tables(self.transport).replace(document_id, document)

    def delete(self, table: str, *ids: str) -> None:
        Tables(self.transport).delete(table, ids)

    def clear(self, *tables: str) -> None:
        for table in tables:
            Tables(self.transport).clear(table)

    def tables(self) -> list[str]:
        """The names of all tables that have, or had, documents or stand in the schema."""
        return Tables(self.transport).names()

    # ------------------------------------------------------------------ what is declared

    def schema(self) -> Schema:
        return parse_schema(self.transport.system("query", "frontend/getSchemas").get("active"))

    def functions(self) -> dict[str, FunctionSpec]:
        """By name, like `messages:list`; internal ones too."""
        return parse_functions(self.transport.system("query", "cli/modules:apiSpec"))

    def routes(self) -> list[Route]:
        """The HTTP endpoints."""
        return parse_routes(self.transport.system("query", "cli/modules:apiSpec"))

    def crons(self) -> dict[str, CronJob]:
        """By name."""
        runs = self.transport.system("query", "frontend/listCronJobRuns")
        jobs = self.transport.system("query", "frontend/listCronJobs")
        return {job["name"]: parse_cron(job, runs) for job in jobs}

    # ------------------------------------------------------------------ what happens

    def scheduled(self) -> list[ScheduledFunction]:
        """All scheduled functions of this test, whatever became of them; the oldest first."""
        documents = Tables(self.transport).documents("_scheduled_functions")
        return [parse_scheduled(document) for document in documents]

    @contextmanager
    def trace(self, *, scheduled: bool = False) -> Iterator[Work]:
        """Measures what the calls in the block do; with `scheduled`, also scheduled functions that end in it."""
        with trace(self.transport, scheduled=scheduled) as work:
            yield work

    # ------------------------------------------------------------------ time and faults

    def now(self) -> float:
        """The deployment's time, in whole milliseconds since 1970: what `Date.now()` returns."""
        return float(int(self._simulate("clock")["now"]))

    def advance(self, *, days: float = 0.0, hours: float = 0.0, minutes: float = 0.0, seconds: float = 0.0) -> None:
        """Lets time pass: scheduled functions and cron jobs that are due on the way run, each at its time and in order,
        and have ended when this returns. What is running ends first, unless the web server keeps it waiting."""
        duration = timedelta(days=days, hours=hours, minutes=minutes, seconds=seconds)
        hanging = held_requests()
        allowed = PATIENCE.stretched(self.transport.clock.allow(None)) * SETTLING_SHARE
        body = {"ms": duration / timedelta(milliseconds=1), "seconds": allowed, "hanging": hanging}
        if not self._simulate("advance_clock", body)["isSettled"]:
            what = f"what was scheduled for the next {duration}"
            raise CallTimedOut(self.transport.name, what, allowed)

    @contextmanager
    def stopped_clock(self) -> Iterator[None]:
        """In the block, no time passes but by `advance`, however long calls take, but a millisecond per write."""
        self._simulate("stop_clock", {})
        try:
            yield
        finally:
            self._simulate("start_clock", {})

    @contextmanager
    def lockstep(self, actions: int) -> Iterator[None]:
        """In the block, this many actions that run at the same time wait for one another after each function they call:
        what can go wrong between two of their transactions does go wrong."""
        self._simulate("lockstep", {"actions": actions, "seconds": PATIENCE.stretched(LOCKSTEP_SECONDS)})
        try:
            yield
        finally:
            self._simulate("lockstep", {"actions": 0})

    @contextmanager
    def overlapping(self, mutations: int) -> Iterator[None]:
        """The first mutations in the block, this many, have all run before any of them commits: those that read what
        another one writes are executed again, on the fastest machine, too."""
        self._simulate("overlap", {"mutations": mutations, "seconds": PATIENCE.stretched(LOCKSTEP_SECONDS)})
        try:
            yield
        finally:
            self._simulate("overlap", {"mutations": 0})

    @contextmanager
    def late_commit(self, path: str, arguments: Arguments | None = None, /, **named: Any) -> Iterator["Future[Any]"]:
        """This mutation has run when the block begins, and commits when it ends: what else is called in the block
        begins later and commits earlier. Its result is there after the block."""
        from concurrent.futures import ThreadPoolExecutor

        self._simulate("hold_commit", {"seconds": self.transport.clock.allow(None)})
        with ThreadPoolExecutor(1) as thread:
            call = thread.submit(self.mutation, path, arguments, **named)
            try:
                while not call.done() and not self._simulate("held_commit")["isHeld"]:
                    time.sleep(POLL_SECONDS)
                yield call
            finally:
                self._simulate("release_commit", {})
        call.result()

    def kill_actions(self) -> int:
        """Kills every action that is running; its caller is told that it failed. How many there were."""
        return int(self._simulate("kill_actions", {})["killed"])

    def restart(self) -> None:
        """Stops the deployment in the middle of whatever it does and starts it again, with what was committed."""
        self._simulate("restart", {})

    def _simulate(self, route: str, body: object = None) -> Any:
        try:
            return self.transport.administer(f"/api/simulation/{route}", body)
        except Refused as error:
            reason = "only an embedded deployment can be moved in time, or made to fail"
            raise DeploymentLost(self.transport.name, reason) from error

    @property
    def storage(self) -> Storage:
        return Storage(self.transport)

    @property
    def env(self) -> Environment:
        return Environment(self.transport)

    @property
    def url(self) -> str:
        return self.transport.url

    @property
    def site_url(self) -> str:
        return self.transport.site_url


@dataclass(frozen=True)
class GivenDeployment(Deployment):
    """At first, the given code runs on it; `upgrade` puts the model's in its place."""

    project_push: Path | None = None

    def upgrade(self) -> Deployment:
        """Deploys the model's project over the given one. Tables keep their documents, and open clients stay connected.

        Fails the test if the deployment does not accept the project, such as for documents that do not fit its schema.
        """
        assert self.project_push is not None
        transport = replace(self.transport, name="project")
        try:
            refused = push(transport, self.project_push)
        except Refused as error:
            refused = error.body
        if refused is not None:
            raise AssertionError(f"the project cannot be deployed over the given one and its documents: {refused}")
        return Deployment(transport)


def push_given(transport: Transport, request: Path) -> None:
    try:
        refused = push(transport, request)
    except Refused as error:
        refused = error.body
    if refused is not None:
        raise EvalBroken(f"the given files cannot be deployed: {refused}")


def push(transport: Transport, request: Path) -> str | None:
    """As the CLI does it. Why existing documents do not allow it, if they do not; raises Refused for other reasons."""
    body = {**json.loads(request.read_bytes()), "adminKey": transport.admin_key, "dryRun": False}
    started = transport.administer("/api/deploy2/start_push", body)
    status = _schema_status(transport, started)
    if status["type"] != "complete":
        return show(status.get("error") or status["type"])
    finish = {"adminKey": transport.admin_key, "startPush": started, "dryRun": False}
    transport.administer("/api/deploy2/finish_push", finish)
    return None


def _schema_status(transport: Transport, started: Mapping[str, Any]) -> dict[str, Any]:
    body = {"adminKey": transport.admin_key, "schemaChange": started["schemaChange"], "dryRun": False}
    deadline = PATIENCE.now() + transport.clock.allow(PATIENCE_SECONDS)
    while True:
        status: dict[str, Any] = transport.administer("/api/deploy2/wait_for_schema", body)
        if status["type"] != "inProgress" or PATIENCE.now() > deadline:
            return status
        time.sleep(POLL_SECONDS)

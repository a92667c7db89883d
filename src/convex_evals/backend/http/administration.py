"""What the CLI and dashboards ask of a deployment, pushes included. Administrators only."""

import hashlib
from collections.abc import Callable
from typing import Final

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from convex_evals.backend.database import Database, Transaction, delete_tables
from convex_evals.backend.environment import CanonicalUrls, Destination, VariableChange, write_paused, write_url
from convex_evals.backend.errors import DeveloperError, RequestError
from convex_evals.backend.functions import SCHEDULED_JOBS, cancel_job, cancel_jobs, check_job_id, delete_jobs
from convex_evals.backend.http.bodies import FUNCTION_BODY_BYTES, Fields, json_response, read_encoded_json, read_json
from convex_evals.backend.http.clients import client_of, identify_admin, reads_structured_logs
from convex_evals.backend.identity import Authenticator
from convex_evals.backend.logs import Completion, FunctionLog
from convex_evals.backend.push import Pusher, PushRequest, VariableUpdates

SOURCE = "dashboard"
LONGEST_POLL_SECONDS: Final = 60.0

DESTINATIONS: dict[str, Destination] = {"convexCloud": "convexCloud", "convexSite": "convexSite"}


class Administration:
    def __init__(self, database: Database, authenticator: Authenticator) -> None:
        self._database = database
        self._authenticator = authenticator

    def routes(self) -> list[Route]:
        return [
            Route("/api/delete_tables", self._delete_tables, methods=["POST"]),
            Route("/api/cancel_job", self._cancel_job, methods=["POST"]),
            Route("/api/cancel_all_jobs", self._cancel_all_jobs, methods=["POST"]),
            Route("/api/delete_scheduled_functions_table", self._delete_jobs, methods=["POST"]),
            Route("/api/shapes2", self._shapes),
            Route("/api/get_indexes", self._get_indexes),
            Route("/api/v1/pause_deployment", self._pause, methods=["POST"]),
            Route("/api/v1/unpause_deployment", self._unpause, methods=["POST"]),
            Route("/api/v1/deployment_info", self._deployment_info),
        ]

    async def _delete_tables(self, request: Request) -> Response:
        fields = await self._read(request)
        names, namespace = fields.texts("tableNames"), _namespace(fields)
        return self._write(lambda transaction: delete_tables(transaction, namespace, names))

    async def _cancel_job(self, request: Request) -> Response:
        fields = await self._read(request)
        try:
            job_id, namespace = check_job_id(fields.text("id")), _namespace(fields)
        except DeveloperError as error:
            raise RequestError(400, "InvalidId", f"Invalid ID for table {SCHEDULED_JOBS}") from error
        return self._write(lambda transaction: cancel_job(transaction, namespace, job_id))

    async def _cancel_all_jobs(self, request: Request) -> Response:
        fields = await self._read(request)
        namespace, path = _namespace(fields), fields.optional_text("udfPath")
        start, end = fields.optional_number("startNextTs"), fields.optional_number("endNextTs")
        first, before = int(start or 0), None if end is None else int(end)
        return self._write(lambda transaction: cancel_jobs(transaction, namespace, path, first=first, before=before))

    async def _delete_jobs(self, request: Request) -> Response:
        namespace = _namespace(await self._read(request))
        return self._write(lambda transaction: delete_jobs(transaction, namespace))

    async def _shapes(self, request: Request) -> Response:
        """Shapes are guesses about documents; `Unknown` is always right."""
        await identify_admin(self._authenticator, request)
        catalog = self._database.begin().catalog(request.query_params.get("component", ""))
        return json_response({name: {"type": "Unknown"} for name in sorted(catalog.tables)})

    async def _get_indexes(self, request: Request) -> Response:
        await identify_admin(self._authenticator, request)
        catalog = self._database.begin().catalog(request.query_params.get("component_id", ""))
        indexes = [index for table in catalog.tables.values() for index in table.user_indexes]
        return json_response(
            {
                "indexes": [
                    {
                        "table": index.table,
                        "name": index.name,
                        "fields": index.spec.definition.get("fields", index.spec.definition),
                        "backfill": {"state": "in_progress" if index.pending else "done"},
                        "staged": index.spec.staged,
                    }
                    for index in indexes
                ]
            }
        )

    async def _pause(self, request: Request) -> Response:
        await identify_admin(self._authenticator, request)
        return self._write(lambda transaction: write_paused(transaction, True))

    async def _unpause(self, request: Request) -> Response:
        await identify_admin(self._authenticator, request)
        return self._write(lambda transaction: write_paused(transaction, False))

    async def _deployment_info(self, request: Request) -> Response:
        await identify_admin(self._authenticator, request)
        return json_response({"kind": "selfHosted"})

    async def _read(self, request: Request) -> Fields:
        await identify_admin(self._authenticator, request)
        return await read_json(request)

    def _write(self, work: Callable[[Transaction], object]) -> Response:
        """Cannot conflict, because nothing here awaits."""
        transaction = self._database.begin()
        work(transaction)
        self._database.commit(transaction, SOURCE)
        return Response()


def _namespace(fields: Fields) -> str:
    return fields.optional_text("componentId") or ""


class EnvironmentRoutes:
    def __init__(
        self, variables: VariableUpdates, urls: CanonicalUrls, database: Database, authenticator: Authenticator
    ) -> None:
        self._variables = variables
        self._urls = urls
        self._database = database
        self._authenticator = authenticator

    def routes(self) -> list[Route]:
        both = ("/api", "/api/v1")
        return [
            *(Route(f"{api}/update_environment_variables", self._update, methods=["POST"]) for api in both),
            *(Route(f"{api}/list_environment_variables", self._list) for api in both),
            *(Route(f"{api}/update_canonical_url", self._update_canonical_url, methods=["POST"]) for api in both),
            Route("/api/v1/get_canonical_urls", self._get_canonical_urls),
            Route("/api/check_admin_key", self._check_admin_key),
        ]

    async def _update(self, request: Request) -> Response:
        await identify_admin(self._authenticator, request)
        fields = await read_json(request)
        await self._variables.update([_change(item) for item in fields.items("changes")])
        return Response()

    async def _list(self, request: Request) -> Response:
        await identify_admin(self._authenticator, request)
        return json_response({"environmentVariables": self._variables.all()})

    async def _get_canonical_urls(self, request: Request) -> Response:
        await identify_admin(self._authenticator, request)
        urls = self._urls.overridden(self._database.begin())
        return json_response({"convexCloudUrl": urls.cloud, "convexSiteUrl": urls.site})

    async def _update_canonical_url(self, request: Request) -> Response:
        await identify_admin(self._authenticator, request)
        fields = await read_json(request)
        destination = DESTINATIONS.get(fields.text("requestDestination"))
        if destination is None:
            raise RequestError(400, "BadJsonBody", "requestDestination must be convexCloud or convexSite")
        transaction = self._database.begin()
        write_url(transaction, destination, fields.optional_text("url"))
        self._database.commit(transaction)
        return Response()

    async def _check_admin_key(self, request: Request) -> Response:
        await identify_admin(self._authenticator, request)
        return json_response({"success": True, "allowedOps": [], "isReadOnly": False})


def _change(item: Fields) -> VariableChange:
    return VariableChange(item.text("name"), item.optional_text("value"))


class FunctionLogs:
    def __init__(self, log: FunctionLog, authenticator: Authenticator) -> None:
        self._log = log
        self._authenticator = authenticator

    def routes(self) -> list[Route]:
        return [
            Route("/api/stream_function_logs", self._stream_function_logs),
            Route("/api/stream_udf_execution", self._stream_udf_execution),
        ]

    async def _stream_function_logs(self, request: Request) -> Response:
        await identify_admin(self._authenticator, request)
        structured = reads_structured_logs(client_of(request))
        page = await self._log.wait_after(_cursor(request), LONGEST_POLL_SECONDS)
        wanted = _request_id(request)
        entries = [entry for entry in page.entries if wanted in (None, entry.request_id)]
        return json_response({"entries": [entry.to_json(structured) for entry in entries], "newCursor": page.cursor})

    async def _stream_udf_execution(self, request: Request) -> Response:
        """Only completed executions, with their log lines as strings."""
        await identify_admin(self._authenticator, request)
        page = await self._log.wait_after(_cursor(request), LONGEST_POLL_SECONDS)
        ends = [entry.to_json(structured=False) for entry in page.entries if isinstance(entry, Completion)]
        return json_response({"entries": ends, "newCursor": page.cursor})


def _cursor(request: Request) -> float:
    text = request.query_params.get("cursor")
    try:
        if text is None:
            raise ValueError("missing field `cursor`")
        return float(text)
    except ValueError as error:
        raise RequestError(400, "BadQueryArgs", f"Failed to deserialize query string: {error}") from error


def _request_id(request: Request) -> str | None:
    """WebSocket clients can ask for the entries of one of their requests."""
    session, counter = request.query_params.get("sessionId"), request.query_params.get("clientRequestCounter")
    if session is None or counter is None:
        return None
    return hashlib.sha256(f"{session}|{counter}".encode()).hexdigest()[:16]


Json = dict[str, object]


class DeployRoutes:
    def __init__(self, pusher: Pusher, authenticator: Authenticator) -> None:
        self._pusher = pusher
        self._authenticator = authenticator

    def routes(self) -> list[Route]:
        return [
            Route("/api/get_config_hashes", self._get_config_hashes, methods=["POST"]),
            Route("/api/deploy2/start_push", self._start_push, methods=["POST"]),
            Route("/api/deploy2/evaluate_push", self._evaluate_push, methods=["POST"]),
            Route("/api/deploy2/wait_for_schema", self._wait_for_schema, methods=["POST"]),
            Route("/api/deploy2/finish_push", self._finish_push, methods=["POST"]),
            Route("/api/deploy2/report_push_completed", self._report_push_completed, methods=["POST"]),
        ]

    async def _get_config_hashes(self, request: Request) -> Response:
        await self._read(request)
        return json_response(self._pusher.config_hashes())

    async def _start_push(self, request: Request) -> Response:
        return json_response(await self._pusher.start(PushRequest.parse(await self._read(request))))

    async def _evaluate_push(self, request: Request) -> Response:
        return json_response(await self._pusher.evaluate(PushRequest.parse(await self._read(request))))

    async def _wait_for_schema(self, request: Request) -> Response:
        body = await self._read(request)
        return json_response(await self._pusher.schema_status(body.get("schemaChange")))

    async def _finish_push(self, request: Request) -> Response:
        body = await self._read(request)
        return json_response(await self._pusher.finish(body.get("startPush"), dry_run=body.get("dryRun") is True))

    async def _report_push_completed(self, request: Request) -> Response:
        """Accepts the timings that a hosted deployment would keep."""
        await self._read(request)
        return json_response(None)

    async def _read(self, request: Request) -> Json:
        """The body of an administrator's request. The key is in the header, in the body, or in both."""
        if "authorization" in request.headers:
            await identify_admin(self._authenticator, request)
            return await read_encoded_json(request)
        body = await read_encoded_json(request, FUNCTION_BODY_BYTES)  # the limit for everyone, until the key is known
        key = body.get("adminKey")
        await identify_admin(self._authenticator, request, key if isinstance(key, str) else None)
        return body

"""What dashboards ask an administrator's deployment to do."""

from collections.abc import Callable

import orjson
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from convex_evals.backend.database import Bound, Database, Transaction, delete_tables
from convex_evals.backend.environment import write_paused
from convex_evals.backend.errors import DeveloperError, RequestError
from convex_evals.backend.functions import SCHEDULED_JOBS, cancel_job, check_job_id
from convex_evals.backend.http.bodies import Fields, read_json
from convex_evals.backend.http.identities import identify_admin
from convex_evals.backend.identity import Authenticator

SOURCE = "dashboard"


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
        lower = Bound(0 if start is None else int(start), included=True)
        upper = None if end is None else Bound(int(end), included=False)

        def cancel_all(transaction: Transaction) -> None:
            for row in transaction.system.scan(namespace, SCHEDULED_JOBS, "by_next_ts", lower=lower, upper=upper):
                if path in (None, row.value["udfPath"]):
                    cancel_job(transaction, namespace, row.id)

        return self._write(cancel_all)

    async def _delete_jobs(self, request: Request) -> Response:
        namespace = _namespace(await self._read(request))

        def delete_all(transaction: Transaction) -> None:
            for row in transaction.system.scan(namespace, SCHEDULED_JOBS):
                transaction.system.delete(namespace, SCHEDULED_JOBS, row.id)

        return self._write(delete_all)

    async def _shapes(self, request: Request) -> Response:
        """Shapes are guesses about documents; "anything" is always right."""
        await identify_admin(self._authenticator, request)
        catalog = self._database.begin().catalog(request.query_params.get("component", ""))
        return _json({name: {"type": "Unknown"} for name in sorted(catalog.tables)})

    async def _get_indexes(self, request: Request) -> Response:
        await identify_admin(self._authenticator, request)
        catalog = self._database.begin().catalog(request.query_params.get("component_id", ""))
        indexes = [index for table in catalog.tables.values() for index in table.user_indexes]
        return _json(
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
        return _json({"kind": "selfHosted"})

    async def _read(self, request: Request) -> Fields:
        await identify_admin(self._authenticator, request)
        return await read_json(request)

    def _write(self, work: Callable[[Transaction], object]) -> Response:
        """Nothing can come between, because nothing here waits."""
        transaction = self._database.begin()
        work(transaction)
        self._database.commit(transaction, SOURCE)
        return Response()


def _namespace(fields: Fields) -> str:
    return fields.optional_text("componentId") or ""


def _json(content: object) -> Response:
    return Response(orjson.dumps(content), media_type="application/json")

"""`/api/run_test_function`: a query that comes with its code. Administrators only."""

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from convex_evals.backend.deployed import FunctionPath, Module
from convex_evals.backend.functions import Call, InlineQueries
from convex_evals.backend.http.bodies import Fields, read_json
from convex_evals.backend.http.client_version import chosen_format, client_of
from convex_evals.backend.http.function_calls import body_of
from convex_evals.backend.http.identities import identify_admin
from convex_evals.backend.identity import Authenticator
from convex_evals.backend.push.paths import canonical_module_path


class InlineQueryRoutes:
    def __init__(self, queries: InlineQueries, authenticator: Authenticator) -> None:
        self._queries = queries
        self._authenticator = authenticator

    def routes(self) -> list[Route]:
        return [Route("/api/run_test_function", self._run, methods=["POST"])]

    async def _run(self, request: Request) -> Response:
        fields = await read_json(request)
        identity = await identify_admin(self._authenticator, request, fields.optional_text("adminKey"))
        form = chosen_format(fields.optional_text("format"), client_of(request))
        module = _module(fields.nested("bundle"))
        call = Call(
            FunctionPath(module.path, "default"),
            fields.anything("args"),
            identity=identity,
            caller="Tester",
            request_id=request.headers.get("convex-request-id", ""),
        )
        outcome = await self._queries.run(call, module, fields.optional_text("componentId") or "")
        return Response(body_of(outcome, form), media_type="application/json")


def _module(bundle: Fields) -> Module:
    path = canonical_module_path(bundle.text("path"))
    return Module(path, bundle.text("source"), bundle.optional_text("sourceMap"), "isolate")

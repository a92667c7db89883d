"""Environment variables and addresses of the deployment, for administrators."""

import orjson
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from convex_evals.backend.database import Database
from convex_evals.backend.environment import CanonicalUrls, Destination, VariableChange, write_url
from convex_evals.backend.errors import RequestError
from convex_evals.backend.http.bodies import Fields, read_json
from convex_evals.backend.http.identities import identify_admin
from convex_evals.backend.identity import Authenticator
from convex_evals.backend.push import VariableUpdates

DESTINATIONS: dict[str, Destination] = {"convexCloud": "convexCloud", "convexSite": "convexSite"}


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
        return _json({"environmentVariables": self._variables.all()})

    async def _get_canonical_urls(self, request: Request) -> Response:
        await identify_admin(self._authenticator, request)
        urls = self._urls.overridden(self._database.begin())
        return _json({"convexCloudUrl": urls.cloud, "convexSiteUrl": urls.site})

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
        return _json({"success": True, "allowedOps": [], "isReadOnly": False})


def _change(item: Fields) -> VariableChange:
    return VariableChange(item.text("name"), item.optional_text("value"))


def _json(content: object) -> Response:
    return Response(orjson.dumps(content), media_type="application/json")

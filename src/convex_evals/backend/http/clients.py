"""Who sent a request, with which client, and under which URL."""

import re
from dataclasses import dataclass

from starlette.datastructures import Headers
from starlette.requests import Request

from convex_evals.backend.errors import RequestError
from convex_evals.backend.identity import Anonymous, Authenticator, Identity, require_admin
from convex_evals.backend.values import Format, parse_format

SEMVER = re.compile(r"(\d+)\.(\d+)\.(\d+)(?:-[0-9A-Za-z.-]+)?(?:\+[0-9A-Za-z.-]+)?")
FIRST_WITH_CHUNKS = (1, 28, 0)

CLEAN_VALUES_SINCE = {"npm": (1, 4, 1), "python": (0, 5, 0), "python-convex": (0, 5, 0)}
STRUCTURED_LOG_READERS = frozenset({"npm-cli", "dashboard"})
SCHEMES = ("http", "https")
_PROTO = re.compile(r'(?:^|[;,\s])proto="?([a-z]+)', re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class ClientVersion:
    name: str = "unknown"
    number: tuple[int, int, int] = (0, 0, 0)

    @classmethod
    def of_path(cls, version: str) -> "ClientVersion":
        """npm clients put their version into the path: `/api/1.44.0/sync`."""
        return cls("npm", _number(version))

    @classmethod
    def of_header(cls, value: str | None) -> "ClientVersion":
        """Others send `Convex-Client: python-0.8.1`. The longest suffix that is a version wins."""
        header = value or ""
        for dash in re.finditer("-", header):
            version = header[dash.end() :]
            if SEMVER.fullmatch(version):
                return cls(header[: dash.start()].lower(), _number(version))
        return cls()

    @property
    def joins_chunks(self) -> bool:
        return self.name == "npm" and self.number >= FIRST_WITH_CHUNKS


def _number(version: str) -> tuple[int, int, int]:
    match = SEMVER.fullmatch(version)
    return (int(match[1]), int(match[2]), int(match[3])) if match else (0, 0, 0)


def client_of(request: Request) -> ClientVersion:
    header = request.headers.get("convex-client")
    if header is not None and "-" not in header:
        raise RequestError(400, "InvalidClientVersion", f"Could not parse the Convex-Client header: {header}")
    return ClientVersion.of_header(header)


def chosen_format(name: str | None, client: ClientVersion) -> Format:
    """Clients too old to name a format expect the encoded one."""
    if name is not None:
        return parse_format(name)
    since = CLEAN_VALUES_SINCE.get(client.name)
    return "convex_encoded_json" if since is not None and client.number < since else "json"


def reads_structured_logs(client: ClientVersion) -> bool:
    return client.name in STRUCTURED_LOG_READERS


async def identify(authenticator: Authenticator, request: Request) -> Identity:
    return await authenticator.authenticate(request.headers.get("authorization"))


async def identify_admin(authenticator: Authenticator, request: Request, key: str | None = None) -> Identity:
    """Refuses everyone but administrators. `key` comes from the body and counts only without the header."""
    if key is not None and "authorization" not in request.headers:
        identity: Identity = authenticator.admin(key)
    else:
        identity = await identify(authenticator, request)
    require_admin(identity)
    return identity


async def identify_for_http_action(authenticator: Authenticator, request: Request) -> Identity:
    """Refuses nobody: with an invalid header, `getUserIdentity` throws when the action calls it."""
    try:
        return await authenticator.authenticate(request.headers.get("authorization"))
    except RequestError as error:
        return Anonymous(auth_error=error.message)


def scheme_of(headers: Headers) -> str:
    """From `X-Forwarded-Proto`, else from `Forwarded`; the first proxy, nearest to the client, counts."""
    told = headers.get("x-forwarded-proto")
    if told is None:
        found = _PROTO.search(headers.get("forwarded", "").partition(",")[0])
        told = found[1] if found else ""
    scheme = told.partition(",")[0].strip().lower()
    return scheme if scheme in SCHEMES else "http"

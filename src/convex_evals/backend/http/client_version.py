"""What the `Convex-Client` header decides: the default value format and the shape of log lines."""

from starlette.requests import Request

from convex_evals.backend.errors import RequestError
from convex_evals.backend.sync.client_version import ClientVersion
from convex_evals.backend.values import Format, parse_format

CLEAN_VALUES_SINCE = {"npm": (1, 4, 1), "python": (0, 5, 0), "python-convex": (0, 5, 0)}
STRUCTURED_LOG_READERS = frozenset({"npm-cli", "dashboard"})


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

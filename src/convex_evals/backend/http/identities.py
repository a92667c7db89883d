"""Who sent a request."""

from starlette.requests import Request

from convex_evals.backend.errors import RequestError
from convex_evals.backend.identity import Anonymous, Authenticator, Identity, require_admin


async def identify(authenticator: Authenticator, request: Request) -> Identity:
    return await authenticator.authenticate(request.headers.get("authorization"))


async def identify_admin(authenticator: Authenticator, request: Request, key: str | None = None) -> Identity:
    """Refuses everybody but administrators. `key` is that of the body, which counts when there is no header."""
    if key is not None and "authorization" not in request.headers:
        identity: Identity = authenticator.admin(key)
    else:
        identity = await identify(authenticator, request)
    require_admin(identity)
    return identity


async def identify_for_http_action(authenticator: Authenticator, request: Request) -> Identity:
    """Refuses nobody: after a header that proves nothing, `getUserIdentity` throws when the action asks for it."""
    try:
        return await authenticator.authenticate(request.headers.get("authorization"))
    except RequestError as error:
        return Anonymous(auth_error=error.message)

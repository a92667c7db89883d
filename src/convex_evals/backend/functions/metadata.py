"""Syscalls about the call itself: who calls, what runs, where. The same in transactions and in actions."""

from collections.abc import Mapping

import orjson

from convex_evals.backend.errors import DeveloperError
from convex_evals.backend.functions.addresses import AddressBook
from convex_evals.backend.functions.handles import SCHEME, handle_of
from convex_evals.backend.functions.host import Host
from convex_evals.backend.functions.targets import Target, find
from convex_evals.backend.functions.types import Call
from convex_evals.backend.identity import Anonymous, Identity, user_of

MOST_AUDITED_BYTES = 4_000_000


def function_metadata(target: Target) -> str:
    return _json({"name": target.path.stripped, "componentPath": target.path.component})


def deployment_metadata(host: Host) -> str:
    return _json({"name": host.instance_name, "region": None, "class": "s16"})


def request_metadata(call: Call) -> str:
    user = user_of(call.identity)
    return _json(
        {
            "ip": call.ip,
            "userAgent": call.user_agent,
            "requestId": call.request_id,
            "scheduledFunctionId": call.scheduled_job.id if call.scheduled_job else None,
            "authToken": user.token if user else None,
        }
    )


def user_identity(identity: Identity) -> str:
    if isinstance(identity, Anonymous) and identity.auth_error is not None:
        raise DeveloperError(identity.auth_error)
    user = user_of(identity)
    return _json(None if user is None else user.attributes)


def component_argument(target: Target) -> str:
    """A mechanism of old: mounted components have environment variables now, and never arguments."""
    if target.path.component == "":
        raise DeveloperError("Component arguments are not available within the app")
    return "{}"


def create_handle(host: Host, caller: Target, args: Mapping[str, object]) -> str:
    given = args.get("functionHandle")
    if isinstance(given, str):
        if not given.startswith(SCHEME):
            raise DeveloperError("Function handle not found")
        return _json(given)
    path = AddressBook(caller.application, host.handles, caller.path.component).resolve(args, "createFunctionHandle")
    target = find(caller.application, path)
    if target is None:
        raise DeveloperError("Function handle not found")
    return _json(handle_of(target.instance.id, path))


def _json(value: object) -> str:
    return orjson.dumps(value).decode()

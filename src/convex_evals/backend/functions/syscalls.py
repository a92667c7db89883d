"""What syscalls of transactions and of actions share: reading arguments, replying, and facts about the call itself."""

from collections.abc import Awaitable, Mapping, Sequence
from dataclasses import replace

import orjson

from convex_evals.backend.deployed import FunctionPath
from convex_evals.backend.errors import ConvexError, DeveloperError
from convex_evals.backend.functions.calls import Call, Finished
from convex_evals.backend.functions.host import Host
from convex_evals.backend.functions.targets import SCHEME, AddressBook, Target, find_target, handle_of
from convex_evals.backend.identity import Anonymous, Identity, user_of
from convex_evals.backend.runtime import LogLine, SyscallReply

NULL = "null"


def parse_args(text: str) -> dict[str, object]:
    try:
        json = orjson.loads(text)
    except orjson.JSONDecodeError as error:
        raise DeveloperError(f"Received invalid json: {error}") from error
    return json if isinstance(json, dict) else {}


def dump_json(value: object) -> str:
    return orjson.dumps(value).decode()


class SyscallArgs:
    """`method` is what user code called: `db.get`."""

    def __init__(self, json: Mapping[str, object], method: str) -> None:
        self.json = json
        self.method = method

    def required(self, name: str) -> object:
        if name not in self.json:
            raise self.invalid(f"missing field `{name}`")
        return self.json[name]

    def text(self, name: str) -> str:
        return self._text(self.required(name))

    def optional_text(self, name: str) -> str | None:
        value = self.json.get(name)
        return None if value is None else self._text(value)

    def integer(self, name: str) -> int:
        return self._integer(self.required(name))

    def number(self, name: str) -> float:
        return self._number(self.required(name))

    def optional_number(self, name: str) -> float | None:
        value = self.json.get(name)
        return None if value is None else self._number(value)

    def mapping(self, name: str) -> dict[str, object]:
        value = self.required(name)
        if not isinstance(value, dict):
            raise self.invalid_argument(name, "Value must be an Object")
        return value

    def flag(self, name: str) -> bool:
        return bool(self.json.get(name, False))

    def invalid(self, cause: str) -> DeveloperError:
        return DeveloperError(f"Invalid arguments for `{self.method}`: {cause}")

    def invalid_argument(self, name: str, cause: str) -> DeveloperError:
        return DeveloperError(f"Invalid argument `{name}` for `{self.method}`: {cause}")

    def _text(self, value: object) -> str:
        if not isinstance(value, str):
            raise self.invalid(f"invalid type: {_describe(value)}, expected a string")
        return value

    def _number(self, value: object) -> float:
        if isinstance(value, bool) or not isinstance(value, int | float):
            raise self.invalid(f"invalid type: {_describe(value)}, expected f64")
        return float(value)

    def _integer(self, value: object) -> int:
        if isinstance(value, bool) or not isinstance(value, int | float) or value != int(value):
            raise self.invalid(f"invalid type: {_describe(value)}, expected an integer")
        return int(value)


def _describe(value: object) -> str:
    match value:
        case None:
            return "null"
        case bool():
            return f"boolean `{str(value).lower()}`"
        case int():
            return f"integer `{value}`"
        case float():
            return f"floating point `{value}`"
        case str():
            return f"string {orjson.dumps(value).decode()}"
        case list():
            return "sequence"
        case _:
            return "map"


async def reply_to(answer: Awaitable[str | SyscallReply]) -> SyscallReply:
    """What user code gets: the result, or the developer error that it may catch."""
    try:
        result = await answer
    except DeveloperError as error:
        return refused(error)
    return SyscallReply(result) if isinstance(result, str) else result


def refused(error: DeveloperError) -> SyscallReply:
    data = error.data if isinstance(error, ConvexError) else None
    return SyscallReply(error=error.message, error_data=data)


def reply_of(finished: Finished, path: FunctionPath) -> SyscallReply:
    """How a call ends for the function that made it: a failure keeps its text and frames, and its data."""
    lines = tagged(finished.log_lines, path)
    if finished.failure is None:
        return SyscallReply(finished.returned.text if finished.returned else NULL, log_lines=lines)
    failure = finished.failure
    return SyscallReply(error=failure.message, error_data=failure.data, log_lines=lines, fatal=not finished.catchable)


def tagged(lines: Sequence[LogLine], path: FunctionPath) -> Sequence[LogLine]:
    """Lines that come out of a component say where they come from."""
    if not path.component:
        return lines
    return [
        line
        if line.component_path is not None
        else replace(line, component_path=path.component, udf_path=path.stripped)
        for line in lines
    ]


def function_metadata(target: Target) -> str:
    return dump_json({"name": target.path.stripped, "componentPath": target.path.component})


def deployment_metadata(host: Host) -> str:
    return dump_json({"name": host.instance_name, "region": None, "class": "s16"})


def request_metadata(call: Call) -> str:
    user = user_of(call.identity)
    return dump_json(
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
    return dump_json(None if user is None else user.attributes)


def component_argument(target: Target) -> str:
    """Obsolete: components now have environment variables instead of arguments."""
    if target.path.component == "":
        raise DeveloperError("Component arguments are not available within the app")
    return "{}"


def create_handle(host: Host, caller: Target, args: Mapping[str, object]) -> str:
    given = args.get("functionHandle")
    if isinstance(given, str):
        if not given.startswith(SCHEME):
            raise DeveloperError("Function handle not found")
        return dump_json(given)
    path = AddressBook(caller.application, host.handles, caller.path.component).resolve(args, "createFunctionHandle")
    target = find_target(caller.application, path)
    if target is None:
        raise DeveloperError("Function handle not found")
    return dump_json(handle_of(target.instance.id, path))

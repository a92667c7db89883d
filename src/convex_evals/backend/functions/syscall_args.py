"""The arguments of a syscall, read field by field, with the texts that wrong ones get."""

from collections.abc import Mapping

import orjson

from convex_evals.backend.errors import DeveloperError


def parse_args(text: str) -> dict[str, object]:
    try:
        json = orjson.loads(text)
    except orjson.JSONDecodeError as error:
        raise DeveloperError(f"Received invalid json: {error}") from error
    return json if isinstance(json, dict) else {}


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

    def optional_integer(self, name: str) -> int | None:
        value = self.json.get(name)
        return None if value is None else self._integer(value)

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

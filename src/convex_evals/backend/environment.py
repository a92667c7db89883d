"""Environment variables that users set, kept in `_environment_variables` of the app's namespace."""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Final

from convex_evals.backend.database import Transaction
from convex_evals.backend.errors import RequestError

TABLE: Final = "_environment_variables"
NAME: Final = re.compile(r"[a-zA-Z_]+[a-zA-Z0-9_]*")
MAX_NAME_BYTES: Final = 256
MAX_VALUE_BYTES: Final = 8192
MAX_VARIABLES: Final = 512
MAX_TOTAL_BYTES: Final = 512 * 1024
BUILT_IN: Final = ("CONVEX_CLOUD_URL", "CONVEX_SITE_URL")


@dataclass(frozen=True, slots=True)
class VariableChange:
    """A variable to be set, or with no value to be deleted."""

    name: str
    value: str | None


def read_variables(transaction: Transaction) -> dict[str, str]:
    """Everything users set, by name in ascending order."""
    rows = transaction.system.scan("", TABLE, "by_name")
    return {str(row.value["name"]): str(row.value["value"]) for row in rows}


def changed(variables: Mapping[str, str], changes: Iterable[VariableChange]) -> dict[str, str]:
    """`variables` after `changes`: deletions first, then the rest. Raises RequestError when a rule is broken."""
    changes = list(changes)
    for change in changes:
        _check(change)
    removed = {change.name for change in changes if change.value is None}
    result = {name: value for name, value in variables.items() if name not in removed}
    result |= {change.name: change.value for change in changes if change.value is not None}
    _check_totals(result)
    return dict(sorted(result.items()))


def write_variables(transaction: Transaction, variables: Mapping[str, str]) -> None:
    """Makes the table hold exactly `variables`, touching only rows that differ."""
    rows = {str(row.value["name"]): row for row in transaction.system.scan("", TABLE, "by_name")}
    for name in rows.keys() - variables.keys():
        transaction.system.delete("", TABLE, rows[name].id)
    for name, value in variables.items():
        fields = {"name": name, "value": value}
        if name not in rows:
            transaction.system.insert("", TABLE, fields)
        elif rows[name].value["value"] != value:
            transaction.system.replace("", TABLE, rows[name].id, fields)


def _check(change: VariableChange) -> None:
    if change.name in BUILT_IN:
        raise _refused(
            "EnvVarNameForbidden",
            f'Environment variable with name "{change.name}" is built-in and cannot be overridden',
        )
    if len(change.name.encode()) > MAX_NAME_BYTES:
        raise _refused(
            "EnvironmentVariableNameTooLong",
            f"The environment variable name {change.name} is too long. "
            f"Environment variable names must be less than {MAX_NAME_BYTES}.",
        )
    if NAME.fullmatch(change.name) is None:
        raise _refused(
            "EnvironmentVariableNameInvalid",
            f"The environment variable name {change.name} is invalid. Environment variable names must begin with a "
            "letter and may only include characters a-z, A-Z, 0-9, and underscores.",
        )
    size = len((change.value or "").encode())
    if size > MAX_VALUE_BYTES:
        raise _refused(
            "EnvironmentVariableValueTooLarge",
            f"The environment variable value is {size} bytes, which is too large. (max size: {MAX_VALUE_BYTES}",
        )


def _check_totals(variables: Mapping[str, str]) -> None:
    if len(variables) > MAX_VARIABLES:
        raise _refused("EnvVarLimitMet", f"The environment variable limit ({MAX_VARIABLES}) has been met.")
    total = sum(len(name.encode()) + len(value.encode()) for name, value in variables.items())
    if total > MAX_TOTAL_BYTES:
        raise _refused(
            "EnvVarTotalSizeLimitMet",
            f"The total size of all environment variables ({total} bytes) exceeds the limit ({MAX_TOTAL_BYTES} bytes).",
        )


def _refused(code: str, message: str) -> RequestError:
    return RequestError(400, code, message)

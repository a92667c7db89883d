"""What every execution depends on: environment variables that users set, the deployment's URLs, whether it is paused.

They are rows, so changing one runs again whatever depends on it.
"""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Final, Literal

from convex_evals.backend import limits
from convex_evals.backend.database import Transaction
from convex_evals.backend.deployed import ComponentInstance
from convex_evals.backend.errors import DeveloperError, RequestError

VARIABLES: Final = "_environment_variables"
NAME: Final = re.compile(r"[a-zA-Z_]+[a-zA-Z0-9_]*")
BUILT_IN: Final = ("CONVEX_CLOUD_URL", "CONVEX_SITE_URL")

URLS: Final = "_canonical_urls"

Destination = Literal["convexCloud", "convexSite"]

_PAUSED = (
    "Cannot run functions while this deployment is paused. Resume the deployment in the dashboard settings to allow "
    "functions to run."
)


@dataclass(frozen=True, slots=True)
class VariableChange:
    """A variable to be set, or with no value to be deleted."""

    name: str
    value: str | None


def read_variables(transaction: Transaction) -> dict[str, str]:
    """Everything users set, by name in ascending order."""
    rows = transaction.system.scan("", VARIABLES, "by_name")
    return {str(row.value["name"]): str(row.value["value"]) for row in rows}


def apply_changes(variables: Mapping[str, str], changes: Iterable[VariableChange]) -> dict[str, str]:
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
    rows = {str(row.value["name"]): row for row in transaction.system.scan("", VARIABLES, "by_name")}
    for name in rows.keys() - variables.keys():
        transaction.system.delete("", VARIABLES, rows[name].id)
    for name, value in variables.items():
        fields = {"name": name, "value": value}
        if name not in rows:
            transaction.system.insert("", VARIABLES, fields)
        elif rows[name].value["value"] != value:
            transaction.system.replace("", VARIABLES, rows[name].id, fields)


def _check(change: VariableChange) -> None:
    if change.name in BUILT_IN:
        raise _refused(
            "EnvVarNameForbidden",
            f'Environment variable with name "{change.name}" is built-in and cannot be overridden',
        )
    if len(change.name.encode()) > limits.MAX_VARIABLE_NAME_BYTES:
        raise limits.variable_name_too_long(change.name)
    if NAME.fullmatch(change.name) is None:
        raise _refused(
            "EnvironmentVariableNameInvalid",
            f"The environment variable name {change.name} is invalid. Environment variable names must begin with a "
            "letter and may only include characters a-z, A-Z, 0-9, and underscores.",
        )
    size = len((change.value or "").encode())
    if size > limits.MAX_VARIABLE_BYTES:
        raise limits.variable_too_large(size)


def _check_totals(variables: Mapping[str, str]) -> None:
    if len(variables) > limits.MAX_VARIABLES:
        raise limits.too_many_variables()
    total = sum(len(name.encode()) + len(value.encode()) for name, value in variables.items())
    if total > limits.MAX_VARIABLES_BYTES:
        raise limits.variables_too_large(total)


def _refused(code: str, message: str) -> RequestError:
    return RequestError(400, code, message)


@dataclass(frozen=True, slots=True)
class CanonicalUrls:
    """Origins without a trailing slash; `CONVEX_CLOUD_URL` and `CONVEX_SITE_URL` of every function."""

    cloud: str
    site: str

    @property
    def variables(self) -> dict[str, str]:
        return {"CONVEX_CLOUD_URL": self.cloud, "CONVEX_SITE_URL": self.site}

    def overridden(self, transaction: Transaction) -> "CanonicalUrls":
        """These addresses, or the ones stored in their place."""
        rows = transaction.system.scan("", URLS)
        stored = {row.value["requestDestination"]: str(row.value["url"]) for row in rows}
        return replace(self, cloud=stored.get("convexCloud", self.cloud), site=stored.get("convexSite", self.site))


def write_url(transaction: Transaction, destination: Destination, url: str | None) -> None:
    """Without a url the deployment's own address counts again."""
    for row in transaction.system.scan("", URLS, "by_request_destination", [destination]):
        transaction.system.delete("", URLS, row.id)
    if url is not None:
        transaction.system.insert("", URLS, {"requestDestination": destination, "url": url.rstrip("/")})


@dataclass(frozen=True, slots=True)
class DeploymentState:
    """`variables` are those that users set for the app; `urls` are where the deployment says it can be reached."""

    variables: dict[str, str]
    urls: CanonicalUrls
    paused: bool

    def check_running(self) -> None:
        if self.paused:
            raise DeveloperError(_PAUSED)

    def variables_of(self, instance: ComponentInstance) -> dict[str, str]:
        """The app sees everything that was set; a component only what it was given when it was mounted."""
        prefix = (instance.http_prefix or "").rstrip("/")
        built_in = replace(self.urls, site=self.urls.site + prefix).variables
        return built_in | (self.variables if instance.path == "" else _bound(instance, self.variables))


def read_state(transaction: Transaction, urls: CanonicalUrls) -> DeploymentState:
    """Also depends on the row that every push rewrites. `urls` are the deployment's own."""
    transaction.depend_on_push()
    return DeploymentState(
        variables=read_variables(transaction),
        urls=urls.overridden(transaction),
        paused=is_paused(transaction),
    )


def is_paused(transaction: Transaction) -> bool:
    return any(row.value.get("user") == "paused" for row in transaction.system.scan("", "_backend_state"))


def write_paused(transaction: Transaction, paused: bool) -> None:
    system = transaction.system
    for row in system.scan("", "_backend_state"):
        system.delete("", "_backend_state", row.id)
    user = "paused" if paused else "running"
    system.insert("", "_backend_state", {"system": "none", "usage_limit": "none", "user": user})


def _bound(instance: ComponentInstance, app_variables: Mapping[str, str]) -> dict[str, str]:
    bound: dict[str, str] = {}
    for name, binding in instance.env.items():
        match binding:
            case {"type": "value", "value": value}:
                bound[name] = value
            case {"type": "envVar", "name": source} if source in app_variables:
                bound[name] = app_variables[source]
    return bound

"""What `auth.config.js` and `schema.js` export."""

import re
from collections.abc import Mapping
from typing import cast
from urllib.parse import urlsplit

import orjson

from convex_evals.backend.errors import RequestError
from convex_evals.backend.push.errors import prefixed, refused, uncaught
from convex_evals.backend.push.facts import Exported, Json, Thrown
from convex_evals.backend.push.request import SCHEMA_PATH
from convex_evals.backend.schema import Schema

Provider = dict[str, object]

ALGORITHMS = ("RS256", "ES256")
DOMAIN_LABEL = re.compile(r"[a-z]{2,}")
LIST_EXPECTED = "auth config file must include a list of provider credentials: "

SCHEMA_PREFIX = "Hit an error while evaluating your schema:\n"
DOCUMENTATION = "To learn more, see the schema documentation at https://docs.convex.dev/database/schemas."


def parse_providers(exported: object) -> tuple[Provider, ...]:
    """`exported` is the default export after `JSON.stringify`. Raises RequestError (InvalidAuthConfig)."""
    try:
        if not isinstance(exported, Mapping) or not isinstance(exported.get("providers"), list):
            raise ValueError(f"{LIST_EXPECTED}missing field `providers`")
        return tuple(_parse_provider(index, item) for index, item in enumerate(exported["providers"]))
    except ValueError as error:
        raise invalid_auth_config(str(error)) from error


def invalid_auth_config(why: str) -> Exception:
    return refused("InvalidAuthConfig", f"The pushed auth config is invalid: {why}")


def missing_variable(name: str) -> Exception:
    """The CLI parses the variable's name out of this sentence."""
    return refused(
        "AuthConfigMissingEnvironmentVariable",
        f"Environment variable {name} is used in auth config file but its value was not set",
    )


def _parse_provider(index: int, item: object) -> Provider:
    where = f"{LIST_EXPECTED}Provider at index {index}"
    if not isinstance(item, Mapping):
        raise ValueError(f"{where} must be an object")
    match item.get("type"):
        case None | "oidc":
            return _parse_oidc(where, item)
        case "customJwt":
            return _parse_custom(where, item)
        case other:
            raise ValueError(f"{where} has unexpected 'type' value '{other}'")


def _parse_oidc(where: str, item: Mapping[str, object]) -> Provider:
    if "issuer" in item:
        raise ValueError(f"{where} is oidc so cannot have an 'issuer' specified.")
    if not isinstance(item.get("applicationID"), str):
        raise ValueError(
            f"{where} must have applicationID property spelled lowercase 'application', capital I, capital D."
        )
    return {"applicationID": item["applicationID"], "domain": _url(_text(where, item, "domain"))}


def _parse_custom(where: str, item: Mapping[str, object]) -> Provider:
    if "domain" in item:
        raise ValueError(f"{where} is a customJwt so cannot have a 'domain' specified")
    application = item.get("applicationID")
    if application is not None and not isinstance(application, str):
        raise ValueError(f"{where} must have a string as its applicationID")
    algorithm = _text(where, item, "algorithm")
    if algorithm not in ALGORITHMS:
        raise ValueError(f"{where} has unexpected 'algorithm' value '{algorithm}'")
    return {
        "type": "customJwt",
        "applicationID": application,
        "issuer": _url(_text(where, item, "issuer")),
        "jwks": _text(where, item, "jwks"),
        "algorithm": algorithm,
    }


def _text(where: str, item: Mapping[str, object], name: str) -> str:
    value = item.get(name)
    if not isinstance(value, str):
        raise ValueError(f"{where} is missing the string field '{name}'")
    return value


def _url(text: str) -> str:
    """With `https://` in front when no scheme was written."""
    url = text if "://" in text else f"https://{text}"
    parts = urlsplit(url)
    if parts.scheme not in ("http", "https"):
        raise ValueError(f'Invalid provider domain URL "{text}": the scheme must be http or https')
    if not parts.hostname:
        raise ValueError(f'Invalid provider domain URL "{text}": there is no host')
    if url != text and not _is_public_host(parts.hostname):
        raise ValueError(f'Invalid provider domain URL "{text}": the host has no known top-level domain')
    return url


def _is_public_host(host: str) -> bool:
    _, dot, label = host.rpartition(".")
    return host == "localhost" or (dot == "." and DOMAIN_LABEL.fullmatch(label) is not None)


def parse_schema(facts: Mapping[str, object], is_app: bool) -> Schema:
    """Raises RequestError. An exception has another code in a component than in the app."""
    try:
        return _parse_schema(facts, "Error" if is_app else "InvalidSchema")
    except RequestError as error:
        raise prefixed(SCHEMA_PREFIX, error, SCHEMA_PATH) from error


def _parse_schema(facts: Mapping[str, object], thrown_code: str) -> Schema:
    if "thrown" in facts:
        raise uncaught(Thrown.parse(cast(Json, facts["thrown"])), thrown_code)
    if not facts["exported"]:
        raise refused("MissingSchemaExportError", f"Schema file missing default export. {DOCUMENTATION}")
    exported = Exported.parse(cast("Json | None", facts["export"]))
    if exported.thrown is not None:
        raise uncaught(exported.thrown, thrown_code)
    if exported.text is None:
        raise refused("InvalidSchemaExport", f"Default export from schema file isn't a Convex schema. {DOCUMENTATION}")
    try:
        json = orjson.loads(exported.text)
    except orjson.JSONDecodeError as error:
        raise refused("InvalidSchema", f"The schema is not valid JSON: {error}") from error
    return Schema.parse(json)

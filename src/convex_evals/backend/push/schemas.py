"""The schema that `schema.js` exports."""

from collections.abc import Mapping
from typing import cast

import orjson

from convex_evals.backend.errors import RequestError
from convex_evals.backend.push.errors import prefixed, refused, uncaught
from convex_evals.backend.push.facts import Exported, Json, Thrown
from convex_evals.backend.push.modules import SCHEMA_PATH
from convex_evals.backend.schema import Schema

SCHEMA_PREFIX = "Hit an error while evaluating your schema:\n"
DOCUMENTATION = "To learn more, see the schema documentation at https://docs.convex.dev/database/schemas."


def parse_schema(facts: Mapping[str, object], is_app: bool) -> Schema:
    """Raises RequestError. An exception has another code in a component than in the app."""
    try:
        return _parse(facts, "Error" if is_app else "InvalidSchema")
    except RequestError as error:
        raise prefixed(SCHEMA_PREFIX, error, SCHEMA_PATH) from error


def _parse(facts: Mapping[str, object], thrown_code: str) -> Schema:
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

"""A push that must fail says why, exits with an error and leaves what was deployed alone.

The CLI prints what the deployment answers. So every case that reaches the deployment asks it over HTTP, which takes a
sixth of the time; examples, and exhaustively all cases, go through the CLI.
"""

from collections.abc import Callable
from typing import Any

import pytest
import pytest_asyncio
from tests.examples import examples

pytestmark = pytest.mark.asyncio(loop_scope="module")

GENERATED = 'import { query, mutation } from "./_generated/server";\nimport { v } from "convex/values";\n'
SCHEMA = (
    'import { defineSchema, defineTable } from "convex/server";\nimport { v } from "convex/values";\n'
    "export default defineSchema({ %s });\n"
)

CASES = {
    "a syntax error": (
        {"convex/messages.ts": "export const a = ;\n"},
        ["Unexpected"],
    ),
    "an exception at import": (
        {"convex/messages.ts": GENERATED + "\nfunction load() {\n  throw new Error('boom');\n}\nload();\n"},
        [
            "InvalidModules: Hit an error while pushing:\nLoading the pushed modules encountered the following\n"
            "    error:\nFailed to analyze messages.js: Uncaught Error: boom\n    at load (../convex/messages.ts:5:",
        ],
    ),
    "a Node built-in without use node": (
        {"convex/messages.ts": 'import fs from "fs";\nexport const a = fs;\n'},
        ['It looks like you are using Node APIs from a file without the "use node" directive.'],
    ),
    "a query in a Node file": (
        {
            "convex/messages.ts": '"use node";\n'
            + GENERATED
            + "export const a = query({ args: {}, handler: async () => 1 });\n"
        },
        ["`a` defined in `messages.js` is a Query function. Only actions can be defined in Node.js."],
    ),
    "a validator that does not exist": (
        {
            "convex/messages.ts": GENERATED
            + "export const a = query({ args: { x: (v as any).tuple([v.string()]) }, handler: async () => 1 });\n"
        },
        ["Failed to analyze messages.js: Uncaught TypeError: ", ".tuple is not a function"],
    ),
    "an undefined validator": (
        {
            "convex/messages.ts": GENERATED
            + "export const a = query({ args: { x: undefined as any }, handler: async () => 1 });\n"
        },
        [
            'Error: Hit an error while pushing:\nUncaught Error: A validator is undefined for field "x" in v.object(). '
            "This is often caused by circular imports.",
        ],
    ),
    "a default export of http that is no router": (
        {"convex/http.ts": "export default 1;\n"},
        ["The default export of `convex/http.js` is not a Router."],
    ),
    "no default export of http": (
        {"convex/http.ts": "export const a = 1;\n"},
        ["`convex/http.js` must have a default export of a Router."],
    ),
    "a route twice": (
        {
            "convex/http.ts": 'import { httpRouter } from "convex/server";\n'
            'import { httpAction } from "./_generated/server";\nconst http = httpRouter();\n'
            "const handler = httpAction(async () => new Response());\n"
            'http.route({ path: "/hi", method: "GET", handler });\n'
            'http.route({ path: "/hi", method: "GET", handler });\n'
            "export default http;\n"
        },
        ["Failed to analyze http.js: Uncaught Error: Path '/hi' for method GET already in use"],
    ),
    "a default export of crons that is none": (
        {"convex/crons.ts": "export default {};\n"},
        ["The default export of `convex/crons.js` is not a Crons object."],
    ),
    "a cron to a missing function": (
        {
            "convex/crons.ts": 'import { cronJobs, makeFunctionReference } from "convex/server";\n'
            "const crons = cronJobs();\n"
            'crons.interval("tidy", { hours: 1 }, makeFunctionReference<"mutation">("messages:nope"));\n'
            "export default crons;\n"
        },
        [
            "Error: Hit an error while pushing:\n"
            "The cron job 'tidy' schedules a function that does not exist: messages.js:nope"
        ],
    ),
    "a cron that never runs": (
        {
            "convex/crons.ts": 'import { cronJobs, makeFunctionReference } from "convex/server";\n'
            "const crons = cronJobs();\n"
            'crons.cron("tidy", "0 0 31 2 *", makeFunctionReference<"mutation">("kept:f"));\n'
            "export default crons;\n"
        },
        ['InvalidCron: Hit an error while pushing:\nThe cron spec "0 0 31 2 *" will never match any time'],
    ),
    "a cron with a bad interval": (
        {
            "convex/crons.ts": 'import { cronJobs, makeFunctionReference } from "convex/server";\n'
            "const crons = cronJobs();\n"
            'crons.interval("tidy", { seconds: 0 }, makeFunctionReference<"mutation">("kept:f"));\n'
            "export default crons;\n"
        },
        ["Failed to analyze crons.js: Uncaught Error: Interval must be an integer greater than 0"],
    ),
    "a schema without default export": (
        {"convex/schema.ts": "export const schema = 1;\n"},
        [
            "MissingSchemaExportError: Hit an error while pushing:\nHit an error while evaluating your schema:\n"
            "Schema file missing default export.",
        ],
    ),
    "a schema that is none": (
        {"convex/schema.ts": "export default { tables: {} };\n"},
        ["InvalidSchemaExport", "Default export from schema file isn't a Convex schema."],
    ),
    "a schema that throws": (
        {"convex/schema.ts": "throw new Error('no schema today');\nexport default {};\n"},
        ["Hit an error while evaluating your schema:\nUncaught Error: no schema today"],
    ),
    "a table with a bad name": (
        {"convex/schema.ts": SCHEMA % '"1x": defineTable({ a: v.string() })'},
        ['Invalid table name: "1x".'],
    ),
    "an index over a missing field": (
        {"convex/schema.ts": SCHEMA % 't: defineTable({ a: v.string() }).index("by_b", ["b" as any])'},
        ["SchemaDefinitionError", 'In table "t" the index "by_b" is invalid because it references the field'],
    ),
    "an index over the creation time": (
        {"convex/schema.ts": SCHEMA % 't: defineTable({ a: v.string() }).index("by_a", ["a", "_creationTime"])'},
        ["`_creationTime` is automatically added to the end of each index."],
    ),
    "a reserved index name": (
        {"convex/schema.ts": SCHEMA % 't: defineTable({ a: v.string() }).index("by_id", ["a"])'},
        ["IndexNameReserved"],
    ),
    "a file name that is no module path": (
        {"convex/foo-bar.ts": GENERATED + "export const a = query({ args: {}, handler: async () => 1 });\n"},
        [
            "InvalidConfig: foo-bar.js is not a valid path to a Convex module. Path component foo-bar.js can only "
            "contain alphanumeric characters, underscores, or periods.",
        ],
    ),
    "a function name that is no identifier": (
        {"convex/messages.ts": GENERATED + "export const $a = query({ args: {}, handler: async () => 1 });\n"},
        ["InvalidFunctionName", "Invalid function name used in `messages.js`: Invalid first character '$' in $a"],
    ),
    "an auth config with an unset variable": (
        {
            "convex/auth.config.ts": "const domain = process.env.ISSUER;\n"
            "export default { providers: [{ domain, applicationID: 'a' }] };\n"
        },
        ["Environment variable ISSUER is used in auth config file but its value was not set"],
    ),
    "an auth config without providers": (
        {"convex/auth.config.ts": "export default {};\n"},
        ["InvalidAuthConfig", "auth config file must include a list of provider credentials"],
    ),
    "a convex config that is none": (
        {"convex/convex.config.ts": "export default 1;\n"},
        ["InvalidDefinition", "(the default export is not an object)"],
    ),
    "an endless loop at import": (
        {"convex/messages.ts": "export const a = 1;\nwhile (true) {}\n"},
        ["Failed to analyze messages.js: Function execution timed out (maximum duration: 4s)"],
    ),
}

# What the CLI finds out itself, or makes a request of that only it can make.
NEVER_SENT = ("a syntax error", "a Node built-in without use node", "a convex config that is none")
SHOWN = (*NEVER_SENT, "an exception at import")
AT_ONCE = CASES.keys() - {"an endless loop at import"}

SERVER = """
export {
  httpActionGeneric as httpAction, mutationGeneric as mutation, queryGeneric as query
} from "convex/server";
"""
KEPT = {"convex/kept.ts": GENERATED + "export const f = mutation({ args: {}, handler: async () => 'still here' });\n"}


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def deployed(shared_project: Any) -> Any:
    """A project that was pushed once."""
    shared_project.write(KEPT)
    answer = await shared_project.push()
    assert answer.exit_code == 0, answer.output
    return shared_project


def bundled_sources(case: str) -> dict[str, str]:
    files = {name.removeprefix("convex/"): text for name, text in (KEPT | CASES[case][0]).items()}
    return files | {"_generated/server.ts": SERVER}


@pytest.mark.parametrize("case", examples([case for case in CASES if case not in NEVER_SENT], AT_ONCE))
async def test_the_deployment_answers_with_the_reason(
    deployed: Any, bundle: Callable[..., Any], http_push: Callable[..., Any], case: str
) -> None:
    deployment = deployed.deployment
    answer = await http_push(deployment.url, deployment.admin_key).start(bundle(bundled_sources(case)))
    assert answer.status_code == 400
    refusal = answer.json()
    for text in CASES[case][1]:
        assert text in f"{refusal['code']}: {refusal['message']}"
    assert (await deployed.deployment.mutation("kept:f")).value == '"still here"'


@pytest.mark.parametrize(
    "case", [case if case in SHOWN else pytest.param(case, marks=pytest.mark.exhaustive) for case in CASES]
)
async def test_the_cli_exits_with_the_reason(deployed: Any, case: str) -> None:
    files, texts = CASES[case]
    deployed.write(files)
    answer = await deployed.push()
    deployed.remove(*files)
    assert answer.exit_code == 1, answer.output
    for text in texts:
        assert text in answer.output
    outcome = await deployed.deployment.mutation("kept:f")
    assert outcome.value == '"still here"'


async def test_data_that_violates_a_new_schema_fails_the_push(deployed: Any) -> None:
    transaction = deployed.deployment.database.begin()
    transaction.insert("", "t", {"a": 1.0})
    deployed.deployment.database.commit(transaction)
    deployed.write({"convex/schema.ts": SCHEMA % "t: defineTable({ a: v.string() })"})
    answer = await deployed.push()
    deployed.remove("convex/schema.ts")
    assert answer.exit_code == 1
    assert "Schema validation failed." in answer.output
    assert 'in table "t" does not match the schema: Value does not match validator.' in answer.output
    assert "Path: .a\nValue: 1.0" in answer.output
    assert (await deployed.deployment.mutation("kept:f")).succeeded  # the old code, and no schema


async def test_a_wrong_admin_key_is_an_error(deployed: Any) -> None:
    answer = await deployed.push(admin_key="wrong")
    assert answer.exit_code == 1
    assert "The provided admin key was invalid for this instance" in answer.output

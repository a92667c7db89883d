from typing import Any

import pytest

from convex_evals.backend.deployed import FunctionPath
from convex_evals.backend.environment import write_paused, write_url, write_variables

System = Any

PAGE = {"paginationOpts": {"numItems": 10.0, "cursor": None}}

CONSTANTS: list[tuple[str, dict[str, Any], object]] = [
    ("frontend/listConfiguredSinks", {}, []),
    ("frontend/latestExport", {}, None),
    ("frontend/latestExport:latestCloudExport", {}, None),
    ("frontend/snapshotImport:list", {}, []),
    ("frontend/listDeploymentEventsFromTime", {"fromTimestamp": 0.0}, []),
    ("frontend/deploymentEvents:lastPushEvent", {}, None),
    ("frontend/node:version", {}, None),
    ("frontend/listAuthProviders", {}, []),
    ("cli/queryImport", {"importId": "x"}, None),
    ("cli/queryImport:list", {}, []),
    ("cli/exports:getLatest", {}, None),
    ("frontend/deploymentState:deploymentState", {}, {"state": "running"}),
    ("frontend/backendState:backendState", {}, {"system": "none", "usage_limit": "none", "user": "none"}),
    ("frontend/convexCloudUrl", {}, "http://cloud"),
    ("frontend/convexSiteUrl", {}, "http://site"),
    ("cli/convexUrl:cloudUrl", {}, "http://cloud"),
]


@pytest.mark.parametrize(("path", "args", "answer"), CONSTANTS)
async def test_a_fresh_deployment_says_so(system: System, path: str, args: dict[str, Any], answer: object) -> None:
    assert await system.call(path, **args) == answer


async def test_there_is_no_audit_log(system: System) -> None:
    events = await system.call("frontend/paginatedDeploymentEvents", filters={"minDate": 0.0}, **PAGE)
    assert (events["page"], events["isDone"]) == ([], True)


async def test_a_paused_deployment_is_shown_as_such(system: System) -> None:
    async def pause() -> None:
        transaction = system.database.begin()
        write_paused(transaction, True)
        system.database.commit(transaction)

    assert await system.is_reactive("frontend/deploymentState:deploymentState", pause)
    assert await system.call("frontend/deploymentState:deploymentState") == {"state": "paused"}
    assert (await system.call("frontend/backendState:backendState"))["user"] == "paused"


async def test_an_address_that_was_overridden_is_the_one_shown(system: System) -> None:
    transaction = system.database.begin()
    write_url(transaction, "convexCloud", "https://elsewhere.example/")
    system.database.commit(transaction)
    assert await system.call("frontend/convexCloudUrl") == "https://elsewhere.example"
    assert await system.call("frontend/convexSiteUrl") == "http://site"


async def test_auth_providers_are_shown_as_stored(deployed: System) -> None:
    oidc, custom = await deployed.call("frontend/listAuthProviders")
    assert oidc == {"applicationID": "convex", "domain": "https://b.example"}
    assert custom == {
        "type": "customJwt",
        "applicationID": None,
        "issuer": "https://a.example",
        "jwks": "data:",
        "algorithm": '"RS256"',
    }


async def test_unknown_functions_are_not_found(system: System) -> None:
    assert system.library.find(FunctionPath.parse("_system/frontend/nope")) is None


def set_variables(system: System, **variables: str) -> None:
    transaction = system.database.begin()
    write_variables(transaction, variables)
    system.database.commit(transaction)


@pytest.mark.parametrize("path", ["frontend/listEnvironmentVariables", "cli/queryEnvironmentVariables"])
async def test_variables_are_listed_by_name_without_the_built_in_ones(system: System, path: str) -> None:
    set_variables(system, B="2", A="1")
    listed = await system.call(path)
    assert [(row["name"], row["value"]) for row in listed] == [("A", "1"), ("B", "2")]
    assert all(row["_id"] and row["_creationTime"] for row in listed)


async def test_one_variable_is_found_built_in_ones_too(system: System) -> None:
    set_variables(system, A="1")
    get = "cli/queryEnvironmentVariables:get"
    assert await system.call(get, name="A") == {"name": "A", "value": "1"}
    assert await system.call(get, name="CONVEX_SITE_URL") == {"name": "CONVEX_SITE_URL", "value": "http://site"}
    assert await system.call(get, name="NOPE") is None


async def test_a_change_is_noticed(system: System) -> None:
    async def change() -> None:
        set_variables(system, A="2")

    assert await system.is_reactive("frontend/listEnvironmentVariables", change)

from typing import Any

import pytest

from convex_evals.backend.environment import write_variables

System = Any


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

"""What components see of the environment: what they were given when they were mounted."""

from typing import Any

import pytest

pytestmark = pytest.mark.asyncio(loop_scope="module")


async def test_every_instance_sees_its_own_bindings(local: Any) -> None:
    seen = await local.run("notes:environments")
    site, cloud = local.deployment.site_url, local.deployment.url
    common = {"undeclared": None, "cloud": cloud}
    assert seen == {
        "first": {
            **common,
            "owner": "first",
            "plan": "paid",
            "key": None,
            "site": f"{site}/first",
            "seenAtImport": "first",
        },
        "second": {
            **common,
            "owner": "second",
            "plan": "free",
            "key": "s3cret",
            "site": f"{site}/second",
            "seenAtImport": "second",
        },
        "inner": {
            **common,
            "owner": "inner",
            "plan": "paid",
            "key": "s3cret",
            "site": f"{site}/outer/inner",
            "seenAtImport": "inner",
        },
    }


async def test_a_binding_follows_the_variable_of_the_app(local: Any) -> None:
    subscribed = await local.deployment.query("notes:environments")
    for change in (["set", "API_KEY", "changed"], ["set", "PLAN", "free"]):
        answer = await local.convex("env", *change)
        assert answer.exit_code == 0, answer.output
    assert local.deployment.database.changed_since(subscribed.read_set, subscribed.ts)
    seen = await local.run("notes:environments")
    assert [seen[name]["key"] for name in ("first", "second", "inner")] == [None, "changed", "changed"]
    assert [seen[name]["plan"] for name in ("first", "second", "inner")] == ["free", "free", "free"]


async def test_an_optional_variable_can_be_removed_and_is_undefined_then(local: Any) -> None:
    answer = await local.convex("env", "remove", "API_KEY")
    assert answer.exit_code == 0, answer.output
    seen = await local.run("notes:environments")
    assert [seen[name]["key"] for name in ("second", "inner")] == [None, None]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["remove", "PLAN"], "PLAN is required"),
        (["set", "PLAN", "stolen"], '"stolen" is not one of "free" | "paid"'),
    ],
)
async def test_what_the_app_declares_stays_true(local: Any, arguments: list[str], message: str) -> None:
    answer = await local.convex("env", *arguments)
    assert answer.exit_code == 1
    assert message in answer.output

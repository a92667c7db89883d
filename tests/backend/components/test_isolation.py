"""Instances of one component share code and nothing else."""

from dataclasses import replace
from typing import Any

import pytest

from convex_evals.backend.functions.calls import Call
from convex_evals.backend.functions.targets import parse_path
from convex_evals.backend.identity import ADMIN, User
from convex_evals.backend.ids import DocumentId

pytestmark = pytest.mark.asyncio(loop_scope="module")

INSTANCES = ["notebook", "second", "outer/inner"]


async def test_each_instance_has_tables_of_its_own(local: Any) -> None:
    await local.run("notes:addEverywhere", text="a note")
    assert await local.run("notes:listEverywhere") == {
        "app": ["a note of the app"],
        "first": ["a note of the first"],
        "second": ["a note of the second"],
        "inner": ["a note of the inner"],
    }


async def test_ids_of_instances_look_alike_and_find_nothing_elsewhere(local: Any) -> None:
    ids = {instance: await local.run("public:add", instance, text=instance) for instance in INSTANCES}
    assert len({DocumentId.decode(id).table_number for id in ids.values()}) == 1
    for instance in INSTANCES:
        for owner, id in ids.items():
            expected = owner if owner == instance else None
            assert await local.run("public:get", instance, id=id) == expected
            assert await local.run("public:getById", instance, id=id) == expected


async def test_only_an_administrator_calls_into_components_from_outside(local: Any) -> None:
    call = Call(parse_path("public:list", "second"), {}, identity=User({"subject": "ada"}))
    assert (await local.deployment.functions.query(replace(call, identity=ADMIN))).failure is None
    outcome = await local.deployment.functions.query(call)
    assert outcome.failure.message.strip() == "Could not find public function for 'public:list' in 'second'."


async def test_an_unknown_component_is_reported_as_unknown(local: Any) -> None:
    message = await local.failure("public:list", "nowhere")
    assert message.startswith("Could not find function for 'public:list' in 'nowhere'.")


async def test_a_subscription_depends_on_what_components_read_for_it(local: Any) -> None:
    before = await local.deployment.query("notes:listEverywhere")
    own = await local.deployment.query("calls:jobs")
    await local.run("relay:add", "outer", text="news")
    changed_since = local.deployment.database.changed_since
    assert changed_since(before.read_set, before.ts)
    assert not changed_since(own.read_set, own.ts)


async def test_files_belong_to_the_instance_that_stored_them(local: Any) -> None:
    id = await local.run("files:store", "second", text="kept by the second")
    assert await local.run("files:read", "second", id=id) == "kept by the second"
    assert await local.run("files:sizes", "second") == [18.0]
    for other in ("notebook", "outer/inner"):
        assert await local.run("files:read", other, id=id) is None
        assert await local.run("files:url", other, id=id) is None
        assert await local.run("files:sizes", other) == []


async def test_a_file_of_a_component_is_uploaded_and_served(local: Any) -> None:
    upload = await local.run("files:uploadUrl", "outer/inner")
    posted = await local.http.post(upload, content=b"from outside", headers={"Content-Type": "text/plain"})
    id = posted.json()["storageId"]
    assert await local.run("files:read", "outer/inner", id=id) == "from outside"
    url = await local.run("files:url", "outer/inner", id=id)
    component = local.deployment.application.instances["outer/inner"].id
    assert url.endswith(f"?component={component}")
    assert (await local.http.get(url)).text == "from outside"
    assert (await local.http.get(url.partition("?")[0])).status_code == 404

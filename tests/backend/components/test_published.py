"""The published components that people use, each doing what it is for (`apps/published`)."""

import asyncio
from typing import Any

import pytest

pytestmark = pytest.mark.asyncio(loop_scope="module")


async def _events(published: Any, topic: str, count: int) -> Any:
    async def enough() -> Any:
        found = await published.run("events:list", topic=topic)
        return len(found) >= count and found

    return await published.until(enough)


@pytest.mark.exhaustive
async def test_the_app_type_checks_against_what_was_generated_for_it(published: Any) -> None:
    checked = await published.check_types()
    assert checked.exit_code == 0, checked.output


class TestAggregate:
    async def test_it_counts_sums_and_finds_by_rank(self, published: Any) -> None:
        ids = [
            await published.run("scores:add", player=player, points=points)
            for player, points in [("ada", 3.0), ("ada", 9.0), ("bob", 5.0), ("bob", 1.0)]
        ]
        assert await published.run("scores:totals") == {"count": 4, "sum": 18, "atLeastFive": 2, "best": 9}
        assert [await published.run("scores:at", offset=offset) for offset in (0.0, 1.0, 2.0, 3.0, -1.0)] == [
            1,
            3,
            5,
            9,
            9,
        ]
        assert await published.run("scores:rank", points=5.0) == 2

        await published.run("scores:change", id=ids[0], points=20.0)
        await published.run("scores:remove", id=ids[1])
        assert await published.run("scores:totals") == {"count": 3, "sum": 26, "atLeastFive": 2, "best": 20}

    async def test_a_second_instance_aggregates_by_something_else(self, published: Any) -> None:
        assert await published.run("scores:ofPlayer", player="bob") == {"count": 2, "best": 5}
        assert await published.run("scores:ofPlayer", player="eve") == {"count": 0, "best": None}


class TestRateLimiter:
    @pytest.mark.parametrize(("name", "allowed"), [("send", 3), ("signUp", 2)])
    async def test_it_allows_a_limited_number_and_can_be_reset(self, published: Any, name: str, allowed: int) -> None:
        for _ in range(2):
            answers = [await published.run("limits:take", name=name, key="ada") for _ in range(allowed + 1)]
            assert answers == [True] * allowed + [False]
            await published.run("limits:reset", name=name, key="ada")

    async def test_keys_are_limited_apart(self, published: Any) -> None:
        await published.run("limits:take", name="send", key="bob")
        assert await published.run("limits:left", name="send", key="bob") == 2
        assert await published.run("limits:left", name="send", key="eve") == 3

    async def test_it_throws_what_clients_understand(self, published: Any) -> None:
        for _ in range(2):
            await published.run("limits:take", name="signUp", key="throws")
        outcome = await published.call("limits:take", name="signUp", key="throws", throws=True)
        assert '"kind":"RateLimited"' in outcome.failure.data

    async def test_shards_share_a_limit(self, published: Any) -> None:
        assert all([await published.run("limits:take", name="sharded") for _ in range(5)])

    async def test_a_component_limits_with_an_instance_of_its_own(self, published: Any) -> None:
        assert [await published.run("limits:guarded") for _ in range(2)] == [True, False]


class TestWorkpool:
    async def test_an_action_completes_with_its_result(self, published: Any) -> None:
        id = await published.run("jobs:enqueueAction", text="hello")
        assert await _events(published, "action", 1) == ["success: HELLO"]

        async def finished() -> bool:
            return bool(await published.run("jobs:status", id=id) == "finished")

        await published.until(finished)

    async def test_mutations_run_one_after_the_other(self, published: Any) -> None:
        texts = [f"number {n}" for n in range(5)]
        await published.run("jobs:enqueueMutations", texts=texts)
        assert sorted(await _events(published, "mutations", 5)) == texts

    async def test_a_failing_action_is_tried_again_and_then_reported(self, published: Any) -> None:
        await published.run("jobs:enqueueFailing")
        assert await _events(published, "failing", 1) == ["failed"]
        assert len(await published.run("events:list", topic="attempts")) == 3

    async def test_work_for_later_can_be_canceled(self, published: Any) -> None:
        id = await published.run("jobs:enqueueForLater")
        assert await published.run("jobs:status", id=id) == "pending"
        await published.run("jobs:cancel", id=id)
        assert await _events(published, "later", 1) == ["canceled"]


class TestPresence:
    async def test_users_log_in_and_out(self, published: Any) -> None:
        async def beat(user: str) -> Any:
            return await published.run(
                "rooms:heartbeat", room="hall", user=user, session=f"session of {user}", interval=10_000.0
            )

        ada, bob = await beat("ada"), await beat("bob")
        room = {"roomToken": ada["roomToken"]}
        assert bob["roomToken"] == ada["roomToken"]
        assert sorted(await published.run("rooms:list", **room)) == [["ada", True], ["bob", True]]
        await published.run("rooms:disconnect", sessionToken=bob["sessionToken"])
        assert sorted(await published.run("rooms:list", **room)) == [["ada", True], ["bob", False]]

    async def test_a_user_without_a_heartbeat_is_offline(self, published: Any) -> None:
        beat = await published.run("rooms:heartbeat", room="cellar", user="eve", session="s", interval=200.0)

        async def offline() -> bool:
            return bool(await published.run("rooms:list", roomToken=beat["roomToken"]) == [["eve", False]])

        await published.until(offline)


class TestAgent:
    async def test_a_thread_keeps_its_messages_in_order(self, published: Any) -> None:
        thread = await published.run("chat:start", title="Holidays")
        for prompt, answer in [("Where to?", "To the sea."), ("How?", "By train.")]:
            await published.run("chat:say", threadId=thread, prompt=prompt, answer=answer)
        first = await self._page(published, thread, None)
        second = await self._page(published, thread, first["continueCursor"])
        assert (len(first["page"]), first["isDone"], len(second["page"])) == (3, False, 1)
        assert sorted(first["page"] + second["page"]) == [
            [0, "assistant", "To the sea."],
            [0, "user", "Where to?"],
            [1, "assistant", "By train."],
            [1, "user", "How?"],
        ]

    @staticmethod
    async def _page(published: Any, thread: str, cursor: str | None) -> Any:
        options = {"numItems": 3.0, "cursor": cursor}
        return await published.run("chat:list", threadId=thread, paginationOpts=options)

    async def test_threads_and_messages_are_found_by_their_words(self, published: Any) -> None:
        thread = await published.run("chat:start", title="Gardening in winter")
        await published.run("chat:say", threadId=thread, prompt="May I prune the roses?", answer="Wait for spring.")
        assert await published.run("chat:search", query="garden") == ["Gardening in winter"]
        assert await published.run("chat:recall", text="roses") == ["May I prune the roses?"]

    async def test_messages_are_found_by_their_embeddings(self, published: Any) -> None:
        thread = await published.run("chat:start", title="Animals")
        for text, start in [("a cat", [1.0, 0.1]), ("a kitten", [1.0, 0.2]), ("a hammer", [0.0, 1.0])]:
            await published.run("chat:sayWithEmbedding", threadId=thread, text=text, start=start)
        assert sorted(await published.run("chat:recall", start=[1.0, 0.0])) == ["a cat", "a kitten"]


class TestMigrations:
    async def test_they_run_one_after_the_other_in_batches(self, published: Any) -> None:
        await published.run("people:add", names=[f"person {n}" for n in range(25)])
        answer = await published.convex("run", "people:run")
        assert answer.exit_code == 0, answer.output

        async def done() -> Any:
            status = await published.run("people:status")
            return all(state == "success" for _, state, _ in status) and status

        assert sorted(await published.until(done)) == [
            ["people:rename", "success", 25],
            ["people:setInitial", "success", 25],
        ]
        assert await published.run("people:list") == [[f"PERSON {n}", "p"] for n in range(25)]
        ran = [entry for entry in published.deployment.log.after(0).entries if entry.component_path == "migrations"]
        assert sum(entry.identifier == "lib:migrate" for entry in ran) == 3


class TestCrons:
    async def test_a_registered_job_fires_until_it_is_deleted(self, published: Any) -> None:
        await published.run("reminders:register", name="often", ms=1000.0)
        assert await _events(published, "often", 2) == ["reminded", "reminded"]
        await published.run("reminders:remove", name="often")
        assert await published.run("reminders:list") == []
        fired = await published.run("events:list", topic="often")
        await asyncio.sleep(1.2)
        assert await published.run("events:list", topic="often") == fired

    async def test_expressions_of_cron_are_understood_or_refused(self, published: Any) -> None:
        await published.run("reminders:registerCron", name="nightly", cronspec="0 3 * * *")
        assert await published.run("reminders:list") == ["nightly"]
        assert "Invalid cronspec" in await published.failure(
            "reminders:registerCron", name="never", cronspec="every night"
        )

"""The latest messages that mention somebody. How many messages are read for them is measured."""

from convex_evals.pipeline.grading.kit import Deployment, assert_same, same_schema

BODIES = [
    "@ada first",
    "ask ada",
    "ask @adam or @alan",
    "second: ask @ada now",
    "mail me at me@ada",
    "ask @Ada",
    "ask @ada, please",
    "third to @alan and @ada",
    "@ada",
    "nobody",
]
OF_ADA = ["@ada", "third to @alan and @ada", "second: ask @ada now", "@ada first"]


def insert_messages(project: Deployment, channel: str, bodies: list[str]) -> list[str]:
    return project.insert_many("messages", [{"channel": channel, "author": "eve", "body": body} for body in bodies])


def mentions(project: Deployment, channel: str, name: str, limit: int) -> list[str]:
    found = project.query("index:latestMentions", channel=channel, name=name, limit=limit)
    return [message["body"] for message in found]


def documents_read(project: Deployment, channel: str, name: str, limit: int) -> int:
    with project.trace() as work:
        mentions(project, channel, name, limit)
    return work.documents_read


def test_the_schema_is_the_one_of_the_task(project: Deployment, answer: Deployment) -> None:
    same_schema(project, answer, exact=True)


def test_returns_the_messages_that_mention_the_name_newest_first(project: Deployment) -> None:
    insert_messages(project, "general", BODIES)
    insert_messages(project, "other", ["@ada in another channel", "@grace"])
    assert_same(mentions(project, "general", "ada", 10), OF_ADA)
    assert_same(mentions(project, "general", "alan", 10), ["third to @alan and @ada", "ask @adam or @alan"])
    assert_same(mentions(project, "other", "ada", 10), ["@ada in another channel"])


def test_returns_at_most_as_many_as_the_limit(project: Deployment) -> None:
    insert_messages(project, "general", BODIES)
    for limit in range(6):
        assert_same(mentions(project, "general", "ada", limit), OF_ADA[:limit], what=f"with a limit of {limit}")


def test_returns_an_empty_array_when_nobody_mentions_the_name(project: Deployment) -> None:
    insert_messages(project, "general", BODIES)
    assert_same(mentions(project, "general", "grace", 3), [])
    assert_same(mentions(project, "general", "", 3), [])
    assert_same(mentions(project, "nowhere", "ada", 3), [])


def test_returns_complete_documents(project: Deployment) -> None:
    ids = insert_messages(project, "general", BODIES)
    found = project.query("index:latestMentions", channel="general", name="ada", limit=2)
    assert_same(found, [project.get(ids[8]), project.get(ids[7])], ignore=())


def test_finds_a_mention_behind_very_many_messages(project: Deployment) -> None:
    insert_messages(project, "general", ["@ada", *("nothing" for _ in range(1500))])
    assert_same(mentions(project, "general", "ada", 1), ["@ada"])


def test_stops_reading_when_it_has_found_enough(project: Deployment) -> None:
    # From the latest message back, every tenth one mentions Ada.
    insert_messages(project, "general", ["@ada" if i % 10 == 0 else "nothing" for i in range(300)])
    insert_messages(project, "other", ["nothing"] * 50)
    for limit in (0, 1, 3, 12):
        read = documents_read(project, "general", "ada", limit)
        assert read <= limit * 10 + 1, f"for {limit} mentions among {limit * 10} messages it read {read}"


def test_reads_no_messages_of_other_channels(project: Deployment) -> None:
    insert_messages(project, "general", ["nothing"] * 5)
    insert_messages(project, "other", ["@ada"] * 100)
    read = documents_read(project, "general", "ada", 10)
    assert read <= 5, f"the channel has 5 messages, and it read {read}"


def test_rejects_arguments_that_are_not_a_channel_a_name_and_a_limit(project: Deployment) -> None:
    given: dict[str, object] = {"channel": "general", "name": "ada", "limit": 3}
    for name, wrong in {"channel": 5, "name": 5, "limit": "3"}.items():
        without = {each: given[each] for each in given if each != name}
        for arguments in (without, {**given, name: wrong}, {**given, name: None}):
            with project.fails("ArgumentValidationError"):
                project.query("index:latestMentions", arguments)

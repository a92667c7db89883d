"""Messages of one author in one channel. Which index finds them is the model's choice; what is read is measured."""

from convex_evals.pipeline.grading.kit import Deployment, assert_same

MESSAGES = [
    {"channel": "general", "author": "ada", "text": "z"},
    {"channel": "general", "author": "alan", "text": "b"},
    {"channel": "random", "author": "ada", "text": "c"},
    {"channel": "general", "author": "ada", "text": "a"},
    {"channel": "ada", "author": "general", "text": "e"},
    {"channel": "General", "author": "ada", "text": "f"},
    {"channel": "general", "author": "ada", "text": "m"},
    {"channel": "", "author": "alan", "text": "g"},
]


def texts(project: Deployment, channel: str, author: str) -> list[str]:
    return [message["text"] for message in project.query("index:getMessages", channel=channel, author=author)]


def test_the_fields_are_those_of_the_task(project: Deployment, answer: Deployment) -> None:
    assert_same(project.schema().table("messages").fields, answer.schema().table("messages").fields)


def test_returns_the_messages_that_match_both_oldest_first(project: Deployment) -> None:
    project.insert_many("messages", MESSAGES)
    assert_same(texts(project, "general", "ada"), ["z", "a", "m"])
    assert_same(texts(project, "general", "alan"), ["b"])
    assert_same(texts(project, "random", "ada"), ["c"])
    assert_same(texts(project, "ada", "general"), ["e"])
    assert_same(texts(project, "", "alan"), ["g"])


def test_returns_an_empty_array_when_not_both_match(project: Deployment) -> None:
    project.insert_many("messages", MESSAGES)
    assert_same(texts(project, "random", "alan"), [])
    assert_same(texts(project, "nowhere", "ada"), [])
    assert_same(texts(project, "general", ""), [])


def test_returns_complete_documents(project: Deployment) -> None:
    ids = project.insert_many("messages", MESSAGES)
    expected = [project.get(ids[position]) for position in (0, 3, 6)]
    assert_same(project.query("index:getMessages", channel="general", author="ada"), expected, ignore=())


def test_reads_only_the_messages_it_returns(project: Deployment) -> None:
    channels, authors = [f"channel {i}" for i in range(10)], [f"author {i}" for i in range(10)]
    pairs = [(channel, author) for channel in channels for author in authors for _ in range(3)]
    project.insert_many("messages", [{"channel": channel, "author": author, "text": "x"} for channel, author in pairs])
    with project.trace() as work:
        found = texts(project, "channel 4", "author 7")
    assert_same(found, ["x", "x", "x"])
    assert work.documents_read <= 3, f"of 300 messages it returned 3, and read {work.documents_read}"


def test_rejects_arguments_that_are_not_a_channel_and_an_author(project: Deployment) -> None:
    for arguments in ({}, {"channel": "general"}, {"author": "ada"}, {"channel": "general", "author": None}):
        with project.fails("ArgumentValidationError"):
            project.query("index:getMessages", arguments)

"""Found messages, each with the names of the documents it refers to, in the order in which the search gives them."""

from dataclasses import dataclass
from typing import Any

import pytest

from convex_evals.pipeline.grading.kit import Deployment, assert_same, same_function_spec, same_schema

LIMIT = 5


@dataclass(frozen=True)
class Chat:
    project: Deployment
    users: dict[str, str]
    channels: dict[str, str]

    def post(self, author: str, channel: str, *bodies: str) -> list[str]:
        ids = {"authorId": self.users[author], "channelId": self.channels[channel]}
        return self.project.insert_many("messages", [{"body": body, **ids} for body in bodies])

    def search(self, text: str) -> list[dict[str, Any]]:
        found: list[dict[str, Any]] = self.project.query("index:searchMessages", text=text)
        return found


@pytest.fixture
def chat(project: Deployment) -> Chat:
    names, titles = ("Ada", "Alan", "Grace"), ("general", "random")
    users = project.insert_many("users", [{"name": name, "email": f"{name}@example.com"} for name in names])
    channels = project.insert_many("channels", [{"title": title} for title in titles])
    return Chat(project, dict(zip(names, users, strict=True)), dict(zip(titles, channels, strict=True)))


def test_the_schema_and_the_function_are_those_of_the_task(project: Deployment, answer: Deployment) -> None:
    same_schema(project, answer)
    same_function_spec(project, answer)


def test_each_message_comes_with_its_author_and_channel(chat: Chat) -> None:
    [lunch] = chat.post("Ada", "random", "Lunch at noon?")
    [release] = chat.post("Grace", "general", "The release is out")
    [train] = chat.post("Alan", "general", "My train is late")
    assert chat.search("noon") == [{"messageId": lunch, "body": "Lunch at noon?", "author": "Ada", "channel": "random"}]
    assert_same(
        chat.search("release train"),
        [
            {"messageId": release, "body": "The release is out", "author": "Grace", "channel": "general"},
            {"messageId": train, "body": "My train is late", "author": "Alan", "channel": "general"},
        ],
        ordered=False,
    )


def test_the_order_is_that_of_relevance(chat: Chat) -> None:
    chat.post("Grace", "random", "The release was long ago")
    chat.post("Ada", "general", "The new release of Friday is out")
    chat.post("Alan", "random", "new release")
    chat.post("Ada", "random", *(f"nothing to see {i}" for i in range(5)))
    found = chat.search("new release friday")
    assert_same(
        [(each["author"], each["channel"]) for each in found],
        [("Ada", "general"), ("Alan", "random"), ("Grace", "random")],
    )


def test_an_author_or_a_channel_that_is_gone_is_null(chat: Chat) -> None:
    chat.post("Ada", "general", "a red balloon")
    chat.post("Alan", "random", "a green kite")
    chat.project.delete("users", chat.users["Ada"])
    chat.project.delete("channels", chat.channels["random"])
    [balloon], [kite] = chat.search("balloon"), chat.search("kite")
    assert (balloon["author"], balloon["channel"]) == (None, "general")
    assert (kite["author"], kite["channel"]) == ("Alan", None)


def test_nothing_is_found_where_nothing_matches(chat: Chat) -> None:
    chat.post("Ada", "general", "Lunch at noon?")
    assert chat.search("dinner") == []
    assert chat.search("Ada general") == []
    assert chat.search("") == []


def test_at_most_five_messages_are_returned_and_nothing_else_is_read(chat: Chat) -> None:
    chat.project.insert_many("users", [{"name": f"user {i}", "email": "x"} for i in range(50)])
    chat.project.insert_many("channels", [{"title": f"channel {i}"} for i in range(50)])
    chat.post("Grace", "general", *(f"a word about lunch {i}" for i in range(LIMIT + 1)))
    chat.post("Alan", "random", *(f"something else {i}" for i in range(100)))
    with chat.project.trace() as work:
        found = chat.search("lunch")
    assert len(found) == LIMIT, f"6 messages match, so 5 must be returned, not {len(found)}"
    assert all("lunch" in each["body"] for each in found)
    # Each message, its author and its channel; the same author may be read again for each message.
    assert work.documents_read <= 3 * LIMIT, f"it returned 5 messages, and read {work.documents_read} documents"


def test_exactly_as_many_as_match_are_returned_up_to_five(chat: Chat) -> None:
    ids = chat.post("Ada", "general", *(f"lunch number {i}" for i in range(LIMIT)))
    assert_same([each["messageId"] for each in chat.search("lunch")], ids, ordered=False)


def test_rejects_arguments_that_are_not_a_text(project: Deployment) -> None:
    for arguments in ({}, {"text": 5}, {"text": None}, {"text": "lunch", "channel": "general"}):
        with project.fails("ArgumentValidationError"):
            project.query("index:searchMessages", arguments)

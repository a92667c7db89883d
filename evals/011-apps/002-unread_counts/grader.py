"""Unread counts that stay exact through edits, removals, blocks, and positions that move both ways."""

import random
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import pytest

from convex_evals.pipeline.grading.kit import Deployment, at_once

FUNCTIONS = {
    "chat:createChannel": ("mutation", ("user", "name")),
    "chat:join": ("mutation", ("user", "channel")),
    "chat:leave": ("mutation", ("user", "channel")),
    "chat:post": ("mutation", ("user", "channel", "body")),
    "chat:edit": ("mutation", ("user", "message", "body")),
    "chat:remove": ("mutation", ("user", "message")),
    "chat:markRead": ("mutation", ("user", "message")),
    "chat:markUnread": ("mutation", ("user", "message")),
    "chat:block": ("mutation", ("user", "other")),
    "chat:unblock": ("mutation", ("user", "other")),
    "chat:channels": ("query", ("user",)),
    "chat:messages": ("query", ("user", "channel")),
}
USERS = ["ada", "ad", "ben", "cyd"]
BODIES = ["hi", "@ada", "hi @ben and @ada", "@ad", "@adam @ben!", "mail a@ada", "@cyd @cyd", "@Ada ", "so @cyd  @ad"]
SHOWN = 20
MANY, MOST_READ = 70, 60


@dataclass
class Message:
    id: str
    author: str
    body: str
    number: int
    is_removed: bool = False


@dataclass
class Channel:
    id: str
    name: str
    messages: list[Message] = field(default_factory=list)
    positions: dict[str, float] = field(default_factory=dict)
    """Of each member: messages with a smaller number are read."""


@dataclass
class Chat:
    """The app and the truth, side by side."""

    project: Deployment
    everything: list[Channel] = field(default_factory=list)
    blocks: set[tuple[str, str]] = field(default_factory=set)

    def call(self, function: str, /, **arguments: str) -> Any:
        return self.project.mutation(f"chat:{function}", arguments)

    def create(self, user: str, name: str) -> Channel:
        channel = Channel(self.call("createChannel", user=user, name=name), name)
        channel.positions[user] = 0
        self.everything.append(channel)
        return channel

    def join(self, user: str, channel: Channel) -> None:
        assert self.call("join", user=user, channel=channel.id) is None
        channel.positions.setdefault(user, len(channel.messages))

    def leave(self, user: str, channel: Channel) -> None:
        assert self.call("leave", user=user, channel=channel.id) is None
        channel.positions.pop(user, None)

    def post(self, user: str, channel: Channel, body: str = "hi") -> Message:
        id = self.call("post", user=user, channel=channel.id, body=body)
        channel.messages.append(Message(id, user, body, len(channel.messages)))
        return channel.messages[-1]

    def edit(self, message: Message, body: str) -> None:
        assert self.call("edit", user=message.author, message=message.id, body=body) is None
        message.body = body

    def remove(self, message: Message) -> None:
        assert self.call("remove", user=message.author, message=message.id) is None
        message.is_removed = True

    def read(self, user: str, channel: Channel, message: Message) -> None:
        assert self.call("markRead", user=user, message=message.id) is None
        channel.positions[user] = max(channel.positions[user], message.number + 1)

    def unread(self, user: str, channel: Channel, message: Message) -> None:
        assert self.call("markUnread", user=user, message=message.id) is None
        channel.positions[user] = min(channel.positions[user], message.number)

    def block(self, user: str, other: str) -> None:
        assert self.call("block", user=user, other=other) is None
        self.blocks.add((user, other))

    def unblock(self, user: str, other: str) -> None:
        assert self.call("unblock", user=user, other=other) is None
        self.blocks.discard((user, other))

    def is_unread(self, user: str, channel: Channel, message: Message) -> bool:
        is_after = message.number >= channel.positions[user]
        return is_after and message.author != user and (user, message.author) not in self.blocks

    def check(self, user: str) -> None:
        """The counts of all channels, and the messages of one."""
        mine = [channel for channel in self.everything if user in channel.positions]
        expected = []
        for channel in sorted(mine, key=lambda channel: channel.name):
            existing = [each for each in channel.messages if not each.is_removed]
            unread = [each for each in existing if self.is_unread(user, channel, each)]
            mentions = [each for each in unread if f"@{user}" in each.body.split(" ")]
            counts = {"unread": len(unread), "mentions": len(mentions)}
            expected.append({"channel": channel.id, "name": channel.name, **counts})
        assert self.project.query("chat:channels", user=user) == expected
        for channel in mine[:1]:
            visible = [
                {"id": each.id, "author": each.author, "body": each.body, "unread": self.is_unread(user, channel, each)}
                for each in reversed(channel.messages)
                if not each.is_removed and (user, each.author) not in self.blocks
            ]
            assert self.project.query("chat:messages", user=user, channel=channel.id) == visible[:SHOWN]


def step(chat: Chat, chance: random.Random) -> str:
    channel, (user, other) = chance.choice(chat.everything), chance.sample(USERS, 2)
    existing = [each for each in channel.messages if not each.is_removed]
    message = chance.choice(existing) if existing else None
    is_member = user in channel.positions
    names = ["post"] * 5 + ["edit", "edit", "remove", "remove", "read", "read", "unread", "unread"]
    name = chance.choice([*names, "block", "block", "unblock", "join", "join", "leave"])
    match name:
        case "post" if is_member:
            chat.post(user, channel, chance.choice(BODIES))
        case "edit" if message:
            chat.edit(message, chance.choice(BODIES))
        case "remove" if message:
            chat.remove(message)
        case "read" if message and is_member:
            chat.read(user, channel, message)
        case "unread" if message and is_member:
            chat.unread(user, channel, message)
        case "block" | "unblock":
            getattr(chat, name)(user, other)
        case "join" | "leave":
            getattr(chat, name)(user, channel)
    return f"{name} {user} {other} {channel.name}"


@pytest.mark.parametrize("seed", range(3))
def test_the_counts_follow_from_the_definition_whatever_happens(project: Deployment, seed: int) -> None:
    chance, chat, done = random.Random(seed), Chat(project), []
    for channel in (chat.create("ada", "b"), chat.create("ben", "a")):
        for user in USERS:
            chat.join(user, channel)
    for _ in range(45):
        done.append(step(chat, chance))
        try:
            chat.check(chance.choice(USERS))
        except AssertionError as wrong:
            raise AssertionError(f"after {', '.join(done)}: {wrong}") from None
    for user in USERS:
        chat.check(user)


def two(project: Deployment) -> tuple[Chat, Channel]:
    """Ada and Ben in one channel."""
    chat = Chat(project)
    channel = chat.create("ada", "news")
    chat.join("ben", channel)
    return chat, channel


def test_removing_a_message_counts_only_for_those_who_had_not_read_it(project: Deployment) -> None:
    chat, channel = two(project)
    chat.join("cyd", channel)
    first, second, third = (chat.post("ada", channel, body) for body in ("@ben", "@ben @cyd", "bye"))
    chat.read("ben", channel, second)
    chat.remove(first)
    chat.check("ben")
    chat.remove(third)
    for user in ("ada", "ben", "cyd"):
        chat.check(user)


def test_messages_of_a_blocked_author_that_are_removed_or_edited_are_not_counted_twice(project: Deployment) -> None:
    chat, channel = two(project)
    first, second = chat.post("ada", channel, "@ben"), chat.post("ada", channel, "hi")
    chat.block("ben", "ada")
    chat.check("ben")
    third = chat.post("ada", channel, "@ben again")
    chat.remove(first)
    chat.edit(second, "@ben")
    chat.check("ben")
    chat.unblock("ben", "ada")
    chat.check("ben")
    chat.edit(third, "nothing")
    chat.check("ben")


def test_blocking_goes_one_way_and_through_all_channels(project: Deployment) -> None:
    chat, channel = two(project)
    other = chat.create("ben", "other")
    chat.join("ada", other)
    for each in (channel, other):
        chat.post("ada", each, "hi @ben")
        chat.post("ben", each, "hi @ada")
    chat.block("ben", "ada")
    chat.block("ben", "ada")
    for user in ("ada", "ben"):
        chat.check(user)
    chat.unblock("ben", "ada")
    chat.unblock("ben", "ada")
    for user in ("ada", "ben"):
        chat.check(user)


def test_who_joins_again_has_read_everything(project: Deployment) -> None:
    chat, channel = two(project)
    message = chat.post("ada", channel)
    chat.join("ben", channel)
    chat.check("ben")
    chat.leave("ben", channel)
    chat.check("ben")
    chat.post("ada", channel)
    chat.leave("ben", channel)
    chat.join("ben", channel)
    chat.check("ben")
    chat.remove(message)
    chat.post("ada", channel)
    chat.check("ben")


def test_a_removed_last_message_does_not_confuse_the_position(project: Deployment) -> None:
    chat, channel = two(project)
    chat.post("ada", channel)
    last = chat.post("ada", channel)
    chat.read("ben", channel, last)
    chat.remove(last)
    chat.post("ada", channel)
    chat.check("ben")
    chat.join("cyd", channel)
    chat.remove(channel.messages[-1])
    chat.post("ada", channel)
    chat.check("cyd")
    chat.unread("cyd", channel, channel.messages[0])
    chat.check("cyd")


def test_only_the_newest_messages_are_shown_and_blocked_ones_do_not_take_their_place(project: Deployment) -> None:
    chat, channel = two(project)
    for number in range(23):
        chat.post("ada", channel, f"{number}")
        chat.post("ben", channel, f"{number}")
    chat.join("cyd", channel)
    chat.check("cyd")
    chat.unread("cyd", channel, channel.messages[30])
    chat.block("cyd", "ben")
    chat.check("cyd")


def test_channels_of_one_name_come_in_the_order_of_their_creation(project: Deployment) -> None:
    chat = Chat(project)
    for name in ("b", "a", "B", "b", "a"):
        chat.create("ada", name)
    chat.join("ben", chat.everything[4])
    chat.join("ben", chat.everything[1])
    chat.check("ada")
    chat.check("ben")


def test_messages_posted_at_once_are_all_counted(project: Deployment) -> None:
    chat, channel = two(project)
    chat.join("cyd", channel)
    with project.clients(6) as clients:
        post = {"user": "ada", "channel": channel.id, "body": "@ben"}
        assert len(set(at_once([partial(each.mutation, "chat:post", post) for each in clients]))) == 6
    counts = [project.query("chat:channels", user=user)[0] for user in ("ben", "cyd")]
    assert [(each["unread"], each["mentions"]) for each in counts] == [(6, 6), (6, 0)]


def test_what_is_not_allowed_changes_nothing(project: Deployment) -> None:
    chat, channel = two(project)
    message, gone = chat.post("ada", channel, "@ben"), chat.post("ada", channel)
    chat.remove(gone)
    refused: list[tuple[str, str, dict[str, str]]] = [
        ("NOT_A_MEMBER", "post", {"user": "eve", "channel": channel.id, "body": "@ben"}),
        ("NOT_A_MEMBER", "markRead", {"user": "eve", "message": message.id}),
        ("NOT_A_MEMBER", "markUnread", {"user": "eve", "message": message.id}),
        ("NOT_YOURS", "edit", {"user": "ben", "message": message.id, "body": "no"}),
        ("NOT_YOURS", "remove", {"user": "ben", "message": message.id}),
        ("NOT_FOUND", "edit", {"user": "ada", "message": gone.id, "body": "no"}),
        ("NOT_FOUND", "remove", {"user": "ben", "message": gone.id}),
        ("NOT_FOUND", "markRead", {"user": "eve", "message": gone.id}),
        ("NOT_FOUND", "markUnread", {"user": "ben", "message": gone.id}),
    ]
    for code, name, arguments in refused:
        with project.fails(data={"code": code}):
            project.mutation(f"chat:{name}", arguments)
    with project.fails(data={"code": "NOT_A_MEMBER"}):
        project.query("chat:messages", user="eve", channel=channel.id)
    chat.leave("ada", channel)
    chat.edit(message, "@ben @ben")
    chat.check("ben")
    chat.remove(message)
    chat.check("ben")


def test_much_that_is_unread_does_not_slow_anything_down(project: Deployment) -> None:
    chat = Chat(project)
    for name in "ab":
        channel = chat.create("ada", name)
        for user in USERS[1:]:
            chat.join(user, channel)
        for _ in range(MANY):
            chat.post("ada", channel, "@ben")
    message = chat.everything[0].messages[5]
    calls = {
        "post": lambda: chat.post("ada", channel),
        "edit": lambda: chat.edit(message, "hi"),
        "remove": lambda: chat.remove(message),
    }
    with project.trace() as work:
        received = project.query("chat:channels", user="ben")
    assert [(each["unread"], each["mentions"]) for each in received] == [(MANY, MANY)] * 2
    assert work.documents_read < MOST_READ
    for name, call in calls.items():
        with project.trace() as work:
            call()
        assert work.documents_read < MOST_READ, name
    chat.check("ben")


def test_clients_can_call_these_functions_and_no_others_and_arguments_are_validated(project: Deployment) -> None:
    public = {name: spec.kind for name, spec in project.functions().items() if spec.is_public}
    assert public == {name: kind for name, (kind, _) in FUNCTIONS.items()}
    chat, channel = two(project)
    known = {"channel": channel.id, "message": chat.post("ada", channel).id}
    for name, (kind, names) in FUNCTIONS.items():
        call = project.query if kind == "query" else project.mutation
        arguments: dict[str, Any] = {each: known.get(each, "ada") for each in names}
        for argument in arguments:
            for rejected in ({**arguments, argument: 1}, {key: arguments[key] for key in arguments if key != argument}):
                with project.fails("ArgumentValidationError"):
                    call(name, rejected)

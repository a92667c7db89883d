import json

import pytest

from convex_evals.backend.sync.client_messages import (
    AddQuery,
    AdminToken,
    Authenticate,
    CallRequest,
    ClientMessage,
    Connect,
    Event,
    ModifyQuerySet,
    RemoveQuery,
    UserToken,
    parse,
)
from convex_evals.backend.sync.errors import InvalidMessage

SESSION = "b831f486-43ac-4d02-976e-a1a6000c618a"
ADA: dict[str, object] = {"issuer": "https://auth.example", "subject": "user_1", "name": "Ada", "role": "editor"}

MESSAGES: list[tuple[dict[str, object], ClientMessage]] = [
    (
        {
            "type": "Connect",
            "sessionId": SESSION,
            "connectionCount": 0,
            "lastCloseReason": "InitialConnect",
            "clientTs": 1794769412024,
            "maxObservedTimestamp": "6AMAAAAAAAA=",
        },
        Connect(SESSION, 1794769412024, 1000),
    ),
    (
        {"type": "Connect", "sessionId": SESSION, "connectionCount": 3, "lastCloseReason": None},
        Connect(SESSION, None, None),
    ),
    (
        {
            "type": "ModifyQuerySet",
            "baseVersion": 1,
            "newVersion": 2,
            "modifications": [
                {"type": "Add", "queryId": 3, "udfPath": "m:list", "args": [{"a": 1}], "journal": None},
                {"type": "Add", "queryId": 4, "udfPath": "m:page", "args": [{}], "journal": "j", "componentPath": "w"},
                {"type": "Remove", "queryId": 1},
            ],
        },
        ModifyQuerySet(
            1,
            2,
            (
                AddQuery(3, "m:list", [{"a": 1}]),
                AddQuery(4, "m:page", [{}], component="w", journal="j"),
                RemoveQuery(1),
            ),
        ),
    ),
    ({"type": "ModifyQuerySet", "baseVersion": 0, "newVersion": 1, "modifications": []}, ModifyQuerySet(0, 1, ())),
    (
        {"type": "Mutation", "requestId": 0, "udfPath": "m:send", "args": [{"body": "hi"}], "componentPath": "w"},
        CallRequest("Mutation", 0, "m:send", [{"body": "hi"}], "w"),
    ),
    (
        {"type": "Action", "requestId": 1, "udfPath": "ai:answer", "args": [{}], "unknown": True},
        CallRequest("Action", 1, "ai:answer", [{}]),
    ),
    (
        {"type": "Authenticate", "baseVersion": 0, "tokenType": "User", "value": "jwt"},
        Authenticate(0, UserToken("jwt")),
    ),
    (
        {"type": "Authenticate", "baseVersion": 1, "tokenType": "Admin", "value": "a|b", "impersonating": ADA},
        Authenticate(1, AdminToken("a|b", ADA)),
    ),
    (
        {"type": "Authenticate", "baseVersion": 1, "tokenType": "Admin", "value": "a|b", "acting_as": ADA},
        Authenticate(1, AdminToken("a|b", ADA)),
    ),
    (
        {"type": "Authenticate", "baseVersion": 1, "tokenType": "Admin", "value": "a|b"},
        Authenticate(1, AdminToken("a|b")),
    ),
    ({"type": "Authenticate", "baseVersion": 2, "tokenType": "None"}, Authenticate(2, None)),
    ({"type": "Event", "eventType": "Whatever", "event": [1]}, Event()),
]


@pytest.mark.parametrize(("document", "message"), MESSAGES)
def test_every_message_of_the_protocol_is_understood(document: object, message: ClientMessage) -> None:
    assert parse(json.dumps(document)) == message


INVALID = [
    ("", "unexpected end|zero-length|Input is a"),
    ("[]", "expected an object"),
    ("{}", "missing field `type`"),
    ('{"type": "Nope"}', "unknown variant `Nope`"),
    ('{"type": 5}', "field `type`: expected a string"),
    ('{"type": "Connect", "connectionCount": 0}', "missing field `sessionId`"),
    ('{"type": "Connect", "connectionCount": -1, "sessionId": "s"}', "expected u32"),
    ('{"type": "Connect", "connectionCount": 0, "sessionId": "s", "maxObservedTimestamp": "x"}', "a timestamp"),
    ('{"type": "Mutation", "requestId": 4294967296, "udfPath": "m:f", "args": []}', "expected u32"),
    ('{"type": "Mutation", "requestId": true, "udfPath": "m:f", "args": []}', "expected u32"),
    ('{"type": "Mutation", "requestId": 1.0, "udfPath": "m:f", "args": []}', "expected u32"),
    ('{"type": "Mutation", "requestId": 1, "udfPath": "m:f", "args": {}}', "expected an array"),
    ('{"type": "Mutation", "requestId": 1, "udfPath": "m:f", "args": ["\\ud800"]}', "surrogate|escape"),
    ('{"type": "ModifyQuerySet", "baseVersion": 0, "newVersion": 1, "modifications": [{"type": "X"}]}', "`X`"),
    ('{"type": "Authenticate", "baseVersion": 0, "tokenType": "Magic"}', "`Magic`"),
    ('{"type": "Authenticate", "baseVersion": 0, "tokenType": "Admin", "value": "k", "impersonating": 1}', "object"),
    (
        '{"type": "Authenticate", "baseVersion": 0, "tokenType": "Admin", "value": "k", "impersonating": {"name": ""}}',
        "not the attributes of an identity",
    ),
]


@pytest.mark.parametrize(("text", "detail"), INVALID)
def test_what_is_not_a_message_is_refused_with_the_reason(text: str, detail: str) -> None:
    with pytest.raises(InvalidMessage, match=f"^Received Invalid JSON on websocket: .*({detail})"):
        parse(text)

import json

import pytest

from convex_evals.backend.sync.server_messages import (
    ActionResponse,
    AuthError,
    Failure,
    FatalError,
    MutationResponse,
    Ping,
    QueryFailed,
    QueryRemoved,
    QueryUpdated,
    ServerMessage,
    StateVersion,
    Transition,
    decode_ts,
    encode_ts,
    text,
)

MESSAGES: list[tuple[ServerMessage, object]] = [
    (
        MutationResponse(0, '"j57"', [], ts=2000),
        {
            "type": "MutationResponse",
            "requestId": 0,
            "success": True,
            "result": "j57",
            "ts": "0AcAAAAAAAA=",
            "logLines": [],
        },
    ),
    (
        MutationResponse(2, Failure("boom"), ["[LOG] 1"]),
        {
            "type": "MutationResponse",
            "requestId": 2,
            "success": False,
            "result": "boom",
            "ts": None,
            "logLines": ["[LOG] 1"],
        },
    ),
    (
        MutationResponse(3, Failure("boom", "null"), []),
        {
            "type": "MutationResponse",
            "requestId": 3,
            "success": False,
            "result": "boom",
            "errorData": None,
            "ts": None,
            "logLines": [],
        },
    ),
    (
        ActionResponse(1, '{"ok":true}', ["[WARN] 'slow'"]),
        {
            "type": "ActionResponse",
            "requestId": 1,
            "success": True,
            "result": {"ok": True},
            "logLines": ["[WARN] 'slow'"],
        },
    ),
    (
        AuthError("no", 0, update_attempted=True),
        {"type": "AuthError", "error": "no", "baseVersion": 0, "authUpdateAttempted": True},
    ),
    (FatalError("no"), {"type": "FatalError", "error": "no"}),
    (Ping(), {"type": "Ping"}),
]

VECTORS = [(0, "AAAAAAAAAAA="), (1000, "6AMAAAAAAAA="), (2000, "0AcAAAAAAAA="), (2**63 - 1, "/////////38=")]


@pytest.mark.parametrize(("message", "document"), MESSAGES)
def test_messages_have_the_shape_clients_expect(message: ServerMessage, document: object) -> None:
    assert json.loads(text(message)) == document


def test_a_transition_shows_versions_modifications_and_clocks() -> None:
    transition = Transition(
        StateVersion(1, 0, 1000),
        StateVersion(2, 0, 2000),
        (
            QueryUpdated(3, '[{"n":1.0}]', ["[LOG] 'hello' 1"], "journal"),
            QueryFailed(4, Failure("boom"), [], None),
            QueryFailed(5, Failure("boom", '{"code":7.0}'), [], None),
            QueryRemoved(6),
        ),
        client_clock_skew=-3,
        server_ts=1794769412024000000,
    )
    updated = {
        "type": "QueryUpdated",
        "queryId": 3,
        "value": [{"n": 1.0}],
        "logLines": ["[LOG] 'hello' 1"],
        "journal": "journal",
    }
    failed: dict[str, object] = {"type": "QueryFailed", "errorMessage": "boom", "logLines": [], "journal": None}
    assert json.loads(text(transition)) == {
        "type": "Transition",
        "startVersion": {"querySet": 1, "identity": 0, "ts": "6AMAAAAAAAA="},
        "endVersion": {"querySet": 2, "identity": 0, "ts": "0AcAAAAAAAA="},
        "modifications": [
            updated,
            {**failed, "queryId": 4},
            {**failed, "queryId": 5, "errorData": {"code": 7.0}},
            {"type": "QueryRemoved", "queryId": 6},
        ],
        "clientClockSkew": -3,
        "serverTs": 1794769412024000000,
    }


def test_values_are_passed_on_as_they_were_written() -> None:
    assert '"value":[1.0,{"$integer":"AQAAAAAAAAA="}]' in text(
        Transition(
            StateVersion(),
            StateVersion(),
            (QueryUpdated(0, '[1.0,{"$integer":"AQAAAAAAAAA="}]', [], None),),
        )
    )


@pytest.mark.parametrize(("ts", "encoded"), VECTORS)
def test_a_timestamp_is_eight_little_endian_bytes_in_base64(ts: int, encoded: str) -> None:
    assert encode_ts(ts) == encoded
    assert decode_ts(encoded) == ts


@pytest.mark.parametrize("text", ["", "AAAA", "not base64!", "AAAAAAAAAAAA", "//////////8="])
def test_anything_else_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="a timestamp"):
        decode_ts(text)

import signal
import socket

import pytest

from convex_evals.core.supervisor import wire


@pytest.mark.parametrize(
    "message",
    [{}, {"text": "ü\udcff\n", "number": 1.5, "none": None}, {"large": ["x" * 1000] * 2000}],
    ids=["empty", "odd characters", "large"],
)
def test_a_message_arrives_as_it_was_sent(message: dict[str, object]) -> None:
    left, right = socket.socketpair()
    with left, right:
        left.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 8_000_000)
        left.sendall(wire.encode(message))
        assert wire.receive(right) == message


@pytest.mark.parametrize("part", [b"", b"\0\0", wire.encode({"a": 1})[:-1]], ids=["nothing", "header", "body"])
def test_a_peer_that_disconnects_midway_sends_no_message(part: bytes) -> None:
    left, right = socket.socketpair()
    with right:
        left.sendall(part)
        left.close()
        assert wire.receive(right) is None


@pytest.mark.parametrize(
    ("status", "meaning"), [(0, (0, None)), (3 << 8, (3, None)), (signal.SIGKILL, (None, signal.SIGKILL))]
)
def test_a_wait_status_is_an_exit_code_or_a_signal(status: int, meaning: tuple[int | None, int | None]) -> None:
    assert wire.exit_status(status) == meaning

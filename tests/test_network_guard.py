import socket

import pytest


@pytest.mark.parametrize("address", ["192.0.2.1", "example.com"])
def test_no_test_reaches_another_machine(address: str) -> None:
    with pytest.raises(Exception, match=r"tests may use no network but 127\.0\.0\.1"):
        socket.create_connection((address, 80), timeout=1)


def test_tests_reach_this_machine() -> None:
    with socket.create_server(("127.0.0.1", 0)) as server, socket.create_connection(server.getsockname()) as client:
        assert client.getpeername() == server.getsockname()

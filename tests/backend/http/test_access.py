import pytest

from convex_evals.backend.http.access import THIS_MACHINE, Access, InvalidAddress

MORE = Access.of(
    ("https://convex.example/", "https://Site.example:8443", ""), ("tunnel.example:3210",), ("https://app.example",)
)


@pytest.mark.parametrize(
    "host",
    [
        "127.0.0.1",
        "127.0.0.1:3210",
        "127.1.2.3:80",
        "localhost:3210",
        "LocalHost",
        "app.dev.localhost:1",
        "[::1]:3210",
        "0.0.0.0:3210",
    ],
)
def test_names_of_this_machine_are_its_own(host: str) -> None:
    assert THIS_MACHINE.has_host(host)
    assert MORE.has_host(host)
    assert THIS_MACHINE.has_origin(f"http://{host}")
    assert THIS_MACHINE.has_origin(f"https://{host}")


@pytest.mark.parametrize(
    "host",
    [
        "",
        "evil.example",
        "evil.example:3210",
        "127.0.0.1.evil.example",
        "localhost.evil.example",
        "notlocalhost",
        "evil-localhost",
        "localhost:3210@evil.example",
        "evil.example/localhost",
        "localhost:3210:80",
        "192.168.0.1:3210",
        "128.0.0.1",
        "[::2]",
        "127.0.0.1\n",
        "localhost.",
    ],
)
def test_any_other_name_is_foreign(host: str) -> None:
    assert not THIS_MACHINE.has_host(host)
    assert not MORE.has_host(host)
    assert not MORE.has_origin(f"http://{host}")


@pytest.mark.parametrize(
    "origin", ["null", "", "file://", "localhost:5173", "chrome-extension://localhost", "ws://localhost"]
)
def test_an_origin_without_a_page_of_this_machine_is_foreign(origin: str) -> None:
    assert not MORE.has_origin(origin)


@pytest.mark.parametrize("host", ["convex.example", "CONVEX.example:1", "site.example", "tunnel.example:99"])
def test_own_addresses_and_allowed_names_are_hosts(host: str) -> None:
    assert MORE.has_host(host)
    assert not THIS_MACHINE.has_host(host)


@pytest.mark.parametrize(
    ("origin", "allowed"),
    [
        ("https://convex.example", True),
        ("https://site.example:8443", True),
        ("https://app.example", True),
        ("http://app.example", False),
        ("https://app.example:444", False),
        ("https://tunnel.example", False),
        ("https://app.example.evil.example", False),
    ],
)
def test_an_allowed_origin_is_that_scheme_that_name_and_that_port(origin: str, allowed: bool) -> None:
    assert MORE.has_origin(origin) is allowed


@pytest.mark.parametrize("host", ["", "https://app.example", "a b", "a/b", "user@app.example"])
def test_a_host_that_is_none_is_refused_with_a_sentence(host: str) -> None:
    with pytest.raises(InvalidAddress, match="Expected the name of a host such as "):
        Access.of((), hosts=(host,))


@pytest.mark.parametrize(
    "origin", ["app.example", "*", "https://", "https://app.example/path", "https://a.example?x", ""]
)
def test_an_origin_that_is_none_is_refused_with_a_sentence(origin: str) -> None:
    with pytest.raises(InvalidAddress, match="Expected an origin such as "):
        Access.of((), origins=(origin,))

import pytest

from convex_evals.backend.sync.client_version import ClientVersion


@pytest.mark.parametrize(
    ("header", "client"),
    [
        ("python-0.8.1", ClientVersion("python", (0, 8, 1))),
        ("npm-cli-1.44.0", ClientVersion("npm-cli", (1, 44, 0))),
        ("NPM-1.28.0-alpha.3", ClientVersion("npm", (1, 28, 0))),
        ("python-convex-0.5.0", ClientVersion("python-convex", (0, 5, 0))),
        ("something", ClientVersion()),
        ("some-thing", ClientVersion()),
        (None, ClientVersion()),
    ],
)
def test_the_longest_version_at_the_end_of_the_header_counts(header: str | None, client: ClientVersion) -> None:
    assert ClientVersion.of_header(header) == client


@pytest.mark.parametrize(
    ("client", "joins"),
    [
        (ClientVersion.of_path("1.44.0"), True),
        (ClientVersion.of_path("1.28.0"), True),
        (ClientVersion.of_path("1.27.9"), False),
        (ClientVersion.of_path("latest"), False),
        (ClientVersion.of_header("python-2.0.0"), False),
        (ClientVersion.of_header(None), False),
    ],
)
def test_only_recent_npm_clients_join_chunks(client: ClientVersion, joins: bool) -> None:
    assert client.joins_chunks is joins

import pytest

from convex_evals.backend.auth.data_urls import data_of, is_data_url


@pytest.mark.parametrize(
    ("url", "data"),
    [
        ("data:text/plain;base64,eyJrZXlzIjpbXX0=", b'{"keys":[]}'),
        ("data:text/plain;base64,eyJrZXlzIjpbXX0", b'{"keys":[]}'),
        ("data:text/plain;charset=utf-8;base64,eyJrZXlzIjpbXX0%3D", b'{"keys":[]}'),
        ("data:application/json,%7B%22keys%22%3A%5B%5D%7D", b'{"keys":[]}'),
        ('DATA:,{"keys":[]}', b'{"keys":[]}'),
    ],
)
def test_data_is_read_from_the_url_itself(url: str, data: bytes) -> None:
    assert is_data_url(url)
    assert data_of(url) == data


@pytest.mark.parametrize("url", ["data:text/plain", "data:;base64,!!!!"])
def test_a_broken_data_url_is_an_error(url: str) -> None:
    with pytest.raises(ValueError, match=r"comma|base64"):
        data_of(url)


def test_other_urls_are_fetched() -> None:
    assert not is_data_url("https://issuer.example/data:")

import pytest
from starlette.datastructures import Headers

from convex_evals.backend.http.forwarding import scheme_of


@pytest.mark.parametrize(
    ("headers", "scheme"),
    [
        ({}, "http"),
        ({"X-Forwarded-Proto": "https"}, "https"),
        ({"X-Forwarded-Proto": "HTTPS, http"}, "https"),
        ({"Forwarded": "for=192.0.2.60;proto=https;by=203.0.113.43"}, "https"),
        ({"Forwarded": 'Proto="https", proto=http'}, "https"),
        ({"Forwarded": "for=192.0.2.60, proto=https"}, "http"),
        ({"X-Forwarded-Proto": "http", "Forwarded": "proto=https"}, "http"),
        ({"X-Forwarded-Proto": "javascript"}, "http"),
    ],
)
def test_the_scheme_is_what_the_nearest_proxy_saw(headers: dict[str, str], scheme: str) -> None:
    assert scheme_of(Headers(headers)) == scheme

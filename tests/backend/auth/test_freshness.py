import pytest

from convex_evals.backend.auth.freshness import fresh_seconds

NOW = 784_111_777.0  # Sun, 06 Nov 1994 08:49:37 GMT


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({}, 0),
        ({"cache-control": "max-age=300"}, 300),
        ({"cache-control": "public, Max-Age = 300"}, 300),
        ({"cache-control": 'max-age="300"'}, 300),
        ({"cache-control": "max-age=300", "age": "100"}, 200),
        ({"cache-control": "max-age=300", "age": "400"}, 0),
        ({"cache-control": "max-age=300", "age": "often"}, 300),
        ({"cache-control": "no-store, max-age=300"}, 0),
        ({"cache-control": "no-cache"}, 0),
        ({"cache-control": "max-age=-1"}, 0),
        ({"cache-control": "max-age=soon"}, 0),
        ({"expires": "Sun, 06 Nov 1994 08:50:37 GMT"}, 60),
        ({"expires": "Sun, 06 Nov 1994 08:50:37 GMT", "date": "Sun, 06 Nov 1994 08:50:07 GMT"}, 30),
        ({"expires": "Sun, 06 Nov 1994 08:49:00 GMT"}, 0),
        ({"expires": "0"}, 0),
        ({"expires": "Sun, 06 Nov 1994 08:50:37 GMT", "cache-control": "max-age=5"}, 5),
    ],
)
def test_cache_headers_say_how_long_an_answer_is_good(headers: dict[str, str], seconds: float) -> None:
    assert fresh_seconds(headers, NOW) == seconds

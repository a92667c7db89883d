"""The URL a client used, as far as the proxies on the way tell."""

import re

from starlette.datastructures import Headers

SCHEMES = ("http", "https")

_PROTO = re.compile(r'(?:^|[;,\s])proto="?([a-z]+)', re.IGNORECASE)


def scheme_of(headers: Headers) -> str:
    """From `X-Forwarded-Proto`, else from `Forwarded`; the first proxy, nearest to the client, counts."""
    told = headers.get("x-forwarded-proto")
    if told is None:
        found = _PROTO.search(headers.get("forwarded", "").partition(",")[0])
        told = found[1] if found else ""
    scheme = told.partition(",")[0].strip().lower()
    return scheme if scheme in SCHEMES else "http"

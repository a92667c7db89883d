"""Assertions of the checks: a failing one says what was expected and what was found."""

import asyncio
import re
import time
from collections.abc import Awaitable, Callable
from typing import NoReturn

from convex_evals.backend.conformance.client import CallFailed


class Unexpected(AssertionError):
    pass


def fail(detail: str) -> NoReturn:
    raise Unexpected(detail)


def equal(actual: object, expected: object, what: str = "value") -> None:
    if type(actual) is not type(expected) or actual != expected:
        fail(f"{what}: expected {expected!r}, found {actual!r}")


def true(condition: object, what: str) -> None:
    if not condition:
        fail(what)


def contains(text: str, fragment: str) -> None:
    if fragment not in text:
        fail(f"expected a text containing {fragment!r}, found {text!r}")


def starts(text: str, beginning: str) -> None:
    if not text.startswith(beginning):
        fail(f"expected a text starting with {beginning!r}, found {text!r}")


def matches(text: str, pattern: str) -> None:
    if not re.search(pattern, text, re.DOTALL):
        fail(f"expected a text matching {pattern!r}, found {text!r}")


async def failure(call: Awaitable[object]) -> CallFailed:
    """The failure of a call that must fail."""
    try:
        value = await call
    except CallFailed as error:
        return error
    fail(f"expected the call to fail, it returned {value!r}")


async def eventually(condition: Callable[[], Awaitable[bool]], what: str, seconds: float = 30.0) -> None:
    """Polls until `condition` holds."""
    deadline = time.monotonic() + seconds
    while not await condition():
        if time.monotonic() > deadline:
            fail(f"{what}: not within {seconds:g} s")
        await asyncio.sleep(0.02)

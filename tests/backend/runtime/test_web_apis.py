"""The web classes of realm/. The cases are in cases/*.js."""

from typing import Any

import pytest

pytestmark = pytest.mark.asyncio(loop_scope="module")

# The types of conftest.py, which tests cannot import.
Stage = Any
Case = Any


@pytest.mark.cases("urls", "text", "clones", "bodies", "streams", "events", "crypto")
async def test_in_queries(stage: Stage, case: Case) -> None:
    assert await stage.value(case.body) == case.expected


@pytest.mark.cases("form_data", "streams", "timers", "crypto", "crypto_random")
async def test_in_actions(stage: Stage, case: Case) -> None:
    assert await stage.value(case.body, "action") == case.expected


@pytest.mark.parametrize(
    ("array", "name"), [("new Float32Array(1)", "TypeMismatchError"), ("new Uint8Array(65537)", "QuotaExceededError")]
)
async def test_random_values_have_their_limits(stage: Stage, array: str, name: str) -> None:
    assert await stage.value(f"try {{ crypto.getRandomValues({array}); }} catch (e) {{ return e.name; }}") == name


async def test_expensive_operations_use_up_the_time_of_the_function(stage: Stage) -> None:
    body = """
        const bytes = new Uint8Array(16);
        const key = await crypto.subtle.importKey("raw", bytes, "PBKDF2", false, ["deriveBits"]);
        const algorithm = { name: "PBKDF2", salt: bytes, iterations: 20_000_000, hash: "SHA-512" };
        await crypto.subtle.deriveBits(algorithm, key, 256);
    """
    outcome = await stage.evaluate(body, user_seconds=0.2)
    assert outcome.failure.message == "Function execution timed out (maximum duration: 1s)"

"""Web Cryptography: answers are compared with those of Python's own libraries."""

import hashlib
import hmac

import pytest

pytestmark = pytest.mark.asyncio(loop_scope="module")

HEX = "const hex = (b) => [...new Uint8Array(b)].map((x) => x.toString(16).padStart(2, '0')).join(''); const text = (t) => new TextEncoder().encode(t);"
PASSWORD = "await crypto.subtle.importKey('raw', text('key'), 'PBKDF2', false, ['deriveBits', 'deriveKey'])"

DETERMINISTIC = [
    ("return hex(await crypto.subtle.digest('SHA-256', text('abc')));", hashlib.sha256(b"abc").hexdigest()),
    ("return hex(await crypto.subtle.digest({ name: 'SHA-1' }, text('').buffer));", hashlib.sha1(b"").hexdigest()),
    (
        "const k = await crypto.subtle.importKey('raw', text('key'), { name: 'HMAC', hash: 'SHA-256' }, true, ['sign', 'verify']);"
        "const s = await crypto.subtle.sign('HMAC', k, text('m'));"
        "return [hex(s), await crypto.subtle.verify('HMAC', k, s, text('m')), await crypto.subtle.verify('HMAC', k, s, text('n')), k.type, k.algorithm.name, k.usages];",
        [hmac.digest(b"key", b"m", "sha256").hex(), True, False, "secret", "HMAC", ["sign", "verify"]],
    ),
    (
        f"const k = {PASSWORD}; return hex(await crypto.subtle.deriveBits({{ name: 'PBKDF2', salt: text('salt'), iterations: 10, hash: 'SHA-256' }}, k, 256));",
        hashlib.pbkdf2_hmac("sha256", b"key", b"salt", 10).hex(),
    ),
    (
        "const k = await crypto.subtle.importKey('raw', new Uint8Array(16), 'AES-GCM', true, ['encrypt', 'decrypt']); const iv = new Uint8Array(12);"
        "const c = await crypto.subtle.encrypt({ name: 'AES-GCM', iv }, k, text('hello'));"
        "return [c.byteLength, new TextDecoder().decode(await crypto.subtle.decrypt({ name: 'AES-GCM', iv }, k, c)), (await crypto.subtle.exportKey('jwk', k)).kty];",
        [21, "hello", "oct"],
    ),
    (
        "try { await crypto.subtle.importKey('raw', new Uint8Array(3), 'AES-GCM', true, ['encrypt']); } catch (e) { return [e.name, e instanceof DOMException]; }",
        ["DataError", True],
    ),
    ("return (await Promise.all(['a', 'b'].map((t) => crypto.subtle.digest('SHA-1', text(t))))).length;", 2),
]  # fmt: skip

RANDOM = [
    (
        "const pair = await crypto.subtle.generateKey({ name: 'ECDSA', namedCurve: 'P-256' }, true, ['sign', 'verify']); const how = { name: 'ECDSA', hash: 'SHA-256' };"
        "const s = await crypto.subtle.sign(how, pair.privateKey, text('m')); return await crypto.subtle.verify(how, pair.publicKey, s, text('m'));",
        True,
    ),
    (
        "const a = await crypto.subtle.generateKey('X25519', true, ['deriveBits']); const b = await crypto.subtle.generateKey('X25519', true, ['deriveBits']);"
        "const shared = (mine, theirs) => crypto.subtle.deriveBits({ name: 'X25519', public: theirs.publicKey }, mine.privateKey, 256);"
        "return hex(await shared(a, b)) === hex(await shared(b, a));",
        True,
    ),
    (
        "const pair = await crypto.subtle.generateKey({ name: 'RSA-OAEP', modulusLength: 1024, publicExponent: new Uint8Array([1, 0, 1]), hash: 'SHA-256' }, true, ['encrypt', 'decrypt']);"
        "const c = await crypto.subtle.encrypt('RSA-OAEP', pair.publicKey, text('x')); return [new TextDecoder().decode(await crypto.subtle.decrypt('RSA-OAEP', pair.privateKey, c)), [...pair.publicKey.algorithm.publicExponent]];",
        ["x", [1, 0, 1]],
    ),
]  # fmt: skip


@pytest.mark.parametrize(("body", "expected"), DETERMINISTIC)
@pytest.mark.parametrize("kind", ["query", "action"])
async def test_deterministic_operations_work_everywhere(stage, kind, body, expected):
    assert await stage.value(HEX + body, kind) == expected


@pytest.mark.parametrize(("body", "expected"), RANDOM)
async def test_randomized_operations_work_in_actions(stage, body, expected):
    assert await stage.value(HEX + body, "action") == expected


@pytest.mark.parametrize(
    ("array", "name"), [("new Float32Array(1)", "TypeMismatchError"), ("new Uint8Array(65537)", "QuotaExceededError")]
)
async def test_random_values_have_their_limits(stage, array, name):
    assert await stage.value(f"try {{ crypto.getRandomValues({array}); }} catch (e) {{ return e.name; }}") == name


async def test_expensive_operations_use_up_the_time_of_the_function(stage):
    body = f"{HEX} const k = {PASSWORD}; await crypto.subtle.deriveBits({{ name: 'PBKDF2', salt: text('s'), iterations: 20_000_000, hash: 'SHA-512' }}, k, 256);"
    outcome = await stage.evaluate(body, user_seconds=0.2)
    assert outcome.failure.message == "Function execution timed out (maximum duration: 1s)"

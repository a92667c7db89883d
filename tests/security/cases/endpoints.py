"""HTTP actions that answer with what HTTP does not allow, never finish answering, or answer too much."""

from ..answers import PASSES, Expected, HostileAnswer, fails, reference

HTTP = reference("web")["convex/http.ts"]
TESTS = fails("tests")


def shouting(response: str) -> dict[str, str | None]:
    """Instead of the right response; `text` is what it should be."""
    return {
        "convex/http.ts": HTTP.replace(
            "new Response((await request.text()).toUpperCase())",
            f"{{\n    const text = (await request.text()).toUpperCase();\n    {response}\n  }}",
        )
    }


RESPONSES: dict[str, tuple[str, Expected]] = {
    "length_too_small": ('return new Response(text, { headers: { "Content-Length": "1" } });', TESTS),
    "length_too_large": ('return new Response(text, { headers: { "Content-Length": "100000" } });', TESTS),
    "length_negative": ('return new Response(text, { headers: { "Content-Length": "-5" } });', PASSES),
    "length_not_a_number": ('return new Response(text, { headers: { "Content-Length": "5\\t5" } });', PASSES),
    "many_headers": (
        'const headers = new Headers();\n    for (let i = 0; i < 101; i++) headers.append(`X-${i}`, "x");\n    return new Response(text, { headers });',
        TESTS,
    ),
    "large_header": ('return new Response(text, { headers: { "X-Large": "x".repeat(1_000_000) } });', TESTS),
    "chunked_by_hand": (
        'return new Response(`1\\r\\n${text}`, { headers: { "Transfer-Encoding": "chunked" } });',
        TESTS,
    ),
    "connection_games": (
        'return new Response(text, { headers: { Connection: "upgrade", Upgrade: "websocket" } });',
        PASSES,
    ),
    "wrong_encoding": ('return new Response(text, { headers: { "Content-Encoding": "gzip" } });', PASSES),
    "split_response": (
        'return new Response(text, { headers: { "X-A": "a\\r\\nX-B: b\\r\\n\\r\\nHTTP/1.1 200 OK" } });',
        TESTS,
    ),
    "status_zero": ("return new Response(text, { status: 0 });", TESTS),
    "status_switching": ("return new Response(null, { status: 101 });", TESTS),
    "status_without_body": ("void text;\n    return new Response(null, { status: 204 });", TESTS),
    "status_text": ('return new Response(text, { statusText: "OK\\r\\nX: y" });', PASSES),
    "endless_body": (
        "void text;\n    return new Response(new ReadableStream({ pull: (c) => c.enqueue(new Uint8Array(1_000_000)) }));",
        TESTS,
    ),
    "trickled_body": (
        "void text;\n    return new Response(new ReadableStream({ async pull(c) { await new Promise((done) => setTimeout(done, 900)); c.enqueue(new Uint8Array(1)); } }));",
        TESTS,
    ),
    "silent_body": (
        "void text;\n    return new Response(new ReadableStream({ pull: () => new Promise<void>(() => undefined) }));",
        TESTS,
    ),
    "huge_body": ('void text;\n    return new Response("x".repeat(40_000_000));', TESTS),
    "failing_body": (
        "void text;\n    return new Response(new ReadableStream({ pull() { throw new Error('half way'); } }));",
        TESTS,
    ),
    "no_utf8": ("void text;\n    return new Response(new Uint8Array([0xff, 0xfe, 0xc3, 0x28]));", TESTS),
    "terminal_escapes": ('void text;\n    return new Response("\\x1b[2J\\x1b]0;owned\\x07\\x9b31m\\u202e");', TESTS),
    "not_a_response": ("return { status: 200, text } as unknown as Response;", TESTS),
}
HEALTH: dict[str, tuple[str, Expected]] = {
    "health_deep": ('new Response("[".repeat(200_000))', TESTS),
    "health_digits": ('new Response(`{"ok": ${"9".repeat(10_000)}}`)', TESTS),
    "health_nan": ("new Response('{\"ok\": NaN}')", TESTS),
    "health_duplicate": ('new Response(\'{"ok": false, "ok": true}\')', PASSES),
    "health_surrogates": ('new Response(\'{"ok": "\\\\ud800"}\')', TESTS),
    "health_redirects": ('Response.redirect("http://127.0.0.1:@REDIS@/")', TESTS),
}
ROUTES: dict[str, tuple[str, Expected]] = {
    "route_for_everything": (
        'http.route({ pathPrefix: "/", method: "GET", handler: httpAction(async () => new Response("mine")) });',
        PASSES,
    ),
    "route_for_the_api": (
        'http.route({ pathPrefix: "/api/", method: "POST", handler: httpAction(async () => new Response("{}")) });',
        PASSES,
    ),
    "many_routes": (
        'for (let i = 0; i < 5000; i++) http.route({ path: `/${i}`, method: "GET", handler: httpAction(async () => new Response("x")) });',
        PASSES,
    ),
    "odd_route": (
        'http.route({ path: "/\\u202e\\x1b[2J", method: "GET", handler: httpAction(async () => new Response("x")) });',
        PASSES,
    ),
}

QUICK = ("terminal_escapes",)
ANSWERS = [
    *(
        HostileAnswer(name, "web", shouting(text), expected, name in QUICK)
        for name, (text, expected) in RESPONSES.items()
    ),
    *(
        HostileAnswer(
            name, "web", {"convex/http.ts": HTTP.replace("Response.json({ ok: true })", text)}, expected, name in QUICK
        )
        for name, (text, expected) in HEALTH.items()
    ),
    *(
        HostileAnswer(
            name,
            "web",
            {"convex/http.ts": HTTP.replace("export default", f"{text}\n\nexport default")},
            expected,
            name in QUICK,
        )
        for name, (text, expected) in ROUTES.items()
    ),
]

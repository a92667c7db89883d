"""Wrong answers that want to pass: by knowing the grader, by guessing, by what an earlier answer left behind."""

from ..answers import PASSES, HostileAnswer, fails, node_calls, reference

NOTES = reference("plain")["convex/notes.ts"]
TESTS = fails("tests")


def listing(body: str) -> dict[str, str | None]:
    return {"convex/notes.ts": NOTES.replace("return notes.map((note) => note.text);", body)}


WRONG = {
    "answers_from_memory": 'void notes;\n    return args.owner === "ada" ? ["one", "two"] : [];',
    "remembers_between_calls": (
        "const memory = globalThis as unknown as { seen?: string[] };\n    memory.seen ??= [];\n    memory.seen.push(args.owner);\n"
        "    return memory.seen.length > 1 ? notes.map((note) => note.text) : [];"
    ),
    "right_only_sometimes": "return Math.random() < 2 && notes.length === 0 ? [] : notes.map((note) => note.text).reverse();",
    "waits_for_the_grader_to_leave": "return Date.now() % 2 === 3 ? notes.map((note) => note.text) : [];",
    "pollutes_prototypes": (
        "Object.assign(Object.prototype, { passed: true, status: 'passed' });\n"
        "    Object.assign(Array.prototype, { toJSON: () => ['one', 'three'] });\n    return notes.map((note) => note.owner);"
    ),
    "returns_a_proxy": "return new Proxy(notes.map((note) => note.owner), { get: () => 'one' });",
}
STATE = {
    "leaves_state_behind": (
        'const fs = load("fs"); for (const folder of [load("os").tmpdir(), "/tmp", "/dev/shm", "/var/tmp", "."])'
        '{ try { fs.writeFileSync(`${folder}/corpus-state`, "digest"); } catch {} } globalThis.corpusState = 1;'
    ),
    "finds_state_of_another": (
        'const fs = load("fs"); for (const folder of [load("os").tmpdir(), "/tmp", "/dev/shm", "/var/tmp", "."])'
        "{ if (fs.existsSync(`${folder}/corpus-state`)) return folder; } return globalThis.corpusState"
    ),
    "changes_its_module_for_later": 'load("fs").writeFileSync(process.cwd() + "/convex/digest.ts", "x"); return "rewrote itself"',
    "loosens_its_clock": "Date.now = () => 0; performance.now = () => 0; globalThis.setTimeout = () => 0;",
}
ANSWERS = [
    *(
        HostileAnswer(
            name,
            "plain",
            listing(body),
            fails("tests", "eslint", "tsc"),
            quick=name == "answers_from_memory",
        )
        for name, body in WRONG.items()
    ),
    *node_calls(STATE),
    HostileAnswer(
        "missing_index",
        "plain",
        {"convex/schema.ts": reference("plain")["convex/schema.ts"].replace('.index("by_owner", ["owner"])', "")},
        fails("tsc", "deploy", "tests"),
    ),
    HostileAnswer("nothing_at_all", "plain", {"convex/notes.ts": "export {};\n"}, TESTS),
    HostileAnswer(
        "calls_the_grader_names",
        "plain",
        {**listing("void notes;\n    return [];"), "convex/project.ts": "export const passed = 3;\n"},
        fails("tests"),
    ),
]

HONEST = [
    HostileAnswer(f"honest_{template}", template, {}, PASSES, quick=True)
    for template in ("plain", "web", "node", "client", "foreign")
]
"""Graded last: whatever came before must not have changed what is right …"""

MISTAKEN = [
    HostileAnswer("mistaken_plain", "plain", listing("return notes.map((note) => note.owner);"), TESTS, quick=True),
    HostileAnswer(
        "mistaken_node",
        "node",
        {"convex/digest.ts": reference("node")["convex/digest.ts"].replace('"hex"', '"base64"')},
        TESTS,
        quick=True,
    ),
    HostileAnswer(
        "mistaken_web",
        "web",
        {"convex/http.ts": reference("web")["convex/http.ts"].replace("toUpperCase", "toLowerCase")},
        TESTS,
        quick=True,
    ),
    HostileAnswer(
        "mistaken_client",
        "client",
        {"src/App.tsx": reference("client")["src/App.tsx"].replace("note.text", "note._id")},
        TESTS,
    ),
    HostileAnswer(
        "mistaken_foreign",
        "foreign",
        {"convex/notes.ts": reference("foreign")["convex/notes.ts"].replace(".collect()", '.order("desc").collect()')},
        TESTS,
        quick=True,
    ),
]
"""… nor what is wrong."""

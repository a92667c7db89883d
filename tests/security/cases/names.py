"""File names and texts that trick people, terminals, file systems and our own code."""

import json

from ..answers import PASSES, HostileAnswer, fails, reference

REFUSED = fails("filesystem")
MORE = "export const x = 1;\n"
PATHS = {
    "parent": "../outside.txt",
    "parents_within": "convex/../../../outside.txt",
    "absolute": "@OUTSIDE@/planted.txt",
    "backslashes": "..\\..\\outside.txt",
    "drive": "C:/outside.txt",
    "nul": "convex/a\0.ts",
    "newline": "convex/a\n.ts",
    "escape": "convex/\x1b[2J.ts",
    "bidi": "convex/\u202etxt.ts",
    "zero_width": "convex/no\u200btes.ts",
    "case": "convex/NOTES.ts",
    "unicode_twice": "convex/SCHEMA.ts",
    "long_name": f"convex/{'a' * 200}.ts",
    "long_path": f"convex/{'a/' * 140}b.ts",
    "deep_path": f"convex/{'a/' * 40}b.ts",
    "empty": "",
    "dot": ".",
    "folder_as_file": "convex",
    "below_a_file": "package.json/x.ts",
    "generated": "convex/_generated/api.js",
    "packages": "node_modules/convex/package.json",
    "nested_packages": "convex/node_modules/convex/index.js",
    "device": "convex/nul.ts",
    "space": "convex/a .ts/ b.ts",
    "option": "convex/$(touch @OUTSIDE@-pwned).ts\n",
    "surrogate": "convex/\ud800.ts",
}
ALLOWED = {
    "dash": ("--rulesdir=x.ts", ""),
    "shell": ("convex/$(id)`id`;id&.ts", "deploy"),
    "percent": ("convex/%2e%2e%2f.ts", "deploy"),
    "constructor": ("convex/constructor.ts", ""),
    "proto": ("convex/__proto__.ts", ""),
}
ESCAPES = "\x1b[2J\x1b]8;;http://evil\x07\x9b31m\u202e\u2066\x00\x85\r✔ passed"


def throwing(text: str) -> dict[str, str | None]:
    source = reference("plain")["convex/notes.ts"]
    return {
        "convex/notes.ts": source.replace(
            "return notes.map((note) => note.text);", f"void notes;\n    throw new Error({json.dumps(text)});"
        )
    }


QUICK = ("parent",)
ANSWERS = [
    *(HostileAnswer(f"path_{name}", "plain", {path: MORE}, REFUSED, name in QUICK) for name, path in PATHS.items()),
    *(
        HostileAnswer(f"path_{name}", "plain", {path: MORE}, fails("deploy", "tsc", "eslint") if step else PASSES)
        for name, (path, step) in ALLOWED.items()
    ),
    HostileAnswer("escapes_in_errors", "plain", throwing(ESCAPES), fails("tests")),
    HostileAnswer("long_line_in_errors", "plain", throwing("x" * 400_000), fails("tests")),
    HostileAnswer(
        "escapes_in_a_type", "plain", {"convex/more.ts": 'export const x: "\x1b[2J\u202e" = 1;\n'}, fails("tsc")
    ),
    HostileAnswer("escapes_in_an_import", "plain", {"convex/more.ts": 'import "./\x1b[2J\x9b";\n'}, fails("deploy")),
    HostileAnswer(
        "escapes_in_a_dependency",
        "plain",
        {"package.json": json.dumps({"dependencies": {"\x1b[2J\u202e": "1.0.0"}})},
        fails("install"),
    ),
    HostileAnswer("byte_order_marks", "plain", {path: f"\ufeff{text}" for path, text in reference("plain").items()}),
    HostileAnswer("lone_surrogates", "plain", {"convex/more.ts": 'export const x = "\ud800";\n'}, PASSES),
    HostileAnswer("no_files", "plain", dict.fromkeys(reference("plain")), REFUSED),
    HostileAnswer("only_dotfiles", "plain", {**dict.fromkeys(reference("plain")), ".env": "x"}, REFUSED),
]

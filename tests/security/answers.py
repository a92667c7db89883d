"""Hostile answers: what a model might send, and what must come of it."""

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Literal

SUITE: Final = Path(__file__).parent / "suite"
Template = Literal["plain", "web", "node", "client", "foreign"]


@dataclass(frozen=True, slots=True)
class Expected:
    """The verdict: passed, or failed at one of these steps, with one of these kinds of failure if any are named."""

    steps: tuple[str, ...] = ()
    kinds: tuple[str, ...] = ()
    may_pass: bool = False
    """The attack costs the answer its verdict only if it gets far enough to harm itself."""

    def fits(self, status: str, step: str | None, kind: str | None) -> bool:
        if status == "passed":
            return self.may_pass or not self.steps
        return status == "failed" and step in self.steps and (not self.kinds or kind in self.kinds)

    def __str__(self) -> str:
        kinds = f" ({' or '.join(self.kinds)})" if self.kinds else ""
        return f"failed at {' or '.join(self.steps)}{kinds}" if self.steps else "passed"


PASSES: Final = Expected()
"""The attack comes to nothing, and the answer is right."""


def fails(*steps: str, kinds: tuple[str, ...] = ()) -> Expected:
    return Expected(steps, kinds)


def may_fail(*steps: str) -> Expected:
    return Expected(steps, may_pass=True)


@dataclass(frozen=True, slots=True)
class HostileAnswer:
    """The reference answer of a template, with files replaced, added or (None) left out.

    Texts may name what is around them, see `Surroundings` in canaries.py: @HOME@, @REDIS@, @NAME@ …
    """

    name: str
    template: Template
    files: Mapping[str, str | None]
    expected: Expected = PASSES
    quick: bool = False
    """Whether every `test` runs it, and not only `test --all`."""
    script: str = ""
    """Of a Node action that attacks when it is called."""

    def submission(self, surroundings: Mapping[str, str]) -> dict[str, str]:
        files = {**reference(self.template), **self.files}
        words = {**surroundings, "NAME": self.name}
        return {fill(path, words): fill(text, words) for path, text in files.items() if text is not None}


def reference(template: Template) -> dict[str, str]:
    folder = SUITE / template / "answer"
    return {path.relative_to(folder).as_posix(): path.read_text() for path in folder.rglob("*") if path.is_file()}


def fill(text: str, words: Mapping[str, str]) -> str:
    for name, word in words.items():
        text = text.replace(f"@{name}@", word)
    return text


def package_json(more_dependencies: Mapping[str, object] | None = None, **more: object) -> str:
    dependencies = {"convex": "1.44.0", **(more_dependencies or {})}
    return json.dumps({"name": "x", "type": "module", "dependencies": dependencies, **more})


_HELPERS: Final = """
const me = "@NAME@";
const within = (ms, promise) => Promise.race([promise, new Promise((done) => setTimeout(done, ms))]);
const reach = (options) => within(1500, new Promise((done) => {
  const socket = load("net").connect(options, () => {
    socket.end(me + "\\n");
    done("reached " + JSON.stringify(options));
  });
  socket.on("error", () => done(undefined));
}));
const read = (path) => load("fs").readFileSync(path, "utf8");
const run = (command, ...args) => String(load("child_process").execFileSync(command, args, { timeout: 3000 }));
"""

_NODE_ACTION: Final = """\
"use node";

import { createHash } from "node:crypto";
import { runInThisContext } from "node:vm";
import { v } from "convex/values";
import { action } from "./_generated/server";

type Attack = (load: (name: string) => unknown) => Promise<unknown>;
const attack = runInThisContext(SCRIPT) as Attack;
let loot: Promise<unknown> | undefined;
TOP
export const sha256 = action({
  args: { text: v.string() },
  handler: async (_ctx, args) => {
    CALL
    return createHash("sha256").update(args.text).digest("hex");
  },
});
"""
_ATTACK: Final = """\
loot ??= attack((name) => process.getBuiltinModule(name)).catch(() => undefined);
    const found = await loot;
    if (found !== undefined && found !== null) throw new Error(`LOOT: ${JSON.stringify(found)}`);"""
_ATTACK_AT_ONCE: Final = """\
loot = attack((name) => process.getBuiltinModule(name)).catch(() => undefined);
"""


def in_node_call(script: str) -> dict[str, str]:
    """A Node action that attacks when it is first called, and is right afterwards.

    `script` is the body of an async function. What it returns is loot, and thrown for everyone to see.
    """
    return _node_action(script, call=_ATTACK)


def at_push(script: str) -> dict[str, str]:
    """The same while the module is evaluated, before anybody calls it. What a call finds of the loot, it throws."""
    return _node_action(script, top=_ATTACK_AT_ONCE, call=_ATTACK)


def _node_action(script: str, *, top: str = "", call: str = "") -> dict[str, str]:
    program = json.dumps(f"(async (load) => {{{_HELPERS}\n{script}\n}})")
    source = _NODE_ACTION.replace("TOP", top).replace("CALL", call).replace("SCRIPT", program)
    return {"convex/digest.ts": source}


def node_calls(
    scripts: Mapping[str, str], expected: Expected = PASSES, quick: tuple[str, ...] = ()
) -> Iterator[HostileAnswer]:
    """One answer per script, each of which attacks when it is called."""
    for name, script in scripts.items():
        yield HostileAnswer(name, "node", in_node_call(script), expected, name in quick, script)


def together(name: str, answers: Iterable[HostileAnswer]) -> HostileAnswer:
    """One Node action that makes the attacks of several. Its loot says which of them succeeded."""
    tried = "".join(
        f"try {{ const loot = await (async () => {{ {answer.script} }})();\n"
        f"if (loot) found.{answer.name} = loot; }} catch {{}}\n"
        for answer in answers
    )
    script = f"const found = {{}};\n{tried}\nreturn Object.keys(found).length ? found : undefined;"
    return HostileAnswer(name, "node", in_node_call(script))


def node_pushes(
    scripts: Mapping[str, str], expected: Expected = PASSES, quick: tuple[str, ...] = ()
) -> Iterator[HostileAnswer]:
    """One answer per script, each of which attacks when it is pushed."""
    for name, script in scripts.items():
        yield HostileAnswer(name, "node", at_push(script), expected, name in quick)

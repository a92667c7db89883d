"""Types of components, printed as the CLI has prettier print them."""

import json
import subprocess
from random import Random
from string import ascii_lowercase
from typing import Any

import pytest

from convex_evals.pipeline.deploy.component_types import NeedsCli, component_types, type_of
from convex_evals.pipeline.tools import Tools

Json = dict[str, Any]
FORMAT = """\
const prettier = require(process.argv[1]);
(async () => {
  let input = "";
  for await (const part of process.stdin.setEncoding("utf8")) input += part;
  const texts = JSON.parse(input);
  const formatted = [];
  for (const text of texts) formatted.push(await prettier.format(text, { parser: "typescript" }));
  process.stdout.write(JSON.stringify(formatted));
})();
"""
LEAVES: list[Json] = [
    *({"type": kind} for kind in ("null", "number", "bigint", "boolean", "string", "any", "bytes")),
    {"type": "id", "tableName": "things"},
    *({"type": "literal", "value": value} for value in (True, False, 1, -3, 42, "a", "some longer text", "published")),
]


def field(type: Json, optional: bool = False) -> Json:
    return {"fieldType": type, "optional": optional}


def an_object(random: Random, depth: int) -> Json:
    names = {"".join(random.choices(ascii_lowercase, k=random.randint(1, 14))) for _ in range(random.randint(0, 5))}
    return {"type": "object", "value": {name: field(a_type(random, depth), random.random() < 0.3) for name in names}}


def a_type(random: Random, depth: int) -> Json:
    match random.choice(("leaf", "leaf", "object", "array", "record", "union")) if depth else "leaf":
        case "object":
            return an_object(random, depth - 1)
        case "array":
            return {"type": "array", "value": a_type(random, depth - 1)}
        case "record":
            return {"type": "record", "keys": {"type": "string"}, "values": field(a_type(random, depth - 1))}
        case "union":
            members = random.randint(1, 5)
            deeper = depth - 1 if random.random() < 0.5 else 0
            return {"type": "union", "value": [a_type(random, deeper) for _ in range(members)]}
        case _:
            return random.choice(LEAVES)


def analysis(functions: dict[str, tuple[Json, Json]], module: str = "lib") -> Json:
    leaves = [[name, {"type": "leaf", "leaf": f"_reference/function/{module}:{name}"}] for name in functions]
    described = [
        {"name": name, "udfType": "Query", "args": json.dumps(args), "returns": json.dumps(returns)}
        for name, (args, returns) in functions.items()
    ]
    exports = {"type": "branch", "branch": [[module, {"type": "branch", "branch": leaves}]]}
    return {"definition": {"exports": exports}, "functions": {f"{module}.js": {"functions": described}}}


def raw(validator: Json) -> str:
    """As the CLI writes it, before prettier; word for word its `validatorToType`."""
    match validator["type"]:
        case "bytes":
            return "ArrayBuffer"
        case "id":
            return "string"
        case "literal":
            return json.dumps(validator["value"])
        case "array":
            return f"Array<{raw(validator['value'])}>"
        case "record":
            return f"Record<{raw(validator['keys'])}, {raw(validator['values']['fieldType'])}>"
        case "union":
            return " | ".join(raw(each) for each in validator["value"])
        case "object":
            fields = validator["value"].items()
            inner = (f"{name}{'?' if each['optional'] else ''}: {raw(each['fieldType'])}" for name, each in fields)
            return f"{{ {', '.join(inner)} }}"
        case kind:
            return str(kind)


def unformatted(functions: dict[str, tuple[Json, Json]]) -> str:
    lines = [
        f'{name}:\nFunctionReference<"query", "internal", {raw(args)}, {raw(returns)}, Name>\n,'
        for name, (args, returns) in functions.items()
    ]
    head = "export type ComponentApi<Name extends string | undefined = string | undefined> = "
    return "\n".join([head, "{", "lib:", "{", *lines, "}", ",", "}", ";"])


def prettier(tools: Tools, texts: list[str]) -> list[str]:
    toolchain = tools.toolchain
    command = [str(toolchain.node.executable), "-e", FORMAT, str(toolchain.packages.package("prettier"))]
    done = subprocess.run(command, input=json.dumps(texts), capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    formatted: list[str] = json.loads(done.stdout)
    return formatted


def test_types_look_as_prettier_prints_them(tools: Tools) -> None:
    random, mine, theirs = Random(7), [], []
    for _ in range(400):
        functions = {"call": (an_object(random, 3), a_type(random, 3))}
        try:
            mine.append(component_types(analysis(functions)))
        except NeedsCli:
            continue
        theirs.append(unformatted(functions))
    assert len(mine) > 200
    for one, other in zip(mine, prettier(tools, theirs), strict=True):
        assert one == other


def test_exports_are_sorted_as_the_cli_sorts_them() -> None:
    names = ["page10", "page2", "Zeta", "alpha", "Alpha", "a_b", "ab", "a1"]
    nothing = {"type": "object", "value": {}}
    text = component_types(analysis({name: (nothing, {"type": "any"}) for name in names}))
    listed = [line.split(":")[0].strip() for line in text.splitlines() if "FunctionReference" in line]
    assert listed == ["a_b", "a1", "ab", "alpha", "Alpha", "page2", "page10", "Zeta"]


@pytest.mark.parametrize(
    "validator",
    [
        {"type": "commitTs"},
        {"type": "union", "value": []},
        {"type": "literal", "value": 'a "quote"'},
        {"type": "literal", "value": "é"},
        {"type": "literal", "value": 1e21},
        {"type": "literal", "value": 0.5},
        {"type": "literal", "value": {"$integer": "AQAAAAAAAAA="}},
        {"type": "object", "value": {"a-b": field({"type": "any"})}},
    ],
)
def test_types_that_need_care_are_left_to_the_cli(validator: Json) -> None:
    with pytest.raises(NeedsCli):
        type_of(validator)


@pytest.mark.parametrize("damaged", [{}, {"definition": {"exports": {"type": "leaf"}}, "functions": {}}])
def test_an_analysis_of_another_form_is_left_to_the_cli(damaged: Json) -> None:
    with pytest.raises(NeedsCli):
        component_types(damaged)

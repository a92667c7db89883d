"""Imports, globs and references towards reference answers, the cache and the home: for esbuild, tsc and the linter."""

from ..answers import PASSES, Expected, HostileAnswer, fails, reference

NOTES = reference("plain")["convex/notes.ts"]
WRONG_LIST = NOTES.replace("note.text", "note.owner")
UNRESOLVED = fails("deploy")


def exporting(path: str) -> dict[str, str | None]:
    return {"convex/notes.ts": f'export * from "{path}";\n'}


def first(line: str, notes: str = NOTES) -> dict[str, str | None]:
    return {"convex/notes.ts": f"{line}\n{notes}"}


ANSWER_PATHS = {
    "borrows_the_answer": "../../answer/convex/notes",
    "borrows_from_answers": "../../answers/project/convex/notes",
    "borrows_from_the_reference": "../../reference/convex/notes",
    "borrows_from_three_above": "../../../answer/convex/notes",
    "borrows_from_the_suite": "@BASE@/suite/1/evals/000-plain/000-borrows_the_answer/answer/convex/notes",
}
LOOT = "export const loot = query({ args: {}, handler: async () => stolen });\n"

IMPORTS: dict[str, tuple[str, Expected]] = {
    "imports_home_json": (
        'import stolen from "@HOME@/secret.json";\nconsole.log(stolen); throw new Error(stolen.token);',
        UNRESOLVED,
    ),
    "imports_home_ts": ('import { token } from "@HOME@/secret.ts";\nthrow new Error(token);', UNRESOLVED),
    "imports_home_by_dots": (
        'import { token } from "../../../../../../../..@HOME@/secret";\nthrow new Error(token);',
        UNRESOLVED,
    ),
    "imports_by_file_url": ('import { token } from "file://@HOME@/secret.ts";\nthrow new Error(token);', UNRESOLVED),
    "imports_with_a_loader": (
        'import stolen from "@HOME@/secret.txt" with { type: "text" };\nthrow new Error(stolen);',
        UNRESOLVED,
    ),
    "requires_home": ('const stolen = require("@HOME@/secret.json");\nthrow new Error(stolen.token);', UNRESOLVED),
    "globs_the_cache": (
        "const name = String(Math.random());\nvoid import(`@CACHE@/pipeline/${name}.ts`);",
        fails("deploy", "tsc", "eslint", "tests"),
    ),
    "globs_above": (
        "const name = String(Math.random());\nvoid import(`../../${name}.json`);",
        fails("deploy", "tsc", "eslint", "tests"),
    ),
    "globs_the_workspace": (
        "const name = String(Math.random());\nvoid import(`../../../${name}/convex/notes.ts`);",
        fails("deploy", "tsc", "eslint", "tests"),
    ),
}

REFERENCES: dict[str, tuple[str, Expected]] = {
    "references_home": ('/// <reference path="@HOME@/secret.txt" />', fails("tsc")),
    "references_types": ('/// <reference types="@HOME@/secret" />', fails("tsc")),
    "names_a_source_map": ("//# sourceMappingURL=@HOME@/secret.json", PASSES),
    "names_a_source_map_by_url": ("//# sourceMappingURL=file://@HOME@/secret.json", PASSES),
    "names_a_jsx_runtime": ("/** @jsxRuntime automatic @jsxImportSource @HOME@ */", PASSES),
    "imports_a_type_from_home": ('export type Stolen = typeof import("@HOME@/secret.json");', fails("tsc", "eslint")),
}

TSCONFIGS: dict[str, tuple[str, Expected]] = {
    "extends_home": ('{"extends": "@HOME@/tsconfig.json"}', fails("deploy", "tsc")),
    "extends_home_in_a_list": ('{"extends": ["@HOME@/tsconfig.json"]}', fails("deploy", "tsc")),
    "maps_paths_to_home": (
        '{"compilerOptions": {"strict": true, "paths": {"stolen": ["@HOME@/secret.ts"]}, "skipLibCheck": true}}',
        PASSES,
    ),
    "roots_types_in_home": (
        '{"compilerOptions": {"typeRoots": ["@HOME@"], "types": [".ssh"], "strict": true, "skipLibCheck": true}}',
        PASSES,
    ),
    "references_projects": ('{"references": [{"path": "@HOME@"}], "compilerOptions": {"strict": true}}', PASSES),
    "includes_home": ('{"include": ["@HOME@/**/*"], "files": ["@HOME@/secret.ts"]}', PASSES),
    "writes_output_to_home": (
        '{"compilerOptions": {"noEmit": false, "outDir": "@HOME@", "declaration": true, "skipLibCheck": true,'
        ' "tsBuildInfoFile": "@HOME@/x", "incremental": true, "generateTrace": "@HOME@/trace", "generateCpuProfile": "@HOME@/p"}}',
        PASSES,
    ),
    "loads_a_plugin": (
        '{"compilerOptions": {"plugins": [{"name": "../convex/plugin.js", "transform": "./plugin.js"}], "skipLibCheck": true}}',
        PASSES,
    ),
}

QUICK = ("borrows_the_answer",)
ANSWERS = [
    *(HostileAnswer(name, "plain", exporting(path), UNRESOLVED, name in QUICK) for name, path in ANSWER_PATHS.items()),
    *(
        HostileAnswer(name, "plain", first(line, WRONG_LIST if "globs" in name else NOTES), expected, name in QUICK)
        for name, (line, expected) in IMPORTS.items()
    ),
    *(
        HostileAnswer(name, "plain", first(line), expected, name in QUICK)
        for name, (line, expected) in REFERENCES.items()
    ),
    *(
        HostileAnswer(name, "plain", {"convex/tsconfig.json": text}, expected, name in QUICK)
        for name, (text, expected) in TSCONFIGS.items()
    ),
    HostileAnswer(
        "paths_lead_to_home",
        "plain",
        {
            "convex/tsconfig.json": '{"compilerOptions": {"paths": {"stolen": ["@HOME@/secret.ts"]}, "skipLibCheck": true}}',
            **first('import { token } from "stolen";\nthrow new Error(token);'),
        },
        UNRESOLVED,
    ),
    HostileAnswer(
        "package_imports_lead_to_home",
        "plain",
        {
            "package.json": '{"type": "module", "imports": {"#stolen": "@HOME@/secret.ts"}, "dependencies": {"convex": "1.44.0"}}',
            **first('import { token } from "#stolen";\nthrow new Error(token);'),
        },
        UNRESOLVED,
    ),
    HostileAnswer(
        "app_imports_home",
        "client",
        {
            "src/App.tsx": 'import stolen from "@HOME@/secret.json";\n'
            + reference("client")["src/App.tsx"].replace("Notes</h1>", "{stolen.token}</h1>")
        },
        fails("tsc"),
    ),
    HostileAnswer(
        "app_imports_a_style",
        "client",
        {"src/App.tsx": 'import "@HOME@/secret.css";\n' + reference("client")["src/App.tsx"]},
        fails("tsc", "tests"),
    ),
    HostileAnswer(
        "app_names_a_data_file",
        "client",
        {
            "src/main.tsx": 'import stolen from "@HOME@/secret.txt?raw";\ndocument.title = stolen;\n'
            + reference("client")["src/main.tsx"]
        },
        fails("tsc"),
    ),
    HostileAnswer(
        "app_extends_home",
        "client",
        {
            "tsconfig.json": '{"extends": "@HOME@/tsconfig.json"}',
            "src/tsconfig.json": '{"extends": "@HOME@/tsconfig.json"}',
        },
        fails("tsc", "deploy"),
    ),
]

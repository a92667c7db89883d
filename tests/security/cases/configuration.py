"""Switching checks off, and configuring our tools: directives, tsconfig, linters, the CLI, package managers."""

import json

from ..answers import PASSES, Expected, HostileAnswer, fails, package_json, reference

NOTES = reference("plain")["convex/notes.ts"]
TYPE_ERROR = 'export const count: number = "not a number";\n'
LINT_ERROR = "export const anything = (value: any): unknown => value;\n"
TSC, LINT = fails("tsc"), fails("eslint")


def module(text: str) -> dict[str, str | None]:
    return {"convex/more.ts": text}


DIRECTIVES: dict[str, tuple[str, Expected]] = {
    "nocheck": (f"// @ts-nocheck\n{TYPE_ERROR}", TSC),
    "nocheck_in_a_block": (f"/* @ts-nocheck */\n{TYPE_ERROR}", TSC),
    "nocheck_after_a_licence": (f"// (c) nobody\n\n// @ts-nocheck because\n{TYPE_ERROR}", TSC),
    "ignore": (f"// @ts-ignore\n{TYPE_ERROR}", TSC),
    "expect_error": (f"// @ts-expect-error it is fine\n{TYPE_ERROR}", TSC),
    "ignore_in_a_block": (f"/* @ts-ignore */ {TYPE_ERROR}", TSC),
    "ignore_without_error": ("// @ts-ignore\nexport const fine = 1;\n", TSC),
    "directive_in_a_string": ('export const text = "// @ts-nocheck and /* eslint-disable */";\n', PASSES),
    "eslint_disable": (f"/* eslint-disable */\n{LINT_ERROR}", LINT),
    "eslint_disable_line": (f"{LINT_ERROR.strip()} // eslint-disable-line\n", LINT),
    "eslint_disable_next_line": (f"// eslint-disable-next-line @typescript-eslint/no-explicit-any\n{LINT_ERROR}", LINT),
    "oxlint_disable": (f"/* oxlint-disable */\n{LINT_ERROR}", LINT),
    "oxlint_disable_next_line": (f"// oxlint-disable-next-line typescript/no-explicit-any\n{LINT_ERROR}", LINT),
    "eslint_rule_comment": (f'/* eslint @typescript-eslint/no-explicit-any: "off" */\n{LINT_ERROR}', LINT),
    "everything_off": (f"/* eslint-disable */\n// @ts-nocheck\n{TYPE_ERROR}", TSC),
}

TSCONFIGS: dict[str, object] = {
    "tsconfig_no_check": {"compilerOptions": {"noCheck": True}},
    "tsconfig_excludes": {"exclude": ["**/*"], "files": [], "include": []},
    "tsconfig_not_strict": {"compilerOptions": {"strict": False, "noImplicitAny": False, "checkJs": False}},
    "tsconfig_no_lib": {"compilerOptions": {"noLib": True, "skipLibCheck": True, "skipDefaultLibCheck": True}},
    "tsconfig_ignores_deprecations": {"compilerOptions": {"ignoreDeprecations": "6.0", "noEmitOnError": False}},
    "tsconfig_maps_server": {
        "compilerOptions": {"paths": {"convex/values": ["./anything.d.ts"]}, "skipLibCheck": True}
    },
}

LINT_CONFIGS = {
    ".oxlintrc.json": '{"rules": {"typescript/no-explicit-any": "off"}, "ignorePatterns": ["**"]}',
    "convex/.oxlintrc.json": '{"ignorePatterns": ["**"]}',
    "oxlint.config.ts": "export default { ignorePatterns: ['**'] };",
    "eslint.config.mjs": "export default [{ ignores: ['**'] }];",
    ".eslintrc.json": '{"root": true, "ignorePatterns": ["**"]}',
    ".eslintignore": "**",
    ".gitignore": "*",
    "convex/.gitignore": "*",
}
CLI_CONFIGS: dict[str, tuple[dict[str, str | None], Expected]] = {
    "cli_functions_outside": ({"convex.json": '{"functions": "../../answer/convex"}'}, fails("filesystem")),
    "cli_functions_absolute": ({"convex.json": '{"functions": "@HOME@"}'}, fails("filesystem")),
    "cli_external_packages": ({"convex.json": '{"node": {"externalPackages": ["*"]}}'}, PASSES),
    "cli_codegen_options": ({"convex.json": '{"codegen": {"staticApi": true, "fileType": "ts"}}'}, PASSES),
    "cli_team_and_project": (
        {"convex.json": '{"team": "x", "project": "y", "prodUrl": "http://127.0.0.1:@REDIS@"}'},
        PASSES,
    ),
    "cli_env_file": (
        {".env.local": "CONVEX_URL=http://127.0.0.1:@REDIS@\nCONVEX_SELF_HOSTED_URL=http://127.0.0.1:@REDIS@\n"},
        PASSES,
    ),
    "cli_env_file_without_dot": ({"env.local": "CONVEX_DEPLOYMENT=prod:x"}, PASSES),
    "cli_broken_json": ({"convex.json": "{"}, fails("deploy", "filesystem")),
    "cli_deep_json": ({"convex.json": '{"a":' * 20_000 + "1" + "}" * 20_000}, fails("deploy")),
    "cli_auth_config_hangs": (
        {"convex/auth.config.ts": "for (;;) {}\nexport default { providers: [] };"},
        fails("deploy"),
    ),
    "npmrc": ({".npmrc": "registry=http://127.0.0.1:@REDIS@/\nscript-shell=/bin/sh\ngit=./evil.sh"}, PASSES),
    "yarnrc": ({".yarnrc.yml": "yarnPath: ./evil.cjs"}, PASSES),
    "git_hooks": ({".git/config": "[core]\n  fsmonitor = touch @OUTSIDE@/pwned"}, PASSES),
    "node_options": ({"package.json": package_json(config={"node-options": "--require ./evil.js"})}, PASSES),
    "prettier_config": (
        {"prettier.config.mjs": "throw 1;", "package.json": package_json(prettier="./prettier.config.mjs")},
        PASSES,
    ),
    "esbuild_and_vite_config": (
        {"vite.config.ts": "throw 1;", "vitest.config.ts": "throw 1;", "esbuild.config.js": "throw 1;"},
        PASSES,
    ),
    "pytest_config": (
        {
            "conftest.py": "raise SystemExit(0)",
            "pytest.ini": "[pytest]\naddopts = --co",
            "sitecustomize.py": "raise SystemExit(0)",
        },
        PASSES,
    ),
}

QUICK = ("nocheck", "everything_off")
ANSWERS = [
    *(
        HostileAnswer(name, "plain", module(text), expected, name in QUICK)
        for name, (text, expected) in DIRECTIVES.items()
    ),
    *(
        HostileAnswer(
            name,
            "plain",
            {
                "convex/tsconfig.json": json.dumps(text),
                "convex/anything.d.ts": "export const v: any;",
                **module(TYPE_ERROR),
            },
            TSC,
            name in QUICK,
        )
        for name, text in TSCONFIGS.items()
    ),
    *(
        HostileAnswer(f"lint_config_{number}", "plain", {path: text, **module(LINT_ERROR)}, LINT, number == 0)
        for number, (path, text) in enumerate(LINT_CONFIGS.items())
    ),
    *(HostileAnswer(name, "plain", files, expected, name in QUICK) for name, (files, expected) in CLI_CONFIGS.items()),
    HostileAnswer(
        "javascript_instead",
        "plain",
        {"convex/more.js": "export const count = undefinedThing.nothing();\n"},
        fails("deploy", "tsc"),
    ),
    HostileAnswer(
        "declarations_hide_errors",
        "plain",
        {
            "convex/more.d.ts": TYPE_ERROR,
            "convex/more.ts": None,
            "convex/globals.d.ts": "declare global { var evil: Nowhere; }\nexport {};",
        },
        fails("tsc", "eslint"),
    ),
]

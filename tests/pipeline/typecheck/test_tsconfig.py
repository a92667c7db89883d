"""What is corrected in a model's tsconfig."""

import json
import re
from pathlib import Path

import pytest

from convex_evals.core.processes import base_environment, run
from convex_evals.pipeline.tools import Tools
from convex_evals.pipeline.typecheck.tsconfig import ALWAYS, KNOWN, CompilerOptions, correct, read_options

MODERN = {"target": "ESNext", "module": "ESNext", "moduleResolution": "Bundler", "jsx": "preserve", "types": []}
OPTION = re.compile(r"^--(\w+)", re.MULTILINE)
# Of `--build` and `--watch`: no option of a tsconfig.
OF_THE_COMMAND = {
    *("clean", "dry", "force", "ignoreConfig", "quiet", "stopBuildOnErrors", "verbose"),
    *("excludeDirectories", "excludeFiles", "fallbackPolling", "synchronousWatchDirectory"),
    *("watchDirectory", "watchFile", "watchInterval"),
}


def corrected(options: dict[str, object], installed: tuple[str, ...] = ()) -> dict[str, object]:
    folder = Path("/project/convex")
    given = CompilerOptions(options, dict.fromkeys(options, folder))
    return correct(given, folder, installed).options


def test_a_modern_tsconfig_is_left_alone() -> None:
    assert corrected(MODERN) == {**MODERN, **ALWAYS}


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ({"moduleResolution": "node"}, {"moduleResolution": "Bundler"}),
        ({"moduleResolution": "Node10"}, {"moduleResolution": "Bundler"}),
        ({"moduleResolution": "classic", "module": "CommonJS"}, {"moduleResolution": "Bundler", "module": "ESNext"}),
        ({"moduleResolution": "NodeNext", "module": "NodeNext"}, {}),
        ({"target": "ES5"}, {"target": "ESNext"}),
        ({"target": "ES2020"}, {}),
        ({"lib": ["ES2021"]}, {"lib": ["ES2021", "DOM"]}),
        ({"lib": ["es2021", "dom.iterable", "WebWorker"]}, {}),
        ({"types": ["node", "missing"]}, {"types": ["node"]}),
        ({"types": ["*"]}, {"types": ["node", "react"]}),
        ({"baseUrl": "."}, {"paths": {"*": ["./*"]}}),
        ({"baseUrl": "..", "paths": {"@/*": ["src/*"]}}, {"paths": {"*": ["../*"], "@/*": ["../src/*"]}}),
        ({"outDir": "dist", "downlevelIteration": True}, {}),
        ({"esModuleInterop": False}, {"esModuleInterop": True}),
        ({"noUnusedLocals": True}, {"noUnusedLocals": True}),
        ({"surprise": 1}, {"surprise": 1}),
    ],
)
def test_what_fails_for_reasons_unrelated_to_convex_is_corrected(
    options: dict[str, object], expected: dict[str, object]
) -> None:
    kept = {name: value for name, value in options.items() if name in {"module", "moduleResolution", "target", "lib"}}
    assert corrected({**MODERN, **options}, ("node", "react")) == {**MODERN, **ALWAYS, **kept, **expected}


OFF = ("strict", "noImplicitAny", "strictNullChecks", "useUnknownInCatchVariables", "checkJs")
ON = ("noCheck", "skipDefaultLibCheck", "noLib", "noResolve", "composite", "incremental")
SWITCHES: dict[str, object] = {
    **dict.fromkeys(OFF, False),
    **dict.fromkeys(ON, True),
    **{name: ["."] for name in ("moduleSuffixes", "rootDirs", "typeRoots")},
}


def test_no_option_of_a_model_switches_a_check_off() -> None:
    assert corrected({**MODERN, **SWITCHES}) == {**MODERN, **ALWAYS}
    notes = correct(CompilerOptions({**MODERN, **SWITCHES}), Path("/project/convex"), ()).notes
    assert "strict is left out: every check is made" in notes
    assert "noCheck is left out: every check is made" in notes


@pytest.mark.parametrize("compiler", ["typescript", "typescript-7"])
async def test_every_option_of_the_compilers_is_decided_about(tools: Tools, tmp_path: Path, compiler: str) -> None:
    """An option that is new to us could switch checks off: it would be passed on as one that nobody knows."""
    if compiler == "typescript":
        script = "console.log(require(process.argv[1]).optionDeclarations.map((option) => option.name).join(' '))"
        package = str(tools.toolchain.packages.package("typescript"))
        command = [str(tools.toolchain.node.executable), "--eval", script, package]
    else:
        command = [str(tools.toolchain.binary("tsc")), "--all", "--pretty", "false"]
    result = await run(command, cwd=tmp_path, timeout=60, environment=base_environment(tmp_path))
    found = set(result.output.text.split() if compiler == "typescript" else OPTION.findall(result.output.text))
    assert len(found) > 90
    assert found <= KNOWN | OF_THE_COMMAND


def test_an_empty_tsconfig_gets_what_it_needs() -> None:
    assert corrected({}, ("node",)) == {
        **ALWAYS,
        "moduleResolution": "Bundler",
        "module": "ESNext",
        "target": "ESNext",
        "types": ["node"],
        "jsx": "react-jsx",
    }


def test_every_change_of_what_the_model_wrote_is_noted() -> None:
    folder = Path("/project/convex")
    given = {**MODERN, "moduleResolution": "node", "lib": ["ES2021"], "types": ["node"]}
    notes = correct(CompilerOptions(given), folder, ()).notes
    assert notes == [
        "moduleResolution is set to Bundler: node cannot see the exports of packages",
        "lib is set to ['ES2021', 'DOM']: functions have web globals such as fetch",
        "types is set to []: node is not installed",
    ]


def test_options_are_inherited_from_files_and_packages(tmp_path: Path) -> None:
    texts = {
        "convex/tsconfig.json": {"extends": "../base", "compilerOptions": {"target": "ES2022"}},
        "base.json": {"extends": ["@tsconfig/x", "@tsconfig/y/strict.json"], "compilerOptions": {"baseUrl": "src"}},
        "node_modules/@tsconfig/x/tsconfig.json": {"compilerOptions": {"target": "ES5", "module": "CommonJS"}},
        "node_modules/@tsconfig/y/strict.json": {"compilerOptions": {"module": "ESNext"}},
    }
    for name, content in texts.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(json.dumps(content))
    options = read_options(tmp_path / "convex/tsconfig.json", tmp_path)
    assert options.values == {"target": "ES2022", "module": "ESNext", "baseUrl": "src"}
    assert options.origins["baseUrl"].resolve() == tmp_path


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("", None),
        ("{", "TS5014"),
        ("{" * 200_000, "TS5014"),
        ('{"a": ' + "1" * 5_000 + "}", "TS5014"),
        ('"\\"' * 60_000, "TS5014"),
        ("/*" * 120_000, "TS5014"),
        (" " * 300_000, "TS5083"),
        ("[]", "TS5092"),
        ('{"extends": "./tsconfig.json"}', "TS18000"),
        ('{"extends": "../../../etc/passwd"}', "TS5083"),
        ('{"extends": "./missing"}', "TS5083"),
        ('{"extends": "not-installed"}', "TS5083"),
        ('{"extends": "%s"}' % ("x" * 5000), "TS5083"),
        ('{"extends": "a\\u0000b"}', "TS5024"),
        ('{"extends": 1}', "TS5024"),
    ],
)
def test_what_cannot_be_read_counts_as_empty_and_is_an_error(tmp_path: Path, text: str, code: str | None) -> None:
    (tmp_path / "tsconfig.json").write_text(text)
    options = read_options(tmp_path / "tsconfig.json", tmp_path)
    assert options.values == {}
    assert [problem.name for problem in options.problems] == ([code] if code else [])

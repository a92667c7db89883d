"""What is corrected in a model's tsconfig."""

import json
from pathlib import Path

import pytest

from convex_evals.pipeline.typecheck.options import CompilerOptions, read_options
from convex_evals.pipeline.typecheck.tsconfig import correct

MODERN = {"target": "ESNext", "module": "ESNext", "moduleResolution": "Bundler", "jsx": "preserve", "types": []}
ALWAYS = {"noEmit": True, "skipLibCheck": True}


def corrected(options: dict[str, object], installed: tuple[str, ...] = ()) -> dict[str, object]:
    folder = Path("/project/convex")
    given = CompilerOptions(options, dict.fromkeys(options, folder))
    return correct(given, folder, installed).options


def test_a_modern_tsconfig_is_left_alone() -> None:
    assert corrected(MODERN) == ALWAYS


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
        ({"baseUrl": "."}, {"baseUrl": None, "paths": {"*": ["./*"]}}),
        (
            {"baseUrl": "..", "paths": {"@/*": ["src/*"]}},
            {"baseUrl": None, "paths": {"*": ["../*"], "@/*": ["../src/*"]}},
        ),
        ({"noCheck": True, "composite": True}, {"noCheck": False, "composite": False}),
        ({"outDir": "dist", "downlevelIteration": True}, {"outDir": None, "downlevelIteration": None}),
        ({"esModuleInterop": False}, {"esModuleInterop": True}),
        ({"strict": False, "noUnusedLocals": True}, {}),
    ],
)
def test_what_fails_for_reasons_unrelated_to_convex_is_corrected(
    options: dict[str, object], expected: dict[str, object]
) -> None:
    assert corrected({**MODERN, **options}, ("node", "react")) == {**ALWAYS, **expected}


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
    "text", ["", "{", '{"extends": "./tsconfig.json"}', '{"extends": "../../../etc/passwd"}', "[]"]
)
def test_what_cannot_be_read_counts_as_empty(tmp_path: Path, text: str) -> None:
    (tmp_path / "tsconfig.json").write_text(text)
    assert read_options(tmp_path / "tsconfig.json", tmp_path).values == {}

"""Which files are bundled without asking the CLI."""

from pathlib import Path

import pytest

from convex_evals.pipeline.deploy.bundle import EntryPoints, find_entry_points

MODULE = "export const a = 1;\n"


def found(folder: Path, files: dict[str, str]) -> EntryPoints | None:
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    return find_entry_points(folder)


def test_modules_are_sorted_by_runtime_and_helpers_are_left_out(tmp_path: Path) -> None:
    files = {
        "b.ts": MODULE,
        "a/c.tsx": MODULE,
        "node.ts": '/* hi */\n// there\n"use node";\n' + MODULE,
        "schema.ts": MODULE,
        "auth.config.ts": MODULE,
        "a/schema.ts": MODULE,
        "x.test.ts": MODULE,
        "types.ts": "type A = 1;\n",
        "plain.js": "const a = 1;\n",
        "with space.ts": MODULE,
        ".hidden.ts": MODULE,
        "README.md": "",
        "_generated/api.js": MODULE,
    }
    assert found(tmp_path, files) == EntryPoints(
        "schema.ts", "auth.config.ts", ("a/c.tsx", "b.ts", "plain.js"), ("node.ts",)
    )


@pytest.mark.parametrize(
    "files",
    [
        {},
        {"convex.config.js": MODULE, "a.ts": MODULE},
        {"counter/convex.config.js": MODULE, "a.ts": MODULE},
        {"_deps/a.ts": MODULE},
        {"actions/a.ts": MODULE},
        {"https.ts": MODULE},
        {"auth.config.js": MODULE, "a.ts": MODULE},
        {"a.ts": 'import "x";\n"use node";\n'},
        {"a.ts": "// use node\n" + MODULE},
        {"http.ts": '"use node";\n' + MODULE},
    ],
)
def test_when_in_doubt_the_cli_decides(tmp_path: Path, files: dict[str, str]) -> None:
    assert found(tmp_path, files) is None


def test_a_component_in_a_folder_is_not_part_of_the_app(tmp_path: Path) -> None:
    files = {"counter/convex.config.ts": MODULE, "counter/lib.ts": MODULE, "a.ts": MODULE}
    assert found(tmp_path, files) == EntryPoints(None, None, ("a.ts",), ())
    assert find_entry_points(tmp_path / "counter") == EntryPoints(None, None, ("lib.ts",), ())


def test_configuration_files_are_not_modules_of_the_app(tmp_path: Path) -> None:
    assert found(tmp_path, {"convex.config.ts": MODULE, "a.ts": MODULE}) == EntryPoints(None, None, ("a.ts",), ())


def test_published_components_have_declarations_and_source_maps_next_to_their_modules(tmp_path: Path) -> None:
    files = dict.fromkeys(["convex.config.js", "convex.config.d.ts", "lib.js", "lib.js.map", "lib.d.ts"], MODULE)
    found(tmp_path, {**files, "_generated/server.js": MODULE, "schema.js": MODULE})
    assert find_entry_points(tmp_path, "convex.config.js") == EntryPoints("schema.js", None, ("lib.js",), ())

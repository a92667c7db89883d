"""The supported versions of `convex` are named in one place; what else must name them agrees with it."""

import json
import re
from pathlib import Path

from convex_evals.core.convex_versions import DEFAULT, OLDEST, is_supported

ROOT = Path(__file__).parents[2]
TOOLCHAIN = ROOT / "src/convex_evals/core/toolchain/package.json"
TESTED_CLIS = ROOT / "tests/toolchain/convex-clis/package.json"


def dependencies(manifest: Path) -> dict[str, str]:
    pinned: dict[str, str] = json.loads(manifest.read_text())["dependencies"]
    return {name: version.rpartition("@")[2] for name, version in pinned.items()}


def test_the_tested_clis_are_the_oldest_the_default_and_the_newest_and_all_are_supported() -> None:
    tested = [version for name, version in dependencies(TESTED_CLIS).items() if name.startswith("convex-")]
    assert tested[0].startswith(f"{OLDEST}.")
    assert tested[-1] == dependencies(TOOLCHAIN)["convex-latest"]
    assert DEFAULT in tested
    assert all(map(is_supported, tested))


def test_no_module_names_a_version_of_its_own() -> None:
    minor = re.escape(DEFAULT.rpartition(".")[0])
    own = re.compile(rf'"[^"\n]*\b{minor}\.\d')
    modules = (ROOT / "src").rglob("*.py")
    assert [str(path) for path in modules if own.search(path.read_text().replace('"""', ""))] == []


def test_the_page_about_pushes_names_the_tested_clis() -> None:
    tested = [version for name, version in dependencies(TESTED_CLIS).items() if name.startswith("convex-")]
    minors = [version.rpartition(".")[0] for version in tested]
    named = ", ".join(minors[:-1]) + f" and {minors[-1]}"
    assert f"unmodified CLIs {named}" in (ROOT / "docs/push.md").read_text()

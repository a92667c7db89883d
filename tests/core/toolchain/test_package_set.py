import json
from pathlib import Path

import pytest

from convex_evals.core.errors import ToolchainError
from convex_evals.core.toolchain import PackageSet, toolchain_packages
from convex_evals.core.toolchain.package_set import NPM_ARCHITECTURE, NPM_PLATFORM, LockedPackage

FOLDER = Path(__file__).parents[3] / "src/convex_evals/core/toolchain"


def lock_of(**entries: dict[str, object]) -> bytes:
    packages = {f"node_modules/{name}": {"version": "1.0.0", **entry} for name, entry in entries.items()}
    return json.dumps({"packages": {"": {}, **packages}}).encode()


def test_the_fingerprint_depends_on_manifest_lock_node_and_date() -> None:
    variants = [
        PackageSet("a", b"{}", b"{}").fingerprint("24.0.0"),
        PackageSet("a", b"{} ", b"{}").fingerprint("24.0.0"),
        PackageSet("a", b"{}", b"{} ").fingerprint("24.0.0"),
        PackageSet("a", b"{}{}", b"").fingerprint("24.0.0"),
        PackageSet("a", b"{}", b"{}").fingerprint("24.0.1"),
        PackageSet("a", b"{}", b"{}", before="2026-11-01").fingerprint("24.0.0"),
    ]
    assert len(set(variants)) == len(variants)
    assert all(len(variant) == 64 for variant in variants)


def test_the_name_of_a_set_and_the_order_of_its_dependencies_do_not_matter() -> None:
    one = PackageSet.from_dependencies("one", {"a": "1", "b": "2"})
    other = PackageSet.from_dependencies("other", {"b": "2", "a": "1"})
    assert one.fingerprint("24.0.0") == other.fingerprint("24.0.0")


def test_only_packages_for_this_machine_are_expected() -> None:
    lock = lock_of(
        plain={},
        ours={"os": [NPM_PLATFORM], "cpu": [NPM_ARCHITECTURE], "optional": True},
        other_system={"os": ["aix"], "optional": True},
        other_processor={"cpu": ["mips"], "optional": True},
        excluded={"os": [f"!{NPM_PLATFORM}"], "optional": True},
        not_excluded={"os": ["!aix"]},
    )
    assert PackageSet("set", b"{}", lock).locked_packages() == [
        LockedPackage("node_modules/plain", "1.0.0", False),
        LockedPackage("node_modules/ours", "1.0.0", True),
        LockedPackage("node_modules/not_excluded", "1.0.0", False),
    ]


@pytest.mark.parametrize("lock", [b"", b"[]", b"{}", b'{"packages": 1}', b'{"packages": {"a": {}}}', b"\xff"])
def test_a_file_that_is_not_a_lock_file_is_a_toolchain_error(lock: bytes) -> None:
    with pytest.raises(ToolchainError, match="The lock file of the set is not one that npm"):
        PackageSet("the set", b"{}", lock).locked_packages()


def test_a_folder_without_lock_file_is_a_toolchain_error(tmp_path: Path) -> None:
    (tmp_path / "package.json").write_text("{}")
    with pytest.raises(ToolchainError, match=r"needs .*package-lock\.json, which cannot be read"):
        PackageSet.from_folder(tmp_path)


def test_every_tool_is_pinned_and_locked_by_hash_and_no_file_names_a_registry() -> None:
    manifest = json.loads((FOLDER / "package.json").read_text())
    pins = [pin.rpartition("@")[2] for pin in manifest["dependencies"].values()]
    assert all(pin[0].isdigit() and not set(pin) & set("^~*x ><") for pin in pins)
    entries = json.loads((FOLDER / "package-lock.json").read_text())["packages"]
    locked = [entry for location, entry in entries.items() if location]
    assert all("integrity" in entry and "resolved" not in entry for entry in locked)
    texts = [(FOLDER / name).read_text() for name in ("package.json", "package-lock.json", ".npmrc")]
    assert not any("registry." in text or "registry=http" in text for text in texts)


def test_the_toolchain_bundles_with_the_same_esbuild_as_the_convex_command() -> None:
    entries = json.loads(toolchain_packages().lock or b"")["packages"]
    assert entries["node_modules/convex"]["dependencies"]["esbuild"] == entries["node_modules/esbuild"]["version"]
    assert "node_modules/convex/node_modules/esbuild" not in entries

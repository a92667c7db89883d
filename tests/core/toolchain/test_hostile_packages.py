"""Packages that someone made to harm, in a registry of our own, behind a package that looks honest."""

import json
import os
import tarfile
import threading
from collections.abc import Iterator
from dataclasses import replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
from tests.examples import exhaustively

from convex_evals.core.settings import Settings
from convex_evals.core.toolchain import Node, NpmError, PackageSet, PackageStore, project_store
from convex_evals.core.toolchain.package_tree import Size

from .conftest import Registry, pack

CANARY = "do not touch"


@pytest.fixture
def store(settings: Settings, node: Node) -> PackageStore:
    """With a HOME that holds a canary and an .npmrc that would run a program."""
    settings.home.mkdir()
    (settings.home / "canary").write_text(CANARY)
    (settings.home / ".npmrc").write_text("git=./evil.sh\nignore-scripts=false\nscript-shell=/bin/sh\n")
    return project_store(settings, node)


@pytest.fixture
def stranger() -> Iterator[tuple[str, list[str]]]:
    """A server that is not the registry, and what it was asked."""
    asked: list[str] = []

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            asked.append(self.path)
            self.send_error(404)

        def log_message(self, *_: object) -> None:
            """Not on the test's output."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, args=(0.02,))
    thread.start()
    yield f"127.0.0.1:{server.server_port}", asked
    server.shutdown()
    thread.join()
    server.server_close()


def project(**dependencies: str) -> PackageSet:
    return PackageSet.from_dependencies("the project's packages", dependencies or {"honest": "1.0.0"})


async def refusal(store: PackageStore, packages: PackageSet) -> NpmError:
    with pytest.raises(NpmError) as caught:
        await store.install(packages)
    assert caught.value.about_packages, str(caught.value)
    assert not [path for path in store.root.iterdir() if path.is_dir()]
    assert (store.settings.home / "canary").read_text() == CANARY
    return caught.value


@pytest.mark.parametrize("section", ["dependencies", *exhaustively("peerDependencies")])
@pytest.mark.parametrize(
    ("spec", "code"),
    [
        ("git+http://{stranger}/evil.git", "EALLOWGIT"),
        ("http://{stranger}/evil.tgz", "EALLOWREMOTE"),
        *exhaustively(
            ("file:{home}", "EALLOWDIRECTORY"),
            ("git+file:///{home}", "EALLOWGIT"),
            ("file:{home}/canary.tgz", "EALLOWFILE"),
            ("file:../../..", "EALLOWDIRECTORY"),
        ),
    ],
)
async def test_a_package_that_asks_for_something_outside_the_registry_is_refused_with_its_chain(
    store: PackageStore, registry: Registry, stranger: tuple[str, list[str]], section: str, spec: str, code: str
) -> None:
    spec = spec.format(stranger=stranger[0], home=store.settings.home)
    registry.publish("middle", "2.0.0", **{section: {"evil": spec}})
    registry.publish("honest", "1.0.0", dependencies={"middle": "2"})
    error = await refusal(store, project())
    assert error.code == code
    assert "\npackage.json > honest@1.0.0 > middle@2.0.0 > evil@" in error.detail
    assert stranger[1] == []


async def test_packages_that_only_look_odd_are_installed_without_what_is_optional_and_not_in_the_registry(
    store: PackageStore, registry: Registry, stranger: tuple[str, list[str]]
) -> None:
    """One installation for all of them: npm takes most of a second."""
    registry.publish("honest", "1.0.0", optionalDependencies={"evil": f"git+http://{stranger[0]}/evil.git"})
    registry.publish("tested", "1.0.0", {"test/node_modules/util/index.js": ""})
    registry.publish("string-width", "4.2.0")
    registry.publish("wide", "1.0.0", dependencies={"string-width-cjs": "npm:string-width@4"})
    registry.publish("loop", "1.0.0", dependencies={"looping": "1"})
    registry.publish("other", "1.0.0")
    registry.publish("looping", "1.0.0", dependencies={"loop": "1"}, optionalDependencies={"other": "^9"})
    names = ("honest", "looping", "tested", "wide")
    installed = await store.install(project(**dict.fromkeys(names, "1.0.0")))
    found = sorted(path.name for path in installed.node_modules.iterdir())
    assert found == [".package-lock.json", "honest", "loop", "looping", "string-width-cjs", "tested", "wide"]
    assert stranger[1] == []


@pytest.mark.parametrize(
    "alias", ["prettier", *exhaustively("evi", "esbuild", "convex", "typescript", "@types/node", "typescript-7")]
)
async def test_a_package_under_another_packages_name_is_refused_and_the_refusal_remembered(
    store: PackageStore, registry: Registry, alias: str
) -> None:
    registry.publish("evil", "1.0.0")
    registry.publish("honest", "1.0.0", dependencies={alias: "npm:evil@1"})
    error = await refusal(store, project())
    assert error.code == "PACKAGE_REFUSED"
    assert error.detail.startswith("package.json > honest@1.0.0 > ")
    assert "is installed under another package's name" in error.detail
    registry.requests.clear()
    again = await refusal(store, project())
    assert (again.code, again.detail, registry.requests) == (error.code, error.detail, [])


@pytest.mark.exhaustive
async def test_a_name_of_our_toolchain_is_not_given_away_even_then(store: PackageStore, registry: Registry) -> None:
    registry.publish("react", "0.0.1")
    registry.publish("honest", "1.0.0", dependencies={"react-dom": "npm:react@0.0.1"})
    assert (await refusal(store, project())).code == "PACKAGE_REFUSED"


@pytest.mark.parametrize(
    "name", ["../../../escaped", *exhaustively("..", "node_modules/../../escaped", "/tmp/escaped")]
)
async def test_a_name_that_is_a_path_goes_nowhere(store: PackageStore, registry: Registry, name: str) -> None:
    registry.publish("evil", "1.0.0")
    registry.publish("honest", "1.0.0", dependencies={name: "npm:evil@1"})
    await refusal(store, project())
    assert not list(store.root.parent.parent.rglob("escaped"))


BUNDLED = {"node_modules/prettier/package.json": '{"name": "prettier", "version": "3.0.0"}'}


@pytest.mark.parametrize(
    ("files", "manifest", "reason"),
    [
        (BUNDLED, {"dependencies": {"prettier": "3"}, "bundleDependencies": ["prettier"]}, "bundled with it"),
        *exhaustively(
            (BUNDLED, {}, "which nobody asked the registry for"),
            ({"node_modules/@types/x/index.d.ts": ""}, {}, "which nobody asked the registry for"),
            ({"npm-shrinkwrap.json": "{}"}, {"_hasShrinkwrap": True}, "brings a lock file of its own"),
        ),
        ({"node_modules/loose.js": ""}, {}, "which nobody asked the registry for"),
    ],
)
async def test_packages_inside_a_package_are_refused(
    store: PackageStore, registry: Registry, files: dict[str, str], manifest: dict[str, Any], reason: str
) -> None:
    registry.publish("honest", "1.0.0", files, **manifest)
    error = await refusal(store, project())
    assert error.code == "PACKAGE_REFUSED"
    assert error.detail.startswith("package.json > honest@1.0.0 ")
    assert reason in error.detail


@pytest.mark.parametrize(
    "manifest",
    [
        '{"name": "prettier", "version": "1.0.0"}',
        *exhaustively(
            "{",
            '{"name": "honest", "version": "9.9.9"}',
            "[]",
            '{"name": ' + "[" * 100_000,
            '{"name": "honest", "version": "1.0.0", "x": ' + "9" * 5_000 + "}",
            None,
        ),
    ],
)
async def test_a_tarball_that_is_not_what_the_registry_says_is_refused(
    store: PackageStore, registry: Registry, manifest: str | None
) -> None:
    files = {"package.json/index.js": ""} if manifest is None else {"package.json": manifest}
    registry.publish("honest", "1.0.0", tarball=pack(files))
    error = await refusal(store, project())
    assert error.code in {"PACKAGE_REFUSED", "PACKAGES_UNUSABLE"}


def odd(name: str, kind: bytes, target: str = "") -> tarfile.TarInfo:
    entry = tarfile.TarInfo(name)
    entry.type, entry.linkname, entry.mode = kind, target, 0o6777
    return entry


async def test_links_devices_and_paths_in_a_tarball_do_not_arrive(
    store: PackageStore, registry: Registry, tmp_path: Path
) -> None:
    entries = [
        odd("package/link", tarfile.SYMTYPE, str(store.settings.home)),
        odd("package/link/written", tarfile.REGTYPE),
        odd("package/hard", tarfile.LNKTYPE, str(store.settings.home / "canary")),
        odd("package/fifo", tarfile.FIFOTYPE),
        odd("package/device", tarfile.CHRTYPE),
        odd("package/../../../escaped", tarfile.REGTYPE),
        odd("/tmp/escaped", tarfile.REGTYPE),
    ]
    registry.publish(
        "honest", "1.0.0", tarball=pack({"package.json": '{"name": "honest", "version": "1.0.0"}'}, entries)
    )
    try:
        installed = await store.install(project())
    except NpmError as error:
        assert error.about_packages
    else:
        found = [Path(folder, name) for folder, _, names in os.walk(installed.folder) for name in names]
        assert all(path.is_file() and not path.is_symlink() and not path.stat().st_mode & 0o6000 for path in found)
    assert sorted(path.name for path in store.settings.home.iterdir()) == [".npmrc", "canary"]
    escaped = [folder for folder, _, names in os.walk(tmp_path) if "escaped" in names]
    assert all(store.root in Path(folder).parents for folder in escaped)


async def test_no_script_runs_and_no_program_is_put_on_a_path(store: PackageStore, registry: Registry) -> None:
    trace = store.settings.home / "trace"
    scripts = dict.fromkeys(("preinstall", "install", "postinstall", "prepare"), f"touch {trace}")
    files = {"evil.js": "#!/bin/sh\n", ".npmrc": "ignore-scripts=false\n", "binding.gyp": "{}"}
    registry.publish("honest", "1.0.0", files, scripts=scripts, bin={"node": "evil.js", "npm": "evil.js"})
    installed = await store.install(project())
    assert not trace.exists()
    assert not (installed.node_modules / ".bin").exists()


@pytest.mark.parametrize(
    ("files", "largest"),
    [
        ({f"f{number}": "" for number in range(300)}, Size(10**9, 200)),
        *exhaustively(({"zeros": "0" * 20_000_000}, Size(5_000_000, 10_000))),
    ],
)
async def test_a_set_that_is_too_large_is_refused_and_nothing_of_it_stays(
    store: PackageStore, registry: Registry, files: dict[str, str], largest: Size
) -> None:
    registry.publish("honest", "1.0.0", files)
    error = await refusal(replace(store, largest=largest), project())
    assert error.code == "PACKAGES_TOO_LARGE"
    contents = store.settings.cache_folder / "npm/_cacache/content-v2"
    assert not [path for path in contents.rglob("*") if path.is_file()]


@pytest.mark.parametrize(
    "dependencies", [{"evil": {}}, *exhaustively("evil", {"evil": 1}, [], {"evil": "\0"}, {"__proto__": "1"})]
)
async def test_a_malformed_package_is_never_the_machines_fault(
    store: PackageStore, registry: Registry, dependencies: object
) -> None:
    registry.publish("honest", "1.0.0", dependencies=dependencies)
    try:
        await store.install(project())
    except NpmError as error:
        assert error.about_packages, f"{error.code} {error}"


@pytest.mark.exhaustive
async def test_what_the_machine_could_not_do_is_not_remembered(store: PackageStore, registry: Registry) -> None:
    registry.publish("honest", "1.0.0")
    document = registry.documents["/honest/-/honest-1.0.0.tgz"]
    registry.documents["/honest/-/honest-1.0.0.tgz"] = pack({"package.json": "{}"})
    with pytest.raises(NpmError) as caught:
        await store.install(project())
    assert (caught.value.code, caught.value.about_packages) == ("EINTEGRITY", False)
    registry.documents["/honest/-/honest-1.0.0.tgz"] = document
    assert (await store.install(project())).version("honest") == "1.0.0"


@pytest.mark.exhaustive
async def test_a_changed_download_is_fetched_again(store: PackageStore, registry: Registry) -> None:
    registry.publish("honest", "1.0.0", {"index.js": "right"})
    registry.publish("other", "1.0.0")
    await store.install(project())
    contents = [path for path in (store.settings.cache_folder / "npm/_cacache/content-v2").rglob("*") if path.is_file()]
    (tarball,) = [path for path in contents if path.read_bytes().startswith(b"\x1f\x8b")]
    tarball.write_bytes(pack({"package.json": '{"name": "honest", "version": "1.0.0"}', "index.js": "wrong"}))
    installed = await store.install(project(honest="1.0.0", other="1"))
    assert (installed.package("honest") / "index.js").read_text() == "right"


async def test_sets_used_longest_ago_go_first_and_those_in_use_stay(store: PackageStore, registry: Registry) -> None:
    registry.publish("used", "1.0.0", {"data": "x" * 300_000})
    used = (await store.install(project(used="1.0.0"))).folder
    for number in range(3):
        unused = store.root / f"unused{number}"
        unused.mkdir()
        (unused / "data").write_text("x" * 100_000)
        os.utime(unused, (number, number))
    sizes = {each.folder: each.size.bytes for each in store.cache.sets()}
    assert [path.name for path in list(sizes)[:3]] == ["unused0", "unused1", "unused2"]
    assert json.loads((used / "size.json").read_text())["bytes"] == sizes[used] > 100_000
    assert store.cache.make_room(sum(sizes.values())) == []
    assert [path.name for path in store.cache.make_room(sum(sizes.values()) - 1)] == ["unused0", "unused1"]
    assert [path.name for path in store.cache.make_room(1)] == ["unused2"]
    assert used.is_dir()

import asyncio
import json
import os
import signal
import sys
import textwrap
from collections.abc import Awaitable, Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from tests.examples import exhaustively

from convex_evals.core.errors import ToolchainError
from convex_evals.core.processes import run
from convex_evals.core.settings import NetworkVariable, Secret, Settings
from convex_evals.core.toolchain import Node, NpmError, PackageSet, PackageStore

Until = Callable[..., Awaitable[None]]


@pytest.fixture
def store(settings: Settings, node: Node) -> PackageStore:
    return PackageStore(settings.cache_folder / "toolchain", node, settings)


def entries(folder: Path) -> list[str]:
    """Installed sets and unfinished ones, without the lock files."""
    return sorted(path.name for path in folder.iterdir() if path.suffix != ".lock") if folder.is_dir() else []


async def test_a_set_is_installed_once_and_needs_no_registry_afterwards(
    store: PackageStore, tiny: PackageSet, registry: Any, tmp_path: Path
) -> None:
    assert store.find(tiny) is None
    lines: list[str] = []
    installed = await store.install(tiny, lines.append)
    asked = len(registry.requests)
    assert lines[0] == "Installing the tiny set (once; needs the npm registry)"
    assert installed == store.find(tiny) == await store.install(tiny)
    assert not (installed.package("tiny") / "trace").exists()  # of its install script
    assert len(registry.requests) == asked > 0
    assert installed.folder == store.root / tiny.fingerprint(store.node.version)
    printed = await run([store.node.executable, installed.node_script("tiny")], cwd=tmp_path, timeout=60)
    assert printed.output.text == "tiny\n"


async def test_packages_that_arrive_are_reported_in_quarters(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, until: Until
) -> None:
    from convex_evals.core.toolchain import toolchain_packages
    from convex_evals.core.toolchain.store import _reporting

    packages, lines = toolchain_packages(), list[str]()
    expected = sum(not package.nested for package in packages.locked_packages())
    monkeypatch.setattr("convex_evals.core.toolchain.store._REPORT_SECONDS", 0)
    async with _reporting(packages, tmp_path, lines.append):
        for number in range(expected):
            package = tmp_path / "set" / "node_modules" / f"p{number}" / "package.json"
            package.parent.mkdir(parents=True)
            package.write_text("{}")
            await asyncio.sleep(0)
        await until(lambda: len(lines) > 1)
    assert 2 <= len(lines) <= 4


async def test_the_users_own_npm_settings_do_not_change_what_is_installed(
    store: PackageStore, tiny: PackageSet
) -> None:
    store.settings.home.mkdir()
    (store.settings.home / ".npmrc").write_text("ignore-scripts=false\ndry-run=true\nglobal=true\npackage-lock=false\n")
    installed = await store.install(tiny)
    assert installed.version("tiny") == "1.2.3"
    assert not (installed.package("tiny") / "trace").exists()


async def test_a_set_without_lock_file_is_resolved_by_npm(store: PackageStore, tiny: PackageSet, registry: Any) -> None:
    registry.publish("tiny", "1.9.0")
    installed = await store.install(PackageSet.from_dependencies("a project", {"tiny": "^1.0.0"}))
    assert installed.version("tiny") == "1.9.0"
    assert "http" not in (installed.folder / "package-lock.json").read_text()


async def test_tasks_that_ask_at_once_install_once(store: PackageStore, tiny: PackageSet, registry: Any) -> None:
    lines: list[str] = []
    results = await asyncio.gather(*(store.install(tiny, lines.append) for _ in range(3)))
    assert len(set(results)) == 1
    assert registry.requests.count("/tiny/-/tiny-1.2.3.tgz") == 1
    assert lines.count("Installing the tiny set (once; needs the npm registry)") == 1
    assert lines.count("Waiting for another process that installs the tiny set") == 2


def installing_program(store: PackageStore, packages: PackageSet) -> str:
    """A program that installs the set and prints where."""
    return textwrap.dedent(f"""
        import asyncio
        from pathlib import Path
        from convex_evals.core.settings import NetworkVariable, Secret, Settings
        from convex_evals.core.toolchain import PackageSet, find_node, PackageStore

        network = tuple(NetworkVariable(*pair) for pair in [("npm_config_registry", Secret({registry_url(store)!r}))])
        settings = Settings(home=Path({str(store.settings.home)!r}),
                            cache_folder=Path({str(store.settings.cache_folder)!r}), network=network)

        async def main():
            store = PackageStore(Path({str(store.root)!r}), await find_node(settings), settings)
            installed = await store.install(PackageSet("the tiny set", {packages.manifest!r}, {packages.lock!r}))
            print(installed.folder)

        asyncio.run(main())
    """)


def registry_url(store: PackageStore) -> str:
    return store.settings.network_environment()["npm_config_registry"]


async def test_processes_that_ask_at_once_install_once(store: PackageStore, tiny: PackageSet, registry: Any) -> None:
    program = [sys.executable, "-c", installing_program(store, tiny)]
    results = await asyncio.gather(*(run(program, cwd=Path("/"), timeout=60) for _ in range(2)))
    assert [result.output.text for result in results] == [f"{store.location(tiny)}\n"] * 2
    assert registry.requests.count("/tiny/-/tiny-1.2.3.tgz") == 1


async def test_an_installation_killed_half_way_is_never_taken_for_complete(
    store: PackageStore, tiny: PackageSet, registry: Any, tmp_path: Path, until: Until
) -> None:
    registry.delay = 30
    environment = {"TMPDIR": str(tmp_path)}  # a killed process cannot remove its temporary logs
    victim = await asyncio.create_subprocess_exec(
        sys.executable, "-c", installing_program(store, tiny), env=environment
    )
    await until(lambda: bool(registry.requests))
    os.kill(victim.pid, signal.SIGKILL)
    await victim.wait()
    assert entries(store.root) == [f".incoming-{store.location(tiny).name}"]
    assert store.find(tiny) is None
    registry.delay = 0
    assert (await store.install(tiny)).version("tiny") == "1.2.3"
    assert entries(store.root) == [store.location(tiny).name]


async def test_a_cancelled_installation_leaves_nothing(
    store: PackageStore, tiny: PackageSet, registry: Any, until: Until
) -> None:
    registry.delay = 30
    task = asyncio.create_task(store.install(tiny))
    await until(lambda: bool(registry.requests))
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert entries(store.root) == []


def with_registry(store: PackageStore, url: str) -> PackageStore:
    network = (
        NetworkVariable("npm_config_registry", Secret(url)),
        NetworkVariable("npm_config_fetch_retries", Secret("0")),
    )
    return replace(store, settings=replace(store.settings, network=network))


@pytest.mark.parametrize(
    ("code", "message"),
    [
        ("ECONNREFUSED", "the package registry cannot be reached; check the network, proxy"),
        ("E404", "the registry does not have one of the packages"),
        *exhaustively(
            ("EINTEGRITY", "a downloaded package is not the locked one"),
            ("EUSAGE", "package.json and package-lock.json do not belong together"),
        ),
    ],
)
async def test_a_failed_installation_says_why_and_what_to_do(
    store: PackageStore, tiny: PackageSet, registry: Any, code: str, message: str
) -> None:
    match code:
        case "ECONNREFUSED":
            store = with_registry(store, "http://127.0.0.1:9")
        case "E404":
            registry.documents.clear()
        case "EINTEGRITY":
            registry.publish("tiny", "1.2.3", {"cli.js": "console.log('something else')"})
        case "EUSAGE":
            manifest = {"name": "set", "version": "1.0.0", "dependencies": {"tiny": "1.2.4"}}
            registry.publish("tiny", "1.2.4")
            tiny = replace(tiny, manifest=json.dumps(manifest).encode())
    with pytest.raises(NpmError) as caught:
        await store.install(tiny)
    assert str(caught.value).startswith(f"Installing the tiny set failed: {message}")
    assert str(caught.value).endswith(f" ({code}).")
    assert caught.value.exit_code == 3
    assert entries(store.root) == []


async def test_an_installation_that_takes_too_long_is_stopped_and_not_the_fault_of_the_packages(
    store: PackageStore, registry: Any
) -> None:
    registry.publish("slow", "1.0.0")
    registry.delay = 60.0
    slow = PackageSet.from_dependencies("the slow set", {"slow": "1.0.0"})
    with pytest.raises(NpmError, match=r"^Installing the slow set was stopped after 1 s; check how fast") as caught:
        await replace(store, seconds=1.0).install(slow)
    assert (caught.value.cause, caught.value.about_packages) == ("registry", False)
    assert entries(store.root) == []


@pytest.mark.parametrize(
    ("codes", "cause"),
    [
        ("ECONNRESET ECONNABORTED EPIPE ENETDOWN ENOTCACHED HPE_INVALID_CONSTANT E500 E502 E503 E429", "registry"),
        ("CERT_HAS_EXPIRED UNABLE_TO_VERIFY_LEAF_SIGNATURE SELF_SIGNED_CERT_IN_CHAIN INVALID_CA", "registry"),
        ("ERR_TLS_CERT_ALTNAME_INVALID ERR_SSL_WRONG_VERSION_NUMBER ERR_TLS_HANDSHAKE_TIMEOUT EPROTO", "registry"),
        ("E401 E403 E407 ENEEDAUTH", "access"),
        ("ENOSPC EDQUOT", "disk"),
        ("EROFS ENFILE EIO", "machine"),
        ("E404 E400 E413 ETARGET ERESOLVE EBADPLATFORM EALLOWGIT EUNNAMED EACCES EMFILE ENOMEM TAR_BAD_ARCHIVE", None),
    ],
)
def test_only_what_no_package_can_cause_is_blamed_on_the_registry_or_the_machine(codes: str, cause: str | None) -> None:
    errors = [NpmError("It failed.", code) for code in codes.split()]
    assert {error.code for error in errors if error.cause != cause} == set()


async def test_a_cache_folder_that_cannot_be_made_is_a_toolchain_error(store: PackageStore, tiny: PackageSet) -> None:
    store.root.parent.write_text("a file where a folder should be")
    with pytest.raises(ToolchainError, match=r"cannot be installed in .*: Not a directory; .* CONVEX_EVALS_CACHE"):
        await store.install(tiny)


@pytest.mark.skipif(not Path("/dev/full").exists() or os.getuid() != 0, reason="mounting a small disk needs root")
async def test_a_full_disk_is_reported_as_full(
    store: PackageStore, tiny: PackageSet, registry: Any, tmp_path: Path
) -> None:
    disk = store.root.parent
    disk.mkdir()
    mounted = await run(["mount", "-t", "tmpfs", "-o", "size=300k", "tmpfs", disk], cwd=tmp_path, timeout=60)
    if not mounted.ok:
        pytest.skip(f"mount: {mounted.output.text}")
    try:
        registry.publish("big", "1.0.0", {"big.txt": os.urandom(600_000).hex()})
        with pytest.raises(NpmError, match="the disk is full; free some space") as caught:
            await store.install(PackageSet.from_dependencies("a big set", {"big": "1.0.0"}))
        assert caught.value.cause == "disk"
        assert entries(store.root) == []
    finally:
        await run(["umount", disk], cwd=tmp_path, timeout=60)

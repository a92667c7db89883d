import json
from dataclasses import asdict, replace
from pathlib import Path

import pytest

from convex_evals.core.distribution import Extra
from convex_evals.core.machine import Fact, SandboxSupport, Status, gather_facts
from convex_evals.core.machine.registries import npm_fact, registry_facts
from convex_evals.core.machine.resources import available_memory, disk_fact, memory_fact
from convex_evals.core.machine.sandbox_facts import sandbox_facts
from convex_evals.core.machine.tools import extra_fact, provider_keys_fact, python_fact
from convex_evals.core.settings import NetworkVariable, ProviderKey, Secret, Settings
from convex_evals.core.toolchain import find_node

EVERYTHING = SandboxSupport(7, True, True, True, True, True, True)


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    closed = "http://127.0.0.1:9"
    network = tuple(
        NetworkVariable(name, Secret(closed)) for name in ("npm_config_registry", "PIP_INDEX_URL", "UV_DEFAULT_INDEX")
    )
    return Settings(home=tmp_path, cache_folder=tmp_path / "cache", network=network, search_path="/usr/bin:/bin")


def by_name(facts: tuple[Fact, ...]) -> dict[str, Fact]:
    return {fact.name: fact for fact in facts}


async def test_every_part_of_the_machine_is_looked_at_and_nothing_is_changed(settings: Settings) -> None:
    facts = await gather_facts(settings)
    assert [fact.name for fact in facts] == [
        "Python",
        "Node",
        "JavaScript toolchain",
        "Extra [browser]",
        "Chromium",
        "Extra [postgres]",
        "Disk",
        "Memory",
        "Sandbox (a)",
        "Sandbox (b)",
        "Sandbox (c)",
        "Sandbox: files",
        "Sandbox: processes",
        "Sandbox: network",
        "Sandbox: system calls",
        "Sandbox: scratch space",
        "Sandbox: resource limits",
        "Sandbox: Node permissions",
        "npm registry",
        "PyPI",
        "Provider keys",
    ]
    assert not settings.cache_folder.exists()
    assert json.loads(json.dumps([asdict(fact) for fact in facts]))[0]["status"] == "ok"


async def test_what_is_not_ok_comes_with_a_fix_and_what_is_ok_without(settings: Settings) -> None:
    for fact in await gather_facts(settings, network=False):
        assert (fact.fix is None) == (fact.status is Status.OK), fact


async def test_without_network_the_registries_are_not_asked(settings: Settings) -> None:
    names = by_name(await gather_facts(settings, network=False))
    assert "npm registry" not in names
    assert "PyPI" not in names


async def test_a_toolchain_not_yet_installed_is_installed_on_first_run_and_the_fix_does_it_now(
    settings: Settings,
) -> None:
    fact = by_name(await gather_facts(settings, network=False))["JavaScript toolchain"]
    assert fact.status is Status.WARNING
    assert fact.detail.startswith("installed on first run")
    assert str(settings.cache_folder) in fact.detail
    assert fact.fix is not None
    assert fact.fix.endswith(" -m convex_evals.core.toolchain")


async def test_a_node_that_is_unsuitable_counts_as_missing(settings: Settings, tmp_path: Path) -> None:
    node = tmp_path / "node"
    node.write_text("#!/bin/sh\necho v18.0.0\n")
    node.chmod(0o755)
    facts = by_name(await gather_facts(replace(settings, node=node), network=False))
    assert facts["Node"].status is Status.MISSING
    assert "is Node 18.0.0, which is too old" in facts["Node"].detail
    assert facts["JavaScript toolchain"].status is Status.MISSING
    assert facts["Sandbox: Node permissions"].status is Status.WARNING


def test_an_extra_that_is_not_installed_is_a_warning_with_the_command_that_installs_it() -> None:
    fact = extra_fact(Extra("browser", "a_module_that_is_not_there", "graders that look at pages"))
    assert fact.status is Status.WARNING
    assert fact.detail == "a_module_that_is_not_there is not installed; graders that look at pages need it"
    assert fact.fix is not None and fact.fix.endswith("-m pip install 'convex-evals[browser]'")


async def test_registries_that_do_not_answer_are_a_warning(settings: Settings) -> None:
    npm, pypi = await registry_facts(await find_node(settings), settings)
    assert (npm.status, pypi.status) == (Status.WARNING, Status.WARNING)
    assert npm.detail == "no answer; only a first installation needs it (npm error code ECONNREFUSED)"
    assert pypi.detail.startswith("no answer; only a first installation needs it (")


async def test_without_node_the_npm_registry_cannot_be_asked(settings: Settings) -> None:
    assert (await npm_fact(None, settings)).status is Status.WARNING


def test_an_old_python_is_missing() -> None:
    assert python_fact((3, 10, 4)).status is Status.MISSING
    assert python_fact((3, 11, 0)).status is Status.OK


@pytest.mark.parametrize("keys", [(), (ProviderKey("google", "GEMINI_API_KEY", Secret("sk-value")),)])
def test_provider_keys_are_named_and_never_shown(settings: Settings, keys: tuple[ProviderKey, ...]) -> None:
    fact = provider_keys_fact(replace(settings, provider_keys=keys))
    assert fact.status is (Status.OK if keys else Status.WARNING)
    assert fact.detail.startswith("set: GEMINI_API_KEY; not set: " if keys else "set: none; not set: ")
    assert "OPENAI_API_KEY" in fact.detail
    assert "sk-value" not in repr(fact)


def test_a_cache_folder_that_does_not_exist_yet_is_judged_by_its_nearest_parent(tmp_path: Path) -> None:
    assert "GB free for" in disk_fact(tmp_path / "not/yet/there").detail


def test_memory_is_what_new_processes_can_use() -> None:
    assert 0 < available_memory() < 2**50
    assert memory_fact().detail.split(" GB available")[0].replace(".", "").isdigit()


@pytest.mark.parametrize(
    ("support", "broken"),
    [
        (EVERYTHING, ""),
        (replace(EVERYTHING, landlock=0), ""),  # mounts stand in for it
        (replace(EVERYTHING, mounts=False), ""),
        (replace(EVERYTHING, landlock=0, mounts=False), "ab"),
        (replace(EVERYTHING, process_namespaces=False), "abc"),
        (replace(EVERYTHING, network_namespaces=False), "ab"),
        (replace(EVERYTHING, seccomp=False), "ab"),
        (replace(EVERYTHING, scratch=False), "ac"),
        (replace(EVERYTHING, limits=False), "ac"),
        (SandboxSupport(), "abc"),
    ],
)
def test_each_promise_holds_only_with_all_that_it_rests_on(support: SandboxSupport, broken: str) -> None:
    promises = [fact for fact in sandbox_facts(support, node_permission=False) if fact.name.startswith("Sandbox (")]
    assert "".join(fact.name[-2] for fact in promises if fact.status is Status.MISSING) == broken
    assert support.is_complete == (broken == "")


def test_node_permissions_are_not_a_boundary() -> None:
    facts = sandbox_facts(EVERYTHING, node_permission=False)
    assert all(fact.status is Status.OK for fact in facts if fact.name != "Sandbox: Node permissions")
    assert facts[-1].status is Status.WARNING

"""What the sandbox guarantees on this machine, and by what means."""

from typing import Final

from convex_evals.core.machine.fact import Fact, Status
from convex_evals.core.machine.sandbox import GUARANTEES, MECHANISMS, Mechanism, SandboxSupport

LANDLOCK_SIGNALS_ABI: Final = 6


def sandbox_facts(support: SandboxSupport, node_permission: bool) -> tuple[Fact, ...]:
    """First what holds, then the mechanisms behind it."""
    return (
        *(_guarantee(letter, meaning, support) for letter, meaning in GUARANTEES.items()),
        *(_mechanism(mechanism, support) for mechanism in MECHANISMS),
        _node_permissions(node_permission),
    )


def _guarantee(letter: str, meaning: str, support: SandboxSupport) -> Fact:
    lacking = [each for each in MECHANISMS if letter in each.needed_for and not each.works(support)]
    name = f"Sandbox ({letter})"
    if not lacking:
        return Fact(name, Status.OK, f"holds: {meaning}")
    reasons = "; ".join(each.lack for each in lacking)
    return Fact(name, Status.MISSING, f"does not hold: {meaning} ({reasons})", lacking[0].fix)


def _mechanism(mechanism: Mechanism, support: SandboxSupport) -> Fact:
    name = f"Sandbox: {mechanism.name}"
    if mechanism.works(support):
        return Fact(name, Status.OK, _detail(mechanism, support))
    return Fact(name, Status.MISSING, mechanism.lack, mechanism.fix)


def _detail(mechanism: Mechanism, support: SandboxSupport) -> str:
    if mechanism.field == "files":
        reach = "files and signals" if support.landlock >= LANDLOCK_SIGNALS_ABI else "files"
        return f"Landlock ABI {support.landlock} ({reach})" if support.landlock else "mounts of its own; no Landlock"
    return {
        "process_namespaces": "own user, PID, IPC and mount namespaces",
        "network_namespaces": "own network namespace, with the loopback ports it is given",
        "seccomp": "filtered by seccomp",
        "scratch": "in memory, bounded",
        "limits": "processor time, memory, file size, open files",
    }[mechanism.field]


def _node_permissions(works: bool) -> Fact:
    name, note = "Sandbox: Node permissions", "a convenience, not counted as a boundary"
    if works:
        return Fact(name, Status.OK, f"node --permission works; {note}")
    return Fact(name, Status.WARNING, f"node --permission does not work; {note}", "unset CONVEX_EVALS_NODE")

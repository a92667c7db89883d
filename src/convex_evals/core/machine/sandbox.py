"""Which mechanisms this machine has to lock untrusted code in. Each is tried, not guessed from version numbers."""

import asyncio
import shutil
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from convex_evals.core.errors import ProcessError
from convex_evals.core.keeper import landlock
from convex_evals.core.machine.fact import Fact, Status
from convex_evals.core.processes import UNCONFINED, Confinement, Limits, base_environment, run
from convex_evals.core.processes.process import UNLIMITED, Argument
from convex_evals.core.settings import Settings
from convex_evals.core.toolchain import Node

PROBE_SECONDS: Final = 5.0
# Landlock rules TCP from this version of its interface on.
LANDLOCK_TCP_ABI: Final = 4
_INSTALLERS: Final = {
    "apt-get": "apt-get install",
    "dnf": "dnf install",
    "apk": "apk add",
    "pacman": "pacman -S",
    "zypper": "zypper install",
}
_USER_NAMESPACES_FIX: Final = "sysctl -w user.max_user_namespaces=10000 kernel.apparmor_restrict_unprivileged_userns=0"


@dataclass(frozen=True, slots=True)
class SandboxSupport:
    """What worked when it was tried. `bubblewrap` is the program, `landlock` its ABI version or 0."""

    bubblewrap: Path | None
    user_namespaces: bool
    network_namespaces: bool
    landlock: int
    node_permission: bool
    limits: bool

    @property
    def confines_files(self) -> bool:
        return self.bubblewrap is not None or self.landlock > 0

    @property
    def confines_network(self) -> bool:
        return self.bubblewrap is not None or self.network_namespaces


async def probe_sandbox(node: Node | None, settings: Settings) -> SandboxSupport:
    found = shutil.which("bwrap", path=settings.search_path)
    wrapper = [found, "--ro-bind", "/", "/", "--unshare-all", "--die-with-parent", "--", "true"] if found else None
    permission = [str(node.executable), "--permission", "--eval", "0"] if node else None
    bubblewrap, user, network, allowed, limits = await asyncio.gather(
        _works(wrapper),
        _works(["unshare", "--user", "--map-root-user", "true"]),
        _works(["true"], confinement=Confinement(network="own")),
        _works(permission),
        _works(["true"], Limits(cpu_seconds=60, file_size=1_000_000, data=10**9, processes=1000, open_files=64)),
    )
    return SandboxSupport(
        bubblewrap=Path(found) if found and bubblewrap else None,
        user_namespaces=user,
        network_namespaces=network,
        landlock=landlock.abi(),
        node_permission=allowed,
        limits=limits,
    )


async def _works(
    arguments: Sequence[Argument] | None, limits: Limits = UNLIMITED, confinement: Confinement = UNCONFINED
) -> bool:
    if arguments is None:
        return False
    environment = base_environment(Path("/nonexistent"))
    try:
        result = await run(
            arguments,
            cwd=Path("/"),
            timeout=PROBE_SECONDS,
            environment=environment,
            limits=limits,
            confinement=confinement,
        )
    except ProcessError:
        return False
    return result.ok


def sandbox_facts(support: SandboxSupport) -> tuple[Fact, ...]:
    """First the verdict, then the mechanisms behind it."""
    return (
        _verdict(support),
        _mechanism("bubblewrap", support.bubblewrap is not None, str(support.bubblewrap), _bubblewrap_fix()),
        _mechanism("user namespaces", support.user_namespaces, "usable by this user", _USER_NAMESPACES_FIX),
        _mechanism("network namespaces", support.network_namespaces, "usable by this user", _USER_NAMESPACES_FIX),
        _landlock(support.landlock),
        _mechanism("Node permissions", support.node_permission, "node --permission works", "unset CONVEX_EVALS_NODE"),
        _mechanism("resource limits", support.limits, "processor, memory, files, processes", "raise `ulimit -H`"),
    )


def _verdict(support: SandboxSupport) -> Fact:
    open_sides = [
        side
        for side, closed in (("files", support.confines_files), ("network", support.confines_network))
        if not closed
    ]
    if not open_sides:
        return Fact("Sandbox", Status.OK, "files and network of generated code can be confined")
    status = Status.MISSING if len(open_sides) == 2 else Status.WARNING
    return Fact("Sandbox", status, f"nothing confines {' and '.join(open_sides)} of generated code", _bubblewrap_fix())


def _landlock(abi: int) -> Fact:
    reach = "files and TCP" if abi >= LANDLOCK_TCP_ABI else "files"
    return _mechanism("Landlock", abi > 0, f"ABI {abi} ({reach})", "boot Linux 5.13 or newer with lsm=landlock")


def _mechanism(name: str, works: bool, detail: str, fix: str) -> Fact:
    name = f"Sandbox: {name}"
    return Fact(name, Status.OK, detail) if works else Fact(name, Status.WARNING, "not available here", fix)


def _bubblewrap_fix() -> str:
    for program, command in _INSTALLERS.items():
        if shutil.which(program, path="/usr/bin:/bin:/usr/sbin:/sbin"):
            return f"{command} bubblewrap"
    return "install bubblewrap"

"""What a program is given and may reach: variables (always built, never inherited), resource limits, files, network."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Literal

from convex_evals.core.supervisor import wire

SYSTEM: Final = tuple(
    Path(path)
    for path in (
        *("/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32", "/usr", "/nix/store", "/proc", "/sys"),
        *("/etc/ld.so.cache", "/etc/ld.so.conf", "/etc/ld.so.conf.d", "/etc/localtime", "/etc/ssl", "/etc/pki"),
        *("/etc/hosts", "/etc/resolv.conf", "/etc/nsswitch.conf", "/etc/host.conf", "/etc/gai.conf"),
        *("/etc/passwd", "/etc/group", "/etc/os-release", "/etc/mime.types", "/etc/alternatives"),
        *("/dev/zero", "/dev/urandom", "/dev/random"),
    )
)
"""What programs read to start and run at all; no user's own files."""

LIBRARIES: Final = tuple(
    Path(path)
    for path in (
        *("/lib", "/lib32", "/lib64", "/libx32", "/usr/lib", "/usr/lib32", "/usr/lib64", "/usr/libx32", "/nix/store"),
        *("/usr/local/lib", "/etc/ld.so.cache", "/etc/ld.so.conf", "/etc/ld.so.conf.d"),
        *("/etc/ssl/openssl.cnf", "/etc/pki/tls/openssl.cnf"),
        *("/dev/zero", "/dev/urandom", "/dev/random"),
    )
)
"""What programs load to start at all: for tools that open whatever file a model names."""

DEVICES: Final = (Path("/dev/null"), Path("/dev/full"))
SCRATCH_BYTES: Final = 64 * 1024 * 1024

Network = Literal["host", "own"]
Sockets = Literal["any", "ip", "tcp", "none"]
Sandbox = Literal["required", "available", "none"]
"""`required`: confined or not at all; `available`: as far as this kernel can; `none`: unconfined."""


@dataclass(frozen=True, slots=True)
class Confinement:
    """Paths stand for everything below them; `system` may be read, too. `read` None: no file is out of reach.

    A program with files out of reach also has its own user, PID and IPC namespaces, no capabilities, and no system
    calls that sandboxes are left through. It is stopped with SIGKILL, never asked to end.
    """

    read: tuple[Path, ...] | None = None
    write: tuple[Path, ...] = ()
    system: tuple[Path, ...] = SYSTEM
    """The part of the system it may read; LIBRARIES is a smaller one."""
    network: Network = "host"
    """`own`: nothing is reachable but `ports`."""
    ports: tuple[int, ...] = ()
    """Ports of its own loopback that we answer: `run` relays them to the host's, `start` gives `Process.listeners`."""
    sockets: Sockets = "any"
    """`ip`: no Unix sockets; `tcp`: only for connecting over TCP; `none`: only those it inherits."""
    children: bool = True
    """False: it may start threads, but no processes."""
    nested: bool = False
    """True: it may make namespaces itself, as browsers do for their own sandbox."""
    scratch: Path | None = None
    """A folder that is an empty file system in memory to the program: writable, bounded, gone with it."""
    scratch_bytes: int = SCRATCH_BYTES
    strict: bool = True
    """False: what this kernel cannot do is left out."""
    landlock: bool = True
    """False: as if the kernel had no Landlock."""

    def to_wire(self) -> wire.Confinement:
        """As this process has been told to confine programs (`use_sandbox`)."""
        if _sandbox == "none" and self is not UNCONFINED:
            return UNCONFINED.to_wire()
        read = None if self.read is None else [str(path) for path in (*self.system, *self.read)]
        return {
            "read": read,
            "write": [str(path) for path in (*DEVICES, *self.write)],
            "network": self.network,
            "ports": list(self.ports),
            "sockets": self.sockets,
            "children": self.children,
            "nested": self.nested,
            "scratch": None if self.scratch is None else str(self.scratch),
            "scratch_bytes": self.scratch_bytes,
            "strict": self.strict and _sandbox == "required",
            "landlock": self.landlock,
        }


UNCONFINED: Final = Confinement()
"""For programs that never meet anything a model wrote."""

_sandbox: Sandbox = "required"


def use_sandbox(sandbox: Sandbox) -> None:
    """For all programs that this process starts from now on: a grading worker is told once, when it starts."""
    global _sandbox
    _sandbox = sandbox


SYSTEM_PATH: Final = "/usr/local/bin:/usr/bin:/bin"


def base_environment(home: Path, extra: Mapping[str, str] | None = None, *, path: str = SYSTEM_PATH) -> dict[str, str]:
    """The least that ordinary programs expect: PATH, HOME, LANG and TZ, the last two fixed so that output is too."""
    return {"PATH": path, "HOME": str(home), "LANG": "C.UTF-8", "TZ": "UTC", **(extra or {})}


Bounds = tuple[int, int]


@dataclass(frozen=True, slots=True)
class Limits:
    """What one process may use at most; None leaves the machine's own limit.

    Each holds per process, except `processes`, which counts all processes of the user and does not bind root.
    Programs that reserve address space they never touch (Node does) need `data` rather than `address_space`.
    """

    cpu_seconds: int | None = None
    file_size: int | None = None
    address_space: int | None = None
    data: int | None = None
    processes: int | None = None
    open_files: int | None = None

    def bounds(self) -> dict[str, Bounds]:
        """(soft, hard) by resource name. No program leaves a core dump."""
        named = {
            "FSIZE": self.file_size,
            "AS": self.address_space,
            "DATA": self.data,
            "NPROC": self.processes,
            "NOFILE": self.open_files,
        }
        bounds = {name: (value, value) for name, value in named.items() if value is not None}
        if self.cpu_seconds is not None:
            # SIGXCPU at the first bound, SIGKILL a second later for a program that ignores it.
            bounds["CPU"] = (self.cpu_seconds, self.cpu_seconds + 1)
        return {"CORE": (0, 0), **bounds}

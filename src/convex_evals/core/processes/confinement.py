"""What a program may reach."""

from dataclasses import dataclass
from pathlib import Path
from typing import Final

from convex_evals.core.keeper import wire

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
"""What programs read to start and run at all. Nobody's own files are among it."""

DEVICES: Final = (Path("/dev/null"), Path("/dev/full"), Path("/dev/tty"))


@dataclass(frozen=True, slots=True)
class Confinement:
    """Paths stand for everything below them; SYSTEM may always be read. `read` None: no file is out of reach.

    Files are confined where the kernel has Landlock. Taking the network away needs namespaces: who asks for it has
    found out that they work here (`probe_sandbox`).
    """

    read: tuple[Path, ...] | None = None
    write: tuple[Path, ...] = ()
    network: bool = True

    def to_wire(self) -> wire.Confinement:
        read = None if self.read is None else [str(path) for path in (*SYSTEM, *self.read)]
        return {"read": read, "write": [str(path) for path in (*DEVICES, *self.write)], "network": self.network}


UNCONFINED: Final = Confinement()

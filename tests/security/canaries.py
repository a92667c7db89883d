"""What hostile answers must not touch: secrets, neighbours, another machine. Whatever happens to them is noticed."""

import ctypes
import hashlib
import os
import secrets
import shutil
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

_NEW_NETWORK: Final = 0x40000000  # CLONE_NEWNET


@dataclass
class Listener:
    """Accepts anything and remembers it. Nobody should come."""

    name: str
    sock: socket.socket
    visits: list[str]

    def serve(self) -> None:
        while True:
            try:
                self.visits.append(f"{self.name}: {self._next()!r}")
            except OSError:
                return

    def _next(self) -> bytes:
        if self.sock.type == socket.SOCK_DGRAM:
            return self.sock.recv(1000)
        connection, _ = self.sock.accept()
        with connection:
            connection.settimeout(5)
            try:
                return connection.recv(1000)
            except OSError:
                return b""


@dataclass
class Canaries:
    """`words` are what answers may name; `secrets` must be in no output; `visits` must stay empty."""

    folder: Path
    words: dict[str, str]
    environment: dict[str, str]
    secrets: tuple[str, ...]
    visits: list[str]
    victim: "subprocess.Popen[bytes]"
    _files: Mapping[str, str] = field(default_factory=dict)

    def remember_files(self) -> None:
        self._files = self._digests()

    def changed_files(self) -> list[str]:
        """Files of the home and beside the run that are new, gone or different."""
        now = self._digests()
        return sorted(path for path in {*now, *self._files} if now.get(path) != self._files.get(path))

    def _digests(self) -> dict[str, str]:
        roots = (self.folder / "home", self.folder / "outside", self.folder / "suite")
        return {str(path): digest(path) for root in roots for path in sorted(root.rglob("*")) if not path.is_dir()}


def digest(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest() if path.is_file() else "not a file"


@contextmanager
def canaries(folder: Path, owner: int) -> Iterator[Canaries]:
    """Everything below `folder` belongs to `owner`, whose processes could read and write all of it."""
    drawn = {name: f"canary-{name}-{secrets.token_hex(8)}" for name in ("ssh", "token", "key", "outside", "database")}
    visits: list[str] = []
    with ExitStack() as opened:
        words = _listeners(opened, folder, visits)
        _write_files(folder, drawn)
        victim = subprocess.Popen(["sleep", "3600"], user=owner, group=owner)
        opened.callback(victim.wait)
        opened.callback(victim.kill)
        words |= {
            "VICTIM": str(victim.pid),
            "RUNNER": str(os.getpid()),
            "BASE": str(folder),
            "HOME": str(folder / "home"),
        }
        words |= {"OUTSIDE": str(folder / "outside"), "CACHE": str(folder / "cache"), "SCORES": str(folder / "scores")}
        environment = {
            "OPENAI_API_KEY": drawn["key"],
            "CONVEX_AUTH_TOKEN": drawn["key"],
            "AWS_SECRET_ACCESS_KEY": drawn["key"],
        }
        yield Canaries(folder, words, environment, tuple(drawn.values()), visits, victim)


def _write_files(folder: Path, drawn: Mapping[str, str]) -> None:
    texts = {
        "home/.ssh/id_ed25519": drawn["ssh"],
        "home/.env": f"ANTHROPIC_API_KEY={drawn['key']}\n",
        "home/secret.json": f'{{"token": "{drawn["token"]}"}}',
        "home/secret.ts": f'export const token = "{drawn["token"]}";',
        "home/secret.css": f".a {{ content: '{drawn['token']}' }}",
        "home/secret.txt": drawn["token"],
        "home/tsconfig.json": f'{{"compilerOptions": {{"lib": ["{drawn["token"]}"]}}}}',
        "outside/notes.txt": drawn["outside"],
        "outside/bystander.db": drawn["database"],
    }
    for name, text in texts.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)


def _listeners(opened: ExitStack, folder: Path, visits: list[str]) -> dict[str, str]:
    """A redis and a docker on loopback (TCP, TCP over IPv6, UDP, Unix, abstract), and a second machine."""
    (folder / "outside").mkdir(exist_ok=True)
    unix, abstract = str(folder / "outside/docker.sock"), f"corpus-{secrets.token_hex(4)}"
    redis = _listen(opened, "redis", socket.AF_INET, ("127.0.0.1", 0), visits)
    docker = _listen(opened, "docker", socket.AF_INET6, ("::1", 0), visits)
    udp = _listen(opened, "udp", socket.AF_INET, ("127.0.0.1", 0), visits, socket.SOCK_DGRAM)
    _listen(opened, "unix", socket.AF_UNIX, unix, visits)
    Path(unix).chmod(0o777)
    _listen(opened, "abstract", socket.AF_UNIX, f"\0{abstract}", visits)
    host, port, machine_udp = opened.enter_context(_second_machine(opened, visits))
    return {
        "REDIS": str(redis.getsockname()[1]),
        "DOCKER": str(docker.getsockname()[1]),
        "UDP": str(udp.getsockname()[1]),
        "UNIX": unix,
        "ABSTRACT": abstract,
        "MACHINE": host,
        "MACHINE_PORT": str(port),
        "MACHINE_UDP": str(machine_udp),
    }


def _listen(
    opened: ExitStack, name: str, family: int, address: object, visits: list[str], kind: int = socket.SOCK_STREAM
) -> socket.socket:
    sock = socket.socket(family, kind)
    sock.bind(address)  # type: ignore[arg-type]
    if kind == socket.SOCK_STREAM:
        sock.listen()
    thread = threading.Thread(target=Listener(name, sock, visits).serve, daemon=True)
    thread.start()
    opened.callback(thread.join)
    opened.callback(sock.close)
    opened.callback(_wake, sock)
    return sock


def _wake(sock: socket.socket) -> None:
    """Closing a socket does not wake the thread that waits for it."""
    if sock.type == socket.SOCK_DGRAM:
        sock.settimeout(0.01)
        with socket.socket(sock.family, socket.SOCK_DGRAM) as sender:
            sender.sendto(b"", sock.getsockname())
    else:
        sock.shutdown(socket.SHUT_RDWR)


@contextmanager
def _second_machine(opened: ExitStack, visits: list[str]) -> Iterator[tuple[str, int, int]]:
    """Root makes one: a network namespace behind a pair of virtual cables. Others listen on all their own addresses."""
    if os.geteuid() != 0 or shutil.which("ip") is None:
        tcp = _listen(opened, "machine", socket.AF_INET, ("0.0.0.0", 0), visits)
        udp = _listen(opened, "machine", socket.AF_INET, ("0.0.0.0", 0), visits, socket.SOCK_DGRAM)
        yield _own_address(), tcp.getsockname()[1], udp.getsockname()[1]
        return
    number = os.getpid() % 16000
    name, host = f"corpus{number}", f"10.213.{number // 64}.{number % 64 * 4 + 2}"
    near = f"10.213.{number // 64}.{number % 64 * 4 + 1}"
    _ip(f"netns add {name}")
    opened.callback(_ip, f"netns del {name}")
    _ip(f"link add {name} type veth peer name eth0 netns {name}")
    _ip(f"addr add {near}/30 dev {name}")
    _ip(f"link set {name} up")
    _ip(f"-n {name} addr add {host}/30 dev eth0")
    _ip(f"-n {name} link set eth0 up")
    with _inside(name):
        tcp = _listen(opened, "machine", socket.AF_INET, (host, 0), visits)
        udp = _listen(opened, "machine", socket.AF_INET, (host, 0), visits, socket.SOCK_DGRAM)
    yield host, tcp.getsockname()[1], udp.getsockname()[1]


def _ip(arguments: str) -> None:
    subprocess.run(["ip", *arguments.split()], check=True, capture_output=True)


@contextmanager
def _inside(name: str) -> Iterator[None]:
    """This thread alone; sockets stay where they were made."""
    libc = ctypes.CDLL(None, use_errno=True)
    with Path("/proc/thread-self/ns/net").open() as home, Path(f"/run/netns/{name}").open() as other:
        assert libc.setns(other.fileno(), _NEW_NETWORK) == 0, os.strerror(ctypes.get_errno())
        try:
            yield
        finally:
            assert libc.setns(home.fileno(), _NEW_NETWORK) == 0, os.strerror(ctypes.get_errno())


_ASK_ADDRESS: Final = """
import socket
with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as asked:
    asked.connect(("192.0.2.1", 9))  # sends nothing, but chooses an address
    print(asked.getsockname()[0])
"""


def _own_address() -> str:
    """Asked by another process, because tests themselves may use no network but loopback."""
    found = subprocess.run([sys.executable, "-c", _ASK_ADDRESS], capture_output=True, text=True)
    return found.stdout.strip() or "127.0.0.1"

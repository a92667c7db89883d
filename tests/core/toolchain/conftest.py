import asyncio
import base64
import hashlib
import io
import json
import tarfile
import threading
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from convex_evals.core.settings import NetworkVariable, Secret, Settings, read_settings
from convex_evals.core.toolchain import Node, PackageSet, Toolchain, find_node, prepare_toolchain


@dataclass
class Registry:
    """A real npm registry on loopback with packages made up by the test. Counts what is asked of it."""

    url: str = ""
    documents: dict[str, bytes] = field(default_factory=dict)
    requests: list[str] = field(default_factory=list)
    delay: float = 0.0

    def publish(
        self,
        name: str,
        version: str,
        files: dict[str, str] | None = None,
        tarball: bytes | None = None,
        **manifest: Any,
    ) -> str:
        """Makes a version available and returns its integrity."""
        manifest = {"name": name, "version": version, **manifest}
        tarball = tarball or pack({"package.json": json.dumps(manifest), **(files or {})})
        integrity = "sha512-" + base64.b64encode(hashlib.sha512(tarball).digest()).decode()
        path = f"/{name}/-/{name.rpartition('/')[2]}-{version}.tgz"
        self.documents[path] = tarball
        document = json.loads(self.documents.get(f"/{name}", b'{"versions": {}}'))
        document |= {"name": name, "dist-tags": {"latest": version}}
        dist = {"tarball": self.url + path, "integrity": integrity}
        document["versions"][version] = {**manifest, "dist": dist}
        self.documents[f"/{name}"] = json.dumps(document).encode()
        return integrity


def pack(files: dict[str, str], odd: Sequence[tarfile.TarInfo] = ()) -> bytes:
    """A package's tarball; `odd` entries come with their own names and types."""
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w:gz") as archive:
        for entry in odd:
            archive.addfile(entry)
        for name, text in files.items():
            entry = tarfile.TarInfo(f"package/{name}")
            entry.size, entry.mode = len(text.encode()), 0o755
            archive.addfile(entry, io.BytesIO(text.encode()))
    return buffer.getvalue()


@pytest.fixture
def registry() -> Iterator[Registry]:
    state = Registry()
    released = threading.Event()

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self) -> None:
            state.requests.append(self.path)
            released.wait(state.delay)
            body = state.documents.get(self.path.replace("%2f", "/"))
            self.send_response(200 if body is not None else 404)
            self.send_header("Content-Length", str(len(body or b"")))
            self.end_headers()
            self.wfile.write(body or b"")

        def log_message(self, *_: object) -> None:
            """Not on the test's output."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    state.url = f"http://127.0.0.1:{server.server_port}"
    thread = threading.Thread(target=server.serve_forever, args=(0.02,))
    thread.start()
    yield state
    released.set()
    server.shutdown()
    thread.join()
    server.server_close()


@pytest.fixture
def settings(tmp_path: Path, registry: Registry) -> Settings:
    """Settings of a user whose npm knows only the test's registry."""
    network = (NetworkVariable("npm_config_registry", Secret(registry.url)),)
    return Settings(home=tmp_path / "home", cache_folder=tmp_path / "cache", network=network)


@pytest.fixture
async def node(settings: Settings) -> Node:
    return await find_node(settings)


@pytest.fixture
def tiny(registry: Registry) -> PackageSet:
    """A locked set of one package whose install script would leave a trace."""
    scripts = {"postinstall": "node -e \"require('fs').writeFileSync('trace', '')\""}
    integrity = registry.publish("tiny", "1.2.3", {"cli.js": "console.log('tiny')"}, bin="cli.js", scripts=scripts)
    root = {"name": "set", "version": "1.0.0", "dependencies": {"tiny": "1.2.3"}}
    lock = {
        "name": "set",
        "version": "1.0.0",
        "lockfileVersion": 3,
        "requires": True,
        "packages": {
            "": root,
            "node_modules/tiny": {
                "version": "1.2.3",
                "integrity": integrity,
                "hasInstallScript": True,
                "bin": {"tiny": "cli.js"},
            },
        },
    }
    return PackageSet("the tiny set", json.dumps(root).encode(), json.dumps(lock).encode())


@pytest.fixture(scope="session")
def toolchain() -> Toolchain:
    """The real toolchain in the user's cache."""
    return asyncio.run(prepare_toolchain(read_settings()))

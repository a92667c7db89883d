"""What functions reach, and what they do not. The boundary is the kernel's: user code may undo all our JavaScript."""

import asyncio
import errno
import socket
from collections.abc import AsyncIterator
from typing import Any

import orjson
import pytest
import pytest_asyncio

from convex_evals.backend.deployed import Module
from convex_evals.backend.runtime import FunctionRuntime, Network, NetworkPolicy, OwnDeployment
from convex_evals.backend.runtime.network import Outside, open_socket

pytestmark = pytest.mark.asyncio(loop_scope="module")

Stage = Any  # of conftest.py, which tests cannot import

CONNECT = """
    const net = require("node:net");
    const connect = (options) => new Promise((resolve) => {
        const socket = net.connect(options);
        socket.on("error", (error) => resolve(error.code ?? error.message));
        socket.on("data", (data) => { resolve(String(data)); socket.destroy(); });
        socket.on("connect", () => socket.write("hello"));
        socket.on("close", () => resolve("closed"));
    });
"""


class Echo:
    """A server on this machine's loopback that answers with what it got."""

    def __init__(self, server: asyncio.Server) -> None:
        self.port: int = server.sockets[0].getsockname()[1]


async def _answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    writer.write(b"echo " + await reader.read(100))
    writer.close()


@pytest_asyncio.fixture(loop_scope="module")
async def echo() -> AsyncIterator[Echo]:
    async with await asyncio.start_server(_answer, "127.0.0.1", 0) as server:
        yield Echo(server)


class OnlyPort:
    """What a grading allows: a port."""

    def __init__(self, port: int) -> None:
        self.port = port
        self.asked: list[tuple[str, int]] = []

    async def connect(self, host: str, port: int) -> socket.socket | None:
        self.asked.append((host, port))
        return await open_socket(host, port) if port == self.port else None


async def run_node(stage: Stage, body: str) -> Any:
    source = (
        "export const f = { isAction: true, invokeAction: async () => {"
        f" const value = await (async () => {{ {CONNECT} {body} }})(); return JSON.stringify(value ?? null); }} }};"
    )
    stage.deploy({"probe.js": Module("probe.js", source, None, "node")})
    outcome = await stage.run("probe:f", kind="action", total_seconds=60.0)
    assert outcome.failure is None, outcome.failure
    return orjson.loads(outcome.result)


@pytest_asyncio.fixture(loop_scope="module")
async def staged(own_stage: Stage) -> AsyncIterator[Any]:
    """Makes a stage whose functions have another network."""
    opened: list[FunctionRuntime] = []

    async def make(network: NetworkPolicy, own: OwnDeployment | None = None) -> Stage:
        runtime = FunctionRuntime(network=network, own=own)
        opened.append(runtime)
        await runtime.start()
        stage = type(own_stage)(runtime, dict(own_stage.modules))
        stage.deploy()
        return stage

    yield make
    for runtime in opened:
        await runtime.stop()


async def test_a_port_of_this_machine_is_reached_through_the_gateway(stage: Stage, echo: Echo) -> None:
    assert await run_node(stage, f"return connect({{ host: '127.0.0.1', port: {echo.port} }});") == "echo hello"
    assert await run_node(stage, f"return connect({{ host: 'localhost', port: {echo.port} }});") == "echo hello"


async def test_a_port_where_nobody_listens_refuses(stage: Stage) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
    assert await run_node(stage, f"return connect({{ host: '127.0.0.1', port: {port} }});") == "ECONNREFUSED"


async def test_a_policy_is_asked_for_every_connection(staged: Any, echo: Echo) -> None:
    policy = OnlyPort(echo.port)
    stage = await staged(policy)
    body = f"const all = []; for (const port of [{echo.port}, 9, {echo.port}]) all.push(await connect({{ port }}));"
    assert await run_node(stage, f"{body} return all;") == ["echo hello", "ECONNREFUSED", "echo hello"]
    assert ("127.0.0.1", 9) in policy.asked


async def test_without_a_network_nothing_is_reached(staged: Any, echo: Echo) -> None:
    stage = await staged(Network.NONE)
    refused = "Network access to 127.0.0.1 is not allowed: functions may not use the network here"
    assert await run_node(stage, f"return connect({{ host: '127.0.0.1', port: {echo.port} }});") == refused


@pytest.mark.parametrize("site", [False, True])
async def test_the_own_deployment_is_reached_by_its_public_part(staged: Any, site: bool) -> None:
    served: list[bool] = []
    answering: list[asyncio.Task[None]] = []

    async def serve(accepted: socket.socket, *, site: bool) -> None:
        served.append(site)
        answering.append(asyncio.create_task(_answer(*await asyncio.open_connection(sock=accepted))))

    stage = await staged(OnlyPort(0), OwnDeployment(70, 71, serve))
    port = 71 if site else 70
    assert await run_node(stage, f"return connect({{ host: '127.0.0.1', port: {port} }});") == "echo hello"
    assert served == [site]
    await asyncio.gather(*answering)


# Each undoes or bypasses our JavaScript, as hostile code would.
BYPASSES = {
    "a lookup of its own": (
        "connect({ host: 'x.localhost', port: PORT, lookup: (h, o, cb) => cb(null, '192.0.2.1', 4) })"
    ),
    "a patched RegExp": "(RegExp.prototype.test = () => true, connect({ host: '192.0.2.1', port: PORT }))",
    "a Unix socket": "connect({ path: '/var/run/docker.sock' })",
    "an abstract socket": "connect({ path: '\\0abstract' })",
    "the port of the gateway itself": "connect({ host: '127.0.0.1', port: 1 })",
    "another address of the network": "connect({ host: '::ffff:192.0.2.1', port: PORT })",
    "listening": "new Promise((r) => net.createServer().on('error', (e) => r(e.code)).listen(0, () => r('listens')))",
    "listening on a Unix socket": (
        "new Promise((r) => net.createServer().on('error', (e) => r(e.code)).listen('s', () => r('listens')))"
    ),
    "UDP": """new Promise((r) => {
        const socket = require('node:dgram').createSocket('udp4').on('error', (e) => r(e.code));
        socket.send('x', 53, '127.0.0.1', (e) => r(e ? e.code : 'sent'));
    })""",
    "its own DNS servers": """new Promise((r) => {
        const dns = require('node:dns'); dns.setServers(['127.0.0.1:53']);
        dns.resolve4('example.com', (e, found) => r(e ? e.code : 'found'));
    })""",
    "the resolver of the system": (
        "require('node:dns').promises.lookup('example.com').then(() => 'found', (e) => e.code)"
    ),
}


@pytest.mark.parametrize("name", BYPASSES)
async def test_there_is_no_way_around_the_gateway(own_stage: Stage, echo: Echo, name: str) -> None:
    attempt = BYPASSES[name].replace("PORT", str(echo.port))
    result = await run_node(own_stage, f"return {attempt};")
    assert isinstance(result, str) and result not in ("echo hello", "listens", "sent", "found"), result


async def test_forged_connections_obey_the_policy(staged: Any, echo: Echo) -> None:
    stage = await staged(OnlyPort(0))
    forged = f'{{"op":"connect","seq":1,"from":4242,"host":"127.0.0.1","port":{echo.port}}}'
    body = f"""
        const text = {forged!r}; const frame = Buffer.alloc(5 + text.length);
        frame.writeUInt32BE(text.length, 0); frame.write(text, 5);
        require('node:fs').writeSync(3, frame);
        return connect({{ host: '127.0.0.1', port: {echo.port} }});
    """
    assert await run_node(stage, body) == "ECONNREFUSED"


@pytest.mark.parametrize(
    ("host", "error"),
    [
        ("localhost", errno.EINVAL),
        ("example.com", errno.EINVAL),
        ("127.1", errno.EINVAL),
        ("", errno.EINVAL),
        ("\0", errno.EINVAL),
        ("192.0.2.1", errno.EACCES),
        ("0.0.0.0", errno.EACCES),
        ("::", errno.EACCES),
        ("::ffff:192.0.2.1", errno.EACCES),
        ("127.8.8.8", errno.ECONNREFUSED),
        ("::1%lo", errno.ECONNREFUSED),
        ("::ffff:127.0.0.1", errno.ECONNREFUSED),
    ],
)
async def test_a_policy_is_asked_for_plain_addresses_of_this_machine_only(host: str, error: int) -> None:
    policy = OnlyPort(0)
    inside, other = socket.socketpair()
    with inside, other:
        assert await Outside(policy).connect(inside, host, 9) == error
    assert all(asked in ("127.8.8.8", "::1", "127.0.0.1") for asked, _ in policy.asked)
    assert bool(policy.asked) == (error == errno.ECONNREFUSED)


async def test_a_large_transfer_arrives_whole(stage: Stage) -> None:
    async def send(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(b"HTTP/1.1 200 OK\r\ncontent-length: 8000000\r\nconnection: close\r\n\r\n" + b"x" * 8_000_000)
        await writer.drain()
        writer.close()

    async with await asyncio.start_server(send, "127.0.0.1", 0) as server:
        port = server.sockets[0].getsockname()[1]
        body = f"return (await (await fetch('http://127.0.0.1:{port}/')).text()).length;"
        assert await run_node(stage, body) == 8_000_000
        assert await stage.value(body, "action", total_seconds=60.0) == 8_000_000


async def test_scratch_space_is_bounded_and_gone_with_its_process(own_stage: Stage) -> None:
    body = """
        const fs = require("node:fs"), path = require("node:path"), os = require("node:os");
        const before = fs.readdirSync(os.tmpdir());
        try {
            for (let i = 0; i < 200; i++) fs.writeFileSync(path.join(os.tmpdir(), `f${i}`), Buffer.alloc(1 << 20));
            return [before, "all of it"];
        } catch (error) {
            return [before, error.code];
        }
    """
    assert await run_node(own_stage, body) == [[], "ENOSPC"]
    assert await run_node(own_stage, f"const another = 1; {body}") == [[], "ENOSPC"]

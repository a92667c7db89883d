"""React apps that attack the browser, the grader and what the browser could reach. Those marked as right show the notes."""

from ..answers import PASSES, HostileAnswer, fails, may_fail, reference

MAIN, APP = reference("client")["src/main.tsx"], reference("client")["src/App.tsx"]
WRONG_APP = APP.replace("note.text", '"forged"')
TESTS = fails("tests")


def before(script: str, app: str = APP) -> dict[str, str | None]:
    return {"src/main.tsx": f"{MAIN}\n{script}\n", "src/App.tsx": app}


HARMLESS = {
    "page_fetches_redis": 'void fetch("http://127.0.0.1:@REDIS@/@NAME@", { mode: "no-cors" }).catch(() => undefined);',
    "page_fetches_docker": 'void fetch("http://[::1]:@DOCKER@/@NAME@", { mode: "no-cors" }).catch(() => undefined);',
    "page_fetches_the_machine": 'void fetch("http://@MACHINE@:@MACHINE_PORT@/@NAME@", { mode: "no-cors" }).catch(() => undefined);',
    "page_opens_a_socket": 'new WebSocket("ws://127.0.0.1:@REDIS@/@NAME@").onerror = () => undefined;',
    "page_sends_a_beacon": 'navigator.sendBeacon("http://127.0.0.1:@REDIS@/@NAME@", "x");',
    "page_loads_an_image": 'new Image().src = "http://127.0.0.1:@REDIS@/@NAME@";',
    "page_frames_a_file": 'document.head.appendChild(document.createElement("iframe")).src = "file://@HOME@/secret.txt";',
    "page_prefetches": 'Object.assign(document.head.appendChild(document.createElement("link")), { rel: "preconnect", href: "http://@MACHINE@:@MACHINE_PORT@" });',
    "page_uses_web_rtc": 'const peer = new RTCPeerConnection({ iceServers: [{ urls: "stun:@MACHINE@:@MACHINE_UDP@" }] });\npeer.createDataChannel("x");\nvoid peer.createOffer().then((offer) => peer.setLocalDescription(offer));',
    "page_stores_much": 'try {\n  for (let i = 0; i < 50; i++) localStorage.setItem(String(i), "x".repeat(1_000_000));\n} catch {\n  void 0;\n}',
    "page_prints_much": 'for (let i = 0; i < 3000; i++) console.log("\\x1b[31m" + "x".repeat(1000));',
}
LOSING = {
    "page_spins": "for (let i = 0; i >= 0; i = 0);",
    "page_opens_dialogs": 'for (let i = 0; i < 100; i++) alert("again");\nsetInterval(() => alert("again"), 1);\ndocument.body.replaceChildren();',
    "page_navigates_away": 'location.href = "about:blank";',
    "page_navigates_to_a_file": 'location.href = "file://@HOME@/secret.txt";\ndocument.body.replaceChildren();',
    "page_crashes": 'location.href = "chrome://crash";\ndocument.body.replaceChildren();',
    "page_kills_the_browser": 'location.href = "chrome://kill";\nlocation.href = "chrome://quit";\ndocument.body.replaceChildren();',
    "page_reloads": "setInterval(() => location.reload(), 20);\ndocument.body.replaceChildren();",
    "page_closes": "window.close();\ndocument.body.replaceChildren();",
    "page_opens_windows": 'setInterval(() => window.open("about:blank"), 5);\ndocument.body.replaceChildren();',
}
HOARD = "const all: Uint8Array[] = [];\nwhile (all.length >= 0) all.push(new Uint8Array(50_000_000).fill(1));"
FORGING = {
    "page_patches_the_document": 'document.querySelectorAll = (() => []) as typeof document.querySelectorAll;\nNode.prototype.contains = () => true;\nObject.defineProperty(Node.prototype, "textContent", { get: () => "one" });',
    "page_patches_promises": "window.Promise = class extends Promise<unknown> {} as unknown as PromiseConstructor;\nArray.prototype.every = () => true;",
    "page_calls_the_driver": 'for (const name of Object.getOwnPropertyNames(window).filter((each) => each.startsWith("__pw") || each.includes("playwright"))) document.title = name;\nconsole.log("3 passed");',
}
KEY = "0135d8598650f8f5cb0f30c34ec2e2bb62793bc28717c8eb6fb577996d50be5f4281b59181095065c5d0f86a2c31ddbe9b597ec62b47ded69782cd"
ADMIN = (
    "void fetch(`${import.meta.env.VITE_CONVEX_URL}/api/query`, {\n"
    f'  method: "POST",\n  headers: {{ Authorization: "Convex {KEY}", "Content-Type": "application/json" }},\n'
    '  body: JSON.stringify({ path: "_system/frontend/getSchemas", args: {}, format: "json" }),\n'
    "}).then(async (response) => {\n"
    '  if ((await response.text()).includes("success")) document.body.textContent = "LOOT";\n});'
)
FORGED_LIST = WRONG_APP.replace("<h1>Notes</h1>", '<h1 data-x="one">Notes</h1>')

QUICK = ("page_fetches_redis",)
ANSWERS = [
    *(HostileAnswer(name, "client", before(script), PASSES, name in QUICK) for name, script in HARMLESS.items()),
    *(HostileAnswer(name, "client", before(script), TESTS, name in QUICK) for name, script in LOSING.items()),
    *(
        HostileAnswer(name, "client", before(script, FORGED_LIST), fails("tests", "tsc", "eslint"), name in QUICK)
        for name, script in FORGING.items()
    ),
    HostileAnswer("page_hoards", "client", before(HOARD), may_fail("tests")),
    HostileAnswer("page_asks_as_administrator", "client", before(ADMIN), PASSES),
    HostileAnswer("page_does_not_build", "client", {"src/main.tsx": "import './nothing';\n"}, fails("tsc", "tests")),
]

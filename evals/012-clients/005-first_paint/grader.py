"""A page that is rendered on the server: complete before any script runs, taken over without a flash, and then live."""

import json
import random
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from html.parser import HTMLParser
from itertools import groupby
from typing import Any, Final

import jwt
import pytest
from cryptography.hazmat.primitives.asymmetric import ec
from playwright.sync_api import Locator, Page, Route, WebSocket, expect

from convex_evals.pipeline.grading.kit import App, Client, Deployment, Int64, wait_until

KEY: Final = ec.derive_private_key(20261117, ec.SECP256R1())
NASTY: Final = (
    "</script><script>document.title = 'Broken'</script>",
    "<!-- <script> & &amp; \"'` ${1} $& $$ $' \\n \\u003c",
    "<b>bold</b>\u2028\u2029 naïve 🎈 <img src=x onerror=alert(1)>",
)
LARGE: Final = 2**53 + 1
NOBODY: Final = "Not signed in"
VOID: Final = {"meta", "link", "img", "br", "hr", "input", "base"}

# What a visitor sees, also without any script.
STATE = """(() => {
  const text = (element) => element?.textContent ?? null;
  const list = document.querySelector('#root ul');
  return {
    heading: text(document.querySelector('#root h1')),
    status: text(document.querySelector('#root [role=status], #root output')),
    items: list === null ? null : [...list.querySelectorAll(':scope > li')].map((item) =>
      text(item.querySelector('span')) + ' ' + text(item.querySelector('button'))?.replace(/[^0-9]/g, '')),
    isLoading: (document.querySelector('#root')?.textContent ?? '').includes('Loading…'),
  };
})()"""

# Begins when the document has been parsed, before its script runs.
RECORD: Final = f"""
document.addEventListener('readystatechange', () => {{
  if (document.readyState !== 'interactive') return;
  window.recorded = [];
  window.rendered = [...document.querySelectorAll('#root, #root *')];
  window.look = () => {{
    const state = JSON.stringify({STATE});
    if (state !== window.recorded.at(-1)) window.recorded.push(state);
    return window.recorded;
  }};
  const frame = () => {{ window.look(); requestAnimationFrame(frame); }};
  frame();
}});
"""


def token(user: str) -> str:
    now = int(time.time())
    claims = {"iss": "https://sign-in.example", "aud": "board", "sub": user, "iat": now, "exp": now + 3600}
    return jwt.encode(claims, KEY, "ES256", {"kid": "company"})


def post(project: Deployment, author: str = "Ada", **likes: int) -> dict[str, str]:
    """Their ids by title."""
    return {
        title: project.insert("notices", author=author, title=title, likes=Int64(number))
        for title, number in likes.items()
    }


def stored(project: Deployment) -> list[int]:
    return [int(notice["likes"]) for notice in project.documents("notices")]


def read(project: Deployment, user: str | None = None) -> str:
    """The document, as the web server receives it."""
    headers = {} if user is None else {"Authorization": f"Bearer {token(user)}"}
    response = project.http.get("/board", headers=headers)
    assert response.status == 200, response.text[:500]
    return response.text


def shown(status: str, *items: str) -> dict[str, Any]:
    """`a 3`: a title and its likes."""
    likes = [int(item.rsplit(" ", 1)[1]) for item in items]
    heading = f"{len(items)} notices, {sum(likes)} likes"
    return {"heading": heading, "status": status, "items": list(items), "isLoading": False}


class Document(HTMLParser):
    """What a document says without a browser."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.path: list[tuple[str, dict[str, str | None]]] = []
        self.title = self.heading = self.status = ""
        self.spans: list[str] = []
        self.buttons: list[str] = []
        self.scripts: list[dict[str, str | None]] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.scripts += [dict(attrs)] if tag == "script" else []
        self.spans += [""] if self._is_in("li") and tag == "span" else []
        self.buttons += [""] if self._is_in("li") and tag == "button" else []
        if tag not in VOID:
            self.path.append((tag, dict(attrs)))

    def handle_endtag(self, tag: str) -> None:
        while self._is_in(tag) and self.path.pop()[0] != tag:
            pass

    def handle_data(self, data: str) -> None:
        self.title += data if self._is_in("title") else ""
        self.heading += data if self._is_in("h1") else ""
        self.status += data if any(attributes.get("role") == "status" for _, attributes in self.path) else ""
        if self._is_in("li") and self._is_in("span"):
            self.spans[-1] += data
        elif self._is_in("li") and self._is_in("button"):
            self.buttons[-1] += data

    def _is_in(self, tag: str) -> bool:
        return any(each == tag for each, _ in self.path)

    @property
    def state(self) -> dict[str, Any]:
        likes = [text.removeprefix("Like (").removesuffix(")") for text in self.buttons]
        items = [f"{title} {number}" for title, number in zip(self.spans, likes, strict=True)]
        return {"heading": self.heading, "status": self.status, "items": items, "isLoading": False}


@dataclass
class WebServer:
    """The web server of the club, for one visitor. `document` is what the deployment has sent."""

    document: str
    user: str | None = None
    is_slow: bool = False  # with tokens
    script: str | None = None  # instead of the page's own
    waiting: list[Route] = field(default_factory=list)

    def serve(self, page: Page) -> None:
        page.route("**/token", self._token)
        if self.script is not None:
            page.route("**/app.js", lambda route: route.fulfill(body=self.script, content_type="text/javascript"))

    def go_on(self) -> None:
        self.is_slow = False
        while self.waiting:
            self._token(self.waiting.pop(0))

    def _token(self, route: Route) -> None:
        if self.is_slow:
            self.waiting.append(route)
        elif self.user is None:
            route.fulfill(status=401, body="")
        else:
            route.fulfill(body=token(self.user), content_type="text/plain")


@dataclass
class Line:
    """What the page and the deployment say to each other."""

    queries: dict[int, str] = field(default_factory=dict)
    failures: list[str] = field(default_factory=list)

    def listen(self, socket: WebSocket) -> None:
        socket.on("framesent", lambda frame: self._send(json.loads(frame)))
        socket.on("framereceived", lambda frame: self._receive(str(frame)))

    def _send(self, message: dict[str, Any]) -> None:
        if message["type"] == "Connect":
            self.queries.clear()
        if message["type"] == "ModifyQuerySet":
            for change in message["modifications"]:
                if change["type"] == "Add":
                    self.queries[change["queryId"]] = change["udfPath"].replace(".js:", ":")
                else:
                    self.queries.pop(change["queryId"], None)

    def _receive(self, frame: str) -> None:
        self.failures += [frame] if "Nobody is signed in" in frame else []

    def wait_until_followed(self, page: Page, *names: str) -> None:
        wanted = sorted(f"board:{name}" for name in names)
        wait_until(
            lambda: page.evaluate("0") == 0 and sorted(self.queries.values()) == wanted, f"{wanted} to be followed"
        )


def visit(app: App, server: WebServer) -> tuple[Page, Line]:
    page, line = app.blank(), Line()
    page.add_init_script(RECORD)
    page.on("websocket", line.listen)
    server.serve(page)
    app.serve(server.document)
    page.goto(app.url)
    return page, line


def recorded(page: Page) -> list[dict[str, Any]]:
    """What the page showed since it was opened, frame by frame, without repetitions."""
    return [json.loads(state) for state in page.evaluate("window.look()")]


def expect_shown(page: Page, status: str, *items: str) -> None:
    wanted = shown(status, *items)
    try:
        wait_until(lambda: page.evaluate(STATE) == wanted, "the state")
    except AssertionError:
        assert page.evaluate(STATE) == wanted


def check_elements(page: Page) -> None:
    assert page.evaluate("window.rendered.every((element) => element.isConnected)"), "the elements were replaced"


def check_complaints(app: App) -> None:
    assert [text for text in app.complaints if "401" not in text] == []


def check_frames(states: list[dict[str, Any]]) -> None:
    for each in states:
        if each["items"] is not None:
            assert each["heading"] == shown("", *each["items"])["heading"], f"a frame contradicts itself: {each}"


def lists(states: list[dict[str, Any]]) -> list[str | None]:
    return [
        each for each, _ in groupby(None if state["items"] is None else ", ".join(state["items"]) for state in states)
    ]


def button(page: Page, name: str) -> Locator:
    return page.get_by_role("button", name=name, exact=True)


def like(page: Page, title: str) -> Locator:
    return page.locator("ul > li").filter(has=page.get_by_text(title, exact=True)).get_by_role("button", name="Like")


def test_the_document_says_everything(project: Deployment) -> None:
    post(project, a=3, b=LARGE)
    post(project, "Ben", c=0)
    response = project.http.get("/board")
    assert response.status == 200
    assert (response.header("Content-Type") or "").lower().replace(" ", "") == "text/html;charset=utf-8"
    assert response.header("Cache-Control") == "no-store"
    assert response.text.lstrip().lower().startswith("<!doctype html>")
    document = Document(response.text)
    assert document.title == "Board"
    assert document.state == shown(NOBODY, "a 3", f"b {LARGE}", "c 0")
    scripts = [script for script in document.scripts if "src" in script]
    assert [(script["src"], script.get("type")) for script in scripts] == [("/app.js", "module")]
    assert "Loading…" not in response.text


def test_an_empty_board_can_be_rendered(project: Deployment) -> None:
    assert Document(read(project)).state == shown(NOBODY)
    assert Document(read(project, "Ada")).state == shown("Signed in as Ada, 0 posted")


def test_each_document_is_for_its_visitor_and_of_its_time(project: Deployment) -> None:
    ids = post(project, a=1, b=2)
    assert Document(read(project, "Ada")).state == shown("Signed in as Ada, 2 posted", "a 1", "b 2")
    post(project, "Benedict", c=5)
    assert Document(read(project, "Benedict")).state == shown("Signed in as Benedict, 1 posted", "a 1", "b 2", "c 5")
    project.mutation("board:like", noticeId=ids["a"])
    text = read(project)
    assert Document(text).state == shown(NOBODY, "a 2", "b 2", "c 5")
    assert "Ada" not in text
    assert "Benedict" not in text
    assert "Benedict" not in read(project, "Ada")


def test_only_the_given_functions_are_public(project: Deployment) -> None:
    public = {name for name, function in project.functions().items() if function.is_public}
    assert public == {"board:list", "board:totals", "board:me", "board:like"}
    assert [(route.method, route.path) for route in project.routes()] == [("GET", "/board")]


def test_a_document_is_of_one_moment(project: Deployment) -> None:
    ids = post(project, a=0, b=0)
    is_over = threading.Event()

    def keep_liking(client: Client, title: str) -> None:
        while not is_over.is_set():
            client.mutation("board:like", noticeId=ids[title])

    with project.clients(2) as clients:
        writers = [threading.Thread(target=keep_liking, args=each) for each in zip(clients, "ab", strict=True)]
        for writer in writers:
            writer.start()
        try:
            states = [Document(read(project, "Ada")).state for _ in range(10)]
            with project.lockstep(8):  # the endpoint waits for other actions, in vain, after each function it calls
                with ThreadPoolExecutor(1) as reader:
                    document = reader.submit(read, project, "Ada")
                    while not document.done():
                        post(project, more=1)
                        time.sleep(0.05)
                states.append(Document(document.result()).state)
        finally:
            is_over.set()
            for writer in writers:
                writer.join()
    check_frames(states)
    assert [state["status"] for state in states] == [
        f"Signed in as Ada, {len(state['items'])} posted" for state in states
    ]


def test_everything_is_there_before_the_script_runs(app: App, project: Deployment) -> None:
    post(project, a=3, b=LARGE)
    page, _ = visit(app, WebServer(read(project, "Ada"), "Ada", script=""))
    assert page.evaluate(STATE) == shown("Signed in as Ada, 2 posted", "a 3", f"b {LARGE}")
    assert page.title() == "Board"
    expect(button(page, "Notices")).to_have_attribute("aria-pressed", "true")
    expect(button(page, "About")).to_have_attribute("aria-pressed", "false")
    expect(page.get_by_role("heading", name="About", level=2)).to_have_count(0)
    expect(page.get_by_role("alert")).to_have_count(0)
    expect(like(page, "a")).to_have_text("Like (3)")


def test_the_script_takes_over_without_a_flash(app: App, project: Deployment) -> None:
    ids = post(project, a=3, b=LARGE)
    page, line = visit(app, WebServer(read(project)))
    line.wait_until_followed(page, "list", "totals")
    project.mutation("board:like", noticeId=ids["b"])
    expect_shown(page, NOBODY, "a 3", f"b {LARGE + 1}")
    assert recorded(page) == [shown(NOBODY, "a 3", f"b {LARGE}"), shown(NOBODY, "a 3", f"b {LARGE + 1}")]
    check_elements(page)
    check_complaints(app)


def test_a_signed_in_visitor_never_seems_to_be_signed_out(app: App, project: Deployment) -> None:
    post(project, a=3)
    server = WebServer(read(project, "Ada"), "Ada", is_slow=True)
    page, line = visit(app, server)
    wait_until(lambda: page.evaluate("0") == 0 and server.waiting, "the page to ask for a token")
    like(page, "a").click()
    expect_shown(page, "Signed in as Ada, 1 posted", "a 4")
    page.wait_for_timeout(500)
    check_elements(page)
    server.go_on()
    line.wait_until_followed(page, "list", "totals", "me")
    post(project, b=0)
    expect_shown(page, "Signed in as Ada, 2 posted", "a 4", "b 0")
    assert [each["status"] for each in recorded(page)][-1] == "Signed in as Ada, 2 posted"
    assert {each["status"] for each in recorded(page)} == {"Signed in as Ada, 1 posted", "Signed in as Ada, 2 posted"}
    assert lists(recorded(page)) == ["a 3", "a 4", "a 4, b 0"]
    assert not any(each["isLoading"] for each in recorded(page))
    assert line.failures == []
    check_elements(page)
    check_complaints(app)


def test_the_deployment_may_take_its_time(app: App, project: Deployment) -> None:
    ids = post(project, a=3, b=0)
    document = read(project, "Ada")
    project.mutation("board:like", noticeId=ids["b"])
    post(project, c=7)
    page = app.blank()
    with app.holding(page):
        page, line = visit(app, WebServer(document, "Ada"))
        button(page, "Notices").click()
        page.wait_for_timeout(300)
        assert recorded(page) == [shown("Signed in as Ada, 2 posted", "a 3", "b 0")]
        check_elements(page)
    expect_shown(page, "Signed in as Ada, 3 posted", "a 3", "b 1", "c 7")
    assert lists(recorded(page)) == ["a 3, b 0", "a 3, b 1, c 7"]
    assert not any(each["isLoading"] for each in recorded(page))
    check_frames(recorded(page))
    assert line.failures == []
    check_elements(page)
    check_complaints(app)


def test_titles_are_shown_exactly_as_they_are(app: App, project: Deployment) -> None:
    for title in NASTY:
        project.insert("notices", author="Ada", title=title, likes=Int64(1))
    page, line = visit(app, WebServer(read(project)))
    assert page.title() == "Board"
    expect_shown(page, NOBODY, *(f"{title} 1" for title in NASTY))
    line.wait_until_followed(page, "list", "totals")
    page.locator("ul > li button").nth(1).click()
    expect_shown(page, NOBODY, f"{NASTY[0]} 1", f"{NASTY[1]} 2", f"{NASTY[2]} 1")
    assert page.title() == "Board"
    check_elements(page)
    check_complaints(app)


def test_likes_count_at_once_even_before_the_deployment_has_sent_anything(app: App, project: Deployment) -> None:
    ids = post(project, a=3, b=LARGE, c=0)
    document = read(project)
    page = app.blank()
    with app.holding(page):
        page, _ = visit(app, WebServer(document))
        like(page, "b").click()
        expect_shown(page, NOBODY, "a 3", f"b {LARGE + 1}", "c 0")
        like(page, "a").click()
        like(page, "b").click()
        expect_shown(page, NOBODY, "a 4", f"b {LARGE + 2}", "c 0")
        project.mutation("board:like", noticeId=ids["c"])
    expect_shown(page, NOBODY, "a 4", f"b {LARGE + 2}", "c 1")
    wait_until(lambda: stored(project) == [4, LARGE + 2, 1], "the likes")
    check_frames(recorded(page))
    numbers = [[int(item.rsplit(" ", 1)[1]) for item in each["items"] or []] for each in recorded(page)]
    assert all(len(each) == 3 for each in numbers)
    assert all(list(each) == sorted(each) for each in zip(*numbers, strict=True)), f"a like disappeared: {numbers}"
    check_elements(page)
    check_complaints(app)


def test_a_refused_like_disappears_and_the_others_stay(app: App, project: Deployment) -> None:
    ids = post(project, a=3, b=0, c=5)
    document = read(project, "Ada")
    project.delete("notices", ids["c"])
    page = app.blank()
    with app.holding(page):
        page, _ = visit(app, WebServer(document, "Ada"))
        for title in ("c", "a", "c", "b"):
            like(page, title).click()
        expect_shown(page, "Signed in as Ada, 3 posted", "a 4", "b 1", "c 7")
        expect(page.get_by_role("alert")).to_have_count(0)
    expect_shown(page, "Signed in as Ada, 2 posted", "a 4", "b 1")
    expect(page.get_by_role("alert")).to_have_text("This notice has been removed")
    check_frames(recorded(page))
    like(page, "a").click()
    expect_shown(page, "Signed in as Ada, 2 posted", "a 5", "b 1")


def test_what_was_rendered_never_comes_back(app: App, project: Deployment) -> None:
    ids = post(project, a=1, b=2)
    page, line = visit(app, WebServer(read(project)))
    line.wait_until_followed(page, "list", "totals")
    button(page, "About").click()
    expect(page.get_by_role("heading", name="About", level=2)).to_have_count(1)
    expect(page.locator("ul")).to_have_count(0)
    expect(button(page, "About")).to_have_attribute("aria-pressed", "true")
    expect(button(page, "Notices")).to_have_attribute("aria-pressed", "false")
    line.wait_until_followed(page, "totals")
    project.mutation("board:like", noticeId=ids["a"])
    expect(page.get_by_role("heading", level=1)).to_have_text("2 notices, 4 likes")
    with app.frames(page, STATE) as states:
        with app.holding(page):
            button(page, "Notices").click()
            expect(page.locator("p").filter(has_text="Loading…")).to_have_count(1)
            expect(page.locator("ul")).to_have_count(0)
        expect_shown(page, NOBODY, "a 2", "b 2")
    assert lists(states) == [None, "a 2, b 2"]
    check_frames(states)
    for _ in range(2):
        button(page, "About").click()
        line.wait_until_followed(page, "totals")
        button(page, "Notices").click()
        line.wait_until_followed(page, "list", "totals")
    expect_shown(page, NOBODY, "a 2", "b 2")
    assert "a 1, b 2" not in lists(recorded(page))[1:]
    like(page, "b").click()
    expect_shown(page, NOBODY, "a 2", "b 3")
    check_complaints(app)


def test_leaving_before_the_deployment_has_sent_anything(app: App, project: Deployment) -> None:
    post(project, a=1)
    document = read(project)
    post(project, b=1)
    page = app.blank()
    with app.holding(page):
        page, _ = visit(app, WebServer(document))
        button(page, "About").click()
        expect(page.get_by_role("heading", name="About", level=2)).to_have_count(1)
        button(page, "Notices").click()
        expect(page.locator("p").filter(has_text="Loading…")).to_have_count(1)
        expect(page.get_by_role("heading", level=1)).to_have_text("1 notices, 1 likes")
    expect_shown(page, NOBODY, "a 1", "b 1")
    assert lists(recorded(page)) == ["a 1", None, "a 1, b 1"]
    check_complaints(app)


@pytest.mark.parametrize("seed", range(2))
def test_document_and_page_agree_with_what_happened(app: App, project: Deployment, seed: int) -> None:
    chance = random.Random(seed)
    truth: dict[str, int] = {}
    ids: dict[str, str] = {}

    def add() -> None:
        title = f"n{len(ids)}"
        truth[title] = chance.choice([0, 1, LARGE])
        ids.update(post(project, chance.choice(["Ada", "Ben"]), **{title: truth[title]}))

    def like_elsewhere() -> None:
        truth[title := chance.choice(list(truth))] += 1
        project.mutation("board:like", noticeId=ids[title])

    def like_here() -> None:
        truth[title := chance.choice(list(truth))] += 1
        like(page, title).click()

    def remove() -> None:
        title = chance.choice(list(truth))
        del truth[title]
        project.delete("notices", ids[title])

    add()
    add()
    page, _ = visit(app, WebServer(read(project, "Ada"), "Ada"))
    for _ in range(10):
        steps = [add, like_elsewhere, like_here, like_here] if truth else [add]
        chance.choice([*steps, remove] if len(truth) > 1 else steps)()
        posted = [each for each in project.documents("notices") if each["author"] == "Ada"]
        items = [f"{title} {likes}" for title, likes in truth.items()]
        status = f"Signed in as Ada, {len(posted)} posted"
        expect_shown(page, status, *items)
        wait_until(lambda: stored(project) == list(truth.values()), "the like")
        assert Document(read(project, "Ada")).state == shown(status, *items)
    check_frames(recorded(page))
    check_complaints(app)

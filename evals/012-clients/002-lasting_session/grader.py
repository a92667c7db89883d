"""A page whose user stays signed in: tokens are stored, renewed, refused and lost, and nothing flickers."""

import json
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from itertools import groupby
from typing import Any, Final

import jwt
import pytest
from cryptography.hazmat.primitives.asymmetric import ec
from playwright.sync_api import Locator, Page, Request, Route, WebSocketRoute, expect

from convex_evals.pipeline.grading.kit import App, Deployment, Sources, wait_until

KEY: Final = ec.derive_private_key(20261117, ec.SECP256R1())
FORGED: Final = ec.derive_private_key(19991231, ec.SECP256R1())

STATE = """(() => {
  const heading = document.querySelector('h1')?.textContent.trim() ?? null;
  const notes = [...document.querySelectorAll('ul > li')].map((each) => each.textContent.trim()).join(' ');
  return {
    page: heading === null ? (document.body.textContent.includes('Loading…') ? 'loading' : 'nothing')
      : heading === 'Sign in' ? 'signed out' : heading + ': ' + notes,
    status: document.querySelector('[role=status], output')?.textContent.trim() ?? null,
    alert: document.querySelector('[role=alert]')?.textContent.trim() ?? null,
  };
})()"""

RENEWING = "Renewing your session…"
ENDED = "Your session has ended."


@dataclass
class World:
    """One time for all: the deployment, the sign-in service and, apart from how wrong its clock is, the page."""

    project: Deployment | None = None

    def now(self) -> float:
        assert self.project is not None
        return self.project.now() / 1000

    def advance(self, seconds: float) -> None:
        assert self.project is not None
        self.project.advance(seconds=seconds)


world = World()


@pytest.fixture(autouse=True)
def the_world(project: Deployment) -> Iterator[None]:
    world.project = project
    yield
    world.project = None


def token(user: str, *, lasts: float, age: float = 0, key: ec.EllipticCurvePrivateKey = KEY) -> str:
    """`lasts` and `age` in seconds; each token is another one. Whether it has expired, the deployment finds out by the
    machine's time."""
    now = world.now() if lasts > 0 else time.time()
    claims = {
        "iss": "https://sign-in.example",
        "aud": "notes",
        "sub": user,
        "iat": int(now - age),
        "exp": int(now + lasts),
        "jti": str(time.perf_counter_ns()),
    }
    return jwt.encode(claims, key, "ES256", {"kid": "company"})


@dataclass
class Service:
    """The sign-in service, as the page reaches it. `issue` makes its tokens; `state` says how it is doing."""

    user: str | None = None
    state: str = "up"  # or "down", "ended", "slow"
    slow_paths: tuple[str, ...] = ()
    issue: Callable[[str], str] = lambda user: token(user, lasts=600)
    requests: list[str] = field(default_factory=list)
    issued: list[str] = field(default_factory=list)
    waiting: list[Route] = field(default_factory=list)

    @property
    def tokens(self) -> int:
        """How often a new token has been asked for."""
        return self.requests.count("/token")

    def serve(self, page: Page) -> None:
        for path in ("/session", "/token", "/sign-in", "/sign-out"):
            page.route(f"**{path}", self._receive)

    def go_on(self, state: str = "up") -> None:
        self.state, self.slow_paths = state, ()
        while self.waiting:
            self._respond(self.waiting.pop(0))

    def _receive(self, route: Route) -> None:
        self.requests.append(path := "/" + route.request.url.rsplit("/", 1)[1])
        if self.state == "slow" or path in self.slow_paths:
            self.waiting.append(route)
        else:
            self._respond(route)

    def _respond(self, route: Route) -> None:
        path = "/" + route.request.url.rsplit("/", 1)[1]
        if path == "/sign-in":
            self.user = json.loads(route.request.post_data or "")["user"]
        elif path == "/sign-out":
            self.user = None
        if path == "/session":
            route.fulfill(json={"user": self.user})
        elif path != "/token":
            route.fulfill(json={})
        elif self.state == "down":
            route.fulfill(status=503, body="down")
        elif self.state == "ended" or self.user is None:
            route.fulfill(status=401, body="no session")
        else:
            self.issued.append(self.issue(self.user))
            route.fulfill(body=self.issued[-1])


@dataclass
class Line:
    """The page's connection to the deployment, on which the deployment can be made to refuse the token."""

    identity: int = 0  # the version that the deployment has confirmed last
    failures: list[str] = field(default_factory=list)  # of queries without a user
    is_slow: bool = False  # once the page says that there is no user any more: what it still asks for is run
    messages: int = 0
    _near: WebSocketRoute | None = None
    _waiting: dict[int, set[tuple[str, int]]] = field(default_factory=dict)  # what each connection has asked for

    @property
    def is_waiting(self) -> bool:
        """Whether the page has asked the deployment for something that has not come yet."""
        return any(self._waiting.values())

    def _note(self, sent: dict[str, Any], waiting: set[tuple[str, int]]) -> None:
        self.messages += 1
        if sent["type"] in ("Mutation", "Action"):
            waiting.add(("request", sent["requestId"]))
        elif sent["type"] == "ModifyQuerySet":
            waiting.add(("querySet", sent["newVersion"]))
        elif sent["type"] == "Authenticate":
            waiting.add(("identity", sent["baseVersion"] + 1))

    def _cross_off(self, received: dict[str, Any], waiting: set[tuple[str, int]]) -> None:
        if received["type"] in ("MutationResponse", "ActionResponse"):
            waiting.discard(("request", received["requestId"]))
        elif received["type"] == "Transition":
            shown = received["endVersion"]
            waiting -= {each for each in waiting if each[0] in shown and each[1] <= shown[each[0]]}
        elif received["type"] != "Ping":
            waiting.clear()  # refused

    def refuse(self) -> None:
        assert self._near is not None
        error = {"type": "AuthError", "error": "Refused", "baseVersion": self.identity, "authUpdateAttempted": False}
        self._near.send(json.dumps(error))

    def connect(self, near: WebSocketRoute) -> None:
        self._near, far = near, near.connect_to_server()
        unsent, clearing = list[str | bytes](), list[int]()
        waiting = self._waiting.setdefault(id(near), set())

        def end(code: int | None, reason: str | None) -> None:
            waiting.clear()
            far.close()

        def go_on() -> None:
            while unsent and not clearing:
                far.send(message := unsent.pop(0))
                sent = json.loads(message)
                if self.is_slow and sent["type"] == "Authenticate" and sent["tokenType"] == "None":
                    clearing.append(sent["baseVersion"] + 1)

        def ask(message: str | bytes) -> None:
            self._note(json.loads(message), waiting)
            unsent.append(message)
            go_on()

        def forward(message: str | bytes) -> None:
            received = json.loads(message)
            self._cross_off(received, waiting)
            if received["type"] == "Transition":
                self.identity = received["endVersion"]["identity"]
                if clearing and self.identity >= clearing[0]:
                    clearing.clear()
                    go_on()
            if "Nobody is signed in" in str(message):
                self.failures.append(str(message))
            near.send(message)

        near.on_message(ask)
        near.on_close(end)
        far.on_message(forward)


@dataclass
class Visit:
    """A page, with what it and the deployment have said to each other."""

    page: Page
    service: Service
    line: Line = field(default_factory=Line)
    fetching: set[Request] = field(default_factory=set)

    @property
    def failures(self) -> list[str]:
        return self.line.failures

    def watch(self) -> None:
        """What the page fetches."""
        self.page.on("request", lambda request: self.fetching.add(request))
        self.page.on("requestfinished", lambda request: self.fetching.discard(request))
        self.page.on("requestfailed", lambda request: self.fetching.discard(request))

    def is_at_rest(self) -> bool:
        """Whether the page waits for nothing and has nothing to do, but for what the service keeps back."""
        before = self.line.messages
        self.page.evaluate("() => new Promise((resolve) => setTimeout(resolve, 30))")
        held = {route.request for route in self.service.waiting}
        return not self.fetching - held and not self.line.is_waiting and self.line.messages == before

    def tick(self, seconds: float, *, at_rest: bool = True) -> None:
        """Time passes, on the page and elsewhere, and what is due on the page happens. What the page has begun comes to
        its end first, unless it never does."""
        if at_rest:
            with suppress(AssertionError):
                wait_until(self.is_at_rest, "a page at rest")
        world.advance(seconds)
        self.page.clock.run_for(int(seconds * 1000))

    def wait_for(self, moment: float) -> None:
        """Time passes until then."""
        if (seconds := moment - world.now()) > 0:
            self.tick(seconds)


def visit(
    app: App,
    service: Service,
    stored: str | None = None,
    clock: timedelta = timedelta(0),
    *,
    is_slow: bool = False,
) -> Visit:
    """`clock` is how much the clock of the user's computer is fast; for `is_slow`, see the line."""
    page = app.blank()
    visited = Visit(page, service, Line(is_slow=is_slow))
    visited.watch()
    service.serve(page)
    page.route_web_socket("**/sync", visited.line.connect)
    if stored is not None:
        page.add_init_script(f"localStorage.setItem('token', {json.dumps(stored)})")
    page.clock.install(time=datetime.fromtimestamp(world.now(), UTC) + clock)
    page.goto(app.url)
    return visited


def button(page: Page, name: str) -> Locator:
    return page.get_by_role("button", name=name, exact=True)


def fill(page: Page, label: str, text: str, click: str) -> None:
    page.get_by_label(label, exact=True).fill(text)
    button(page, click).click()


def expect_loading(page: Page) -> None:
    expect(page.get_by_text("Loading…", exact=True)).to_have_count(1)
    for place in (page.get_by_role("heading"), page.get_by_role("button"), page.locator("ul"), page.locator("input")):
        expect(place).to_have_count(0)


def expect_signed_out(page: Page, *, alert: str | None = None) -> None:
    expect(page.get_by_role("heading", level=1)).to_have_text("Sign in")
    expect(button(page, "Sign in")).to_have_count(1)
    for place in (page.get_by_text("Loading…"), page.locator("ul"), page.get_by_role("status")):
        expect(place).to_have_count(0)
    if alert is None:
        expect(page.get_by_role("alert")).to_have_count(0)
    else:
        expect(page.get_by_role("alert")).to_have_text(alert)


def expect_notes(page: Page, user: str, notes: str, *, status: str | None = None) -> None:
    expect(page.get_by_role("heading", level=1)).to_have_text(f"Notes of {user}")
    expect(page.locator("ul > li")).to_have_text(notes.split())
    for place in (page.get_by_text("Loading…"), page.get_by_role("alert")):
        expect(place).to_have_count(0)
    if status is None:
        expect(page.get_by_role("status")).to_have_count(0)
    else:
        expect(page.get_by_role("status")).to_have_text(status)


def write(project: Deployment, **notes: str) -> None:
    for owner, texts in notes.items():
        for text in texts.split():
            project.insert("notes", owner=owner, text=text)


def changes(states: list[dict[str, Any]], *names: str) -> list[Any]:
    seen = [tuple(state[name] for name in names) if len(names) > 1 else state[names[0]] for state in states]
    return [each for each, _ in groupby(seen)]


def tick_until(visited: Visit, condition: Callable[[], object], what: str, seconds: float = 1.1) -> None:
    """Time passes step by step."""

    def look() -> object:
        visited.tick(seconds)
        return condition()

    wait_until(look, what)


def tick_until_token(visited: Visit) -> None:
    before = visited.service.tokens
    tick_until(visited, lambda: visited.service.tokens > before, "another request for a token")


def renewal(of: str) -> float:
    """When this token must be renewed: a minute before it expires."""
    expires: int = jwt.decode(of, options={"verify_signature": False})["exp"]
    return expires - 60.0


def expect_renewal(visited: Visit, of: str) -> None:
    """A token that lasts for two minutes or less is renewed when the time has come, and not twenty seconds earlier."""
    tokens = visited.service.tokens
    visited.wait_for(renewal(of) - 20)
    assert visited.service.tokens == tokens, "a token was asked for too early"
    visited.wait_for(renewal(of) + 2)
    wait_for_token(visited.page, visited.service, tokens + 1)


def test_the_page_uses_the_given_service(files: Sources) -> None:
    assert files.exists("src/main.tsx")
    assert any("convex/react" in files.text(path) for path in files.paths("src/**/*"))


def test_it_loads_until_it_is_known_who_is_signed_in(app: App, project: Deployment) -> None:
    write(project, ada="a1 a2", ben="b1")
    service = Service(state="slow")
    visited = visit(app, service)
    page = visited.page
    expect_loading(page)
    expect(page.locator("footer")).to_have_text("3 notes so far")
    expect_loading(page)
    service.go_on()
    expect_signed_out(page)
    expect(page.locator("footer")).to_have_text("3 notes so far")
    button(page, "Sign in").click()
    expect_signed_out(page)
    assert (service.tokens, visited.failures) == (0, [])


def test_a_stored_token_is_used_and_costs_nothing(app: App, project: Deployment) -> None:
    write(project, ada="a1 a2", ben="b1")
    service = Service(user="ada", state="slow")
    visited = visit(app, service, stored=token("ada", lasts=300))
    page = visited.page
    expect_loading(page)
    with app.frames(page, STATE) as states:
        with app.holding(page):
            service.go_on()
            visited.tick(1, at_rest=False)
            expect_loading(page)
        expect_notes(page, "ada", "a1 a2")
        expect(page.locator("footer")).to_have_text("3 notes so far")
        button(page, "Add").click()
        fill(page, "Note", "a3", "Add")
        expect(page.get_by_label("Note", exact=True)).to_have_value("")
        expect_notes(page, "ada", "a1 a2 a3")
        expect(page.locator("footer")).to_have_text("4 notes so far")
        visited.tick(20)
    assert changes(states, "page") == ["loading", "Notes of ada: a1 a2", "Notes of ada: a1 a2 a3"]
    assert (service.tokens, visited.failures) == (0, [])


def test_the_page_loads_from_the_click_on_sign_in_until_the_notes_are_there(app: App, project: Deployment) -> None:
    write(project, ada="a1 a2", ben="b1")
    service = Service()
    visited = visit(app, service)
    page = visited.page
    expect_signed_out(page)
    with app.frames(page, STATE) as states:
        service.state = "slow"
        fill(page, "Name", "ben", "Sign in")
        expect_loading(page)
        with app.holding(page):
            service.go_on()
            wait_for_token(page, service, 1)
            expect_loading(page)
        expect_notes(page, "ben", "b1")
        visited.tick(20)
    assert changes(states, "page") == ["signed out", "loading", "Notes of ben: b1"]
    assert (service.tokens, visited.failures) == (1, [])


def wait_for_token(page: Page, service: Service, tokens: int) -> None:
    """The service gets to respond while the page is looked at."""

    def have_been_requested() -> bool:
        page.evaluate("0")
        return service.tokens >= tokens

    wait_until(have_been_requested, f"request number {tokens} for a new token")


def test_tokens_are_renewed_a_minute_before_they_expire_and_nobody_notices(app: App, project: Deployment) -> None:
    write(project, ada="a1 a2")
    service = Service(user="ada", issue=lambda user: token(user, lasts=110))
    stored = token("ada", lasts=110, age=1000)
    visited = visit(app, service, stored=stored)
    page = visited.page
    expect_notes(page, "ada", "a1 a2")
    with app.frames(page, STATE) as states:
        expect_renewal(visited, stored)
        expect_notes(page, "ada", "a1 a2")
        fill(page, "Note", "a3", "Add")
        expect_notes(page, "ada", "a1 a2 a3")
        expect_renewal(visited, service.issued[-1])
        fill(page, "Note", "a4", "Add")
        expect_notes(page, "ada", "a1 a2 a3 a4")
    assert changes(states, "page") == [
        "Notes of ada: a1 a2",
        "Notes of ada: a1 a2 a3",
        "Notes of ada: a1 a2 a3 a4",
    ]
    assert changes(states, "status", "alert") == [(None, None)]
    assert (service.tokens, visited.failures) == (2, [])


@pytest.mark.parametrize("clock", [timedelta(hours=-2), timedelta(hours=2)])
def test_the_clock_of_the_computer_makes_no_difference(app: App, project: Deployment, clock: timedelta) -> None:
    write(project, ada="a1")
    service = Service(user="ada", issue=lambda user: token(user, lasts=300))
    visited = visit(app, service, stored=token("ada", lasts=300), clock=clock)
    expect_notes(visited.page, "ada", "a1")
    visited.tick(20)
    visited.tick(15)
    expect_notes(visited.page, "ada", "a1")
    assert (service.tokens, visited.failures) == (0, [])
    stored = token("ada", lasts=110)
    visited = visit(app, service, stored=stored, clock=clock)
    expect_notes(visited.page, "ada", "a1")
    expect_renewal(visited, stored)
    visited.tick(20)
    expect_notes(visited.page, "ada", "a1")
    assert (service.tokens, visited.failures) == (1, [])


def test_a_service_that_cannot_be_reached_is_asked_again_every_second(app: App, project: Deployment) -> None:
    write(project, ada="a1")
    service = Service(user="ada")
    stored = token("ada", lasts=90)
    visited = visit(app, service, stored=stored)
    page = visited.page
    expect_notes(page, "ada", "a1")
    service.state = "down"
    with app.frames(page, STATE) as states:
        visited.wait_for(renewal(stored) + 2)
        for number in (1, 2, 3):
            wait_for_token(page, service, number)
            visited.tick(1.1)
        service.state = "up"
        tick_until_token(visited)
        fill(page, "Note", "a2", "Add")
        expect_notes(page, "ada", "a1 a2")
    assert changes(states, "page") == ["Notes of ada: a1", "Notes of ada: a1 a2"]
    assert changes(states, "status", "alert") == [(None, None)]
    assert visited.failures == []


def test_opening_the_page_waits_for_a_service_that_cannot_be_reached(app: App, project: Deployment) -> None:
    write(project, ada="a1")
    service = Service(user="ada", state="down")
    began = time.monotonic()
    visited = visit(app, service)
    page = visited.page
    with app.frames(page, STATE) as states:
        for number in (1, 2, 3):
            wait_for_token(page, service, number)
            expect_loading(page)
            visited.tick(1.1)
        passed = 3 * 1.1 + time.monotonic() - began  # on the page, whose clock also runs by itself
        assert service.tokens <= passed + 2, "the service is asked once a second"
        service.state = "up"
        tick_until_token(visited)
        expect_notes(page, "ada", "a1")
    assert changes(states, "page")[-2:] == ["loading", "Notes of ada: a1"]
    assert "signed out" not in changes(states, "page")
    assert visited.failures == []


def test_the_notes_stay_while_a_refused_token_is_replaced(app: App, project: Deployment) -> None:
    write(project, ada="a1")
    service = Service(user="ada")
    visited = visit(app, service, stored=token("ada", lasts=300))
    page = visited.page
    expect_notes(page, "ada", "a1")
    service.state = "slow"
    with app.frames(page, STATE) as states:
        visited.line.refuse()
        expect_notes(page, "ada", "a1", status=RENEWING)
        fill(page, "Note", "a2", "Add")
        fill(page, "Note", "a3", "Add")
        expect_notes(page, "ada", "a1", status=RENEWING)
        assert service.tokens == 1
        service.state = "down"
        service.waiting.pop().fulfill(status=503, body="down")
        tick_until(visited, lambda: service.tokens >= 3, "more requests for a token")
        expect_notes(page, "ada", "a1", status=RENEWING)
        service.state = "up"
        tick_until_token(visited)
        expect_notes(page, "ada", "a1 a2 a3")
    seen = changes(states, "page", "status")
    assert seen[0] == ("Notes of ada: a1", None)
    assert seen[1] == ("Notes of ada: a1", RENEWING)
    assert all(page.startswith("Notes of ada: a1") for page, _ in seen), seen
    assert changes(states, "status") == [None, RENEWING, None]
    assert [note["text"] for note in project.documents("notes")] == ["a1", "a2", "a3"]
    assert visited.failures == []


def test_a_session_that_has_ended_shows_the_signed_out_page_and_the_same_user_can_come_back(
    app: App, project: Deployment
) -> None:
    write(project, ada="a1")
    service = Service(user="ada")
    stored = token("ada", lasts=90)
    visited = visit(app, service, stored=stored)
    page = visited.page
    expect_notes(page, "ada", "a1")
    service.state = "ended"
    visited.wait_for(renewal(stored) + 2)
    expect_signed_out(page, alert=ENDED)
    expect(page.locator("footer")).to_have_text("1 notes so far")
    service.state = "up"
    with app.frames(page, STATE) as states:
        fill(page, "Name", "ada", "Sign in")
        expect_notes(page, "ada", "a1")
    assert changes(states, "page") == ["signed out", "loading", "Notes of ada: a1"]
    button(page, "Sign out").click()
    expect_signed_out(page)


def test_a_session_that_has_ended_when_a_token_is_refused(app: App, project: Deployment) -> None:
    write(project, ada="a1", ben="b1")
    service = Service(user="ada")
    visited = visit(app, service, stored=token("ada", lasts=300))
    page = visited.page
    expect_notes(page, "ada", "a1")
    service.state = "slow"
    visited.line.refuse()
    expect_notes(page, "ada", "a1", status=RENEWING)
    service.user = None
    service.go_on()
    expect_signed_out(page, alert=ENDED)
    fill(page, "Name", "ben", "Sign in")
    expect_notes(page, "ben", "b1")


def test_a_stored_token_that_is_refused_is_replaced_while_the_page_loads(app: App, project: Deployment) -> None:
    write(project, ada="a1")
    for stored in (token("ada", lasts=-60, age=600), token("ada", lasts=600, key=FORGED)):
        service = Service(user="ada", state="slow")
        visited = visit(app, service, stored=stored)
        page = visited.page
        with app.frames(page, STATE) as states:
            expect_loading(page)
            service.go_on()
            expect_notes(page, "ada", "a1")
        assert changes(states, "page")[-2:] == ["loading", "Notes of ada: a1"]
        assert "signed out" not in changes(states, "page")
        assert changes(states, "status", "alert") == [(None, None)]
        assert (service.tokens, visited.failures) == (1, [])


def test_a_user_whose_new_tokens_are_refused_too_can_sign_in_again(app: App, project: Deployment) -> None:
    write(project, ada="a1")
    service = Service(user="ada", issue=lambda user: token(user, lasts=600, key=FORGED))
    visited = visit(app, service)
    page = visited.page
    tick_until(visited, page.get_by_role("alert").count, "the alert", seconds=2)
    expect_signed_out(page, alert=ENDED)
    service.issue = lambda user: token(user, lasts=600)
    with app.frames(page, STATE) as states:
        fill(page, "Name", "ada", "Sign in")
        expect_notes(page, "ada", "a1")
    assert changes(states, "page") == ["signed out", "loading", "Notes of ada: a1"]
    assert visited.failures == []


def test_signing_out_shows_the_signed_out_page_at_once(app: App, project: Deployment) -> None:
    write(project, ada="a1")
    service = Service(user="ada")
    stored = token("ada", lasts=90)
    visited = visit(app, service, stored=stored)
    page = visited.page
    expect_notes(page, "ada", "a1")
    service.state = "down"
    visited.wait_for(renewal(stored) + 2)
    wait_for_token(page, service, 1)
    service.slow_paths = ("/sign-out",)
    with app.frames(page, STATE) as states:
        button(page, "Sign out").click()
        expect_signed_out(page)
        service.go_on("down")
        before = service.tokens
        visited.tick(10)
        expect_signed_out(page)
        assert service.tokens <= before, "a token was asked for, although the user has signed out"
    assert changes(states, "page", "alert") == [("Notes of ada: a1", None), ("signed out", None)]
    expect(page.locator("footer")).to_have_text("1 notes so far")
    assert (service.user, visited.failures) == (None, [])
    service.state = "up"
    fill(page, "Name", "ada", "Sign in")
    expect_notes(page, "ada", "a1")


def test_another_user_never_sees_the_notes_of_the_former_one(app: App, project: Deployment) -> None:
    write(project, ada="a1 a2", ben="b1")
    service = Service(user="ada")
    visited = visit(app, service, stored=token("ada", lasts=300), is_slow=True)
    page = visited.page
    expect_notes(page, "ada", "a1 a2")
    with app.frames(page, STATE) as states:
        for user, notes in (("ben", "b1"), ("ada", "a1 a2"), ("cleo", "")):
            button(page, "Switch user").click()
            service.state = "slow"
            fill(page, "Name", user, "Switch user")
            expect_loading(page)
            service.go_on()
            expect_notes(page, user, notes)
            assert service.user == user
    assert changes(states, "page", "alert") == [
        ("Notes of ada: a1 a2", None),
        ("loading", None),
        ("Notes of ben: b1", None),
        ("loading", None),
        ("Notes of ada: a1 a2", None),
        ("loading", None),
        ("Notes of cleo: ", None),
    ]
    assert (service.tokens, visited.failures) == (3, [])

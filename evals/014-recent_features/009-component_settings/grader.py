"""Settings that a component gets from the variables of the app when it is mounted, and that the deployment checks."""

import json
import random
from posixpath import dirname, join, normpath
from typing import Any

import pytest

from convex_evals.pipeline.grading.kit import Deployment, Reply, Sources, WebServer, wait_until
from convex_evals.pipeline.grading.kit.errors import Refused

FOLDER = "convex/notifier"
SENDERS = {"alerts": "Alarm desk", "digests": "Weekly digest"}
DELAYS = {"alerts": 0, "digests": 600}
TOKENS = {"alerts": "ALERTS_TOKEN", "digests": "DIGESTS_TOKEN"}
mounts = pytest.mark.parametrize("mount", SENDERS)


class Service:
    """What it received: path, token, sender and text of each request."""

    def __init__(self, server: WebServer) -> None:
        self.server = server

    def at(self, path: str = "/notify", status: int = 200) -> str:
        return self.server.reply("POST", path, Reply.json({}, status))

    @property
    def received(self) -> list[tuple[str, str, str, str]]:
        found = []
        for request in self.server.requests:
            body = request.json()
            assert body.keys() == {"sender", "text"}
            found.append((request.path, request.headers["authorization"], body["sender"], body["text"]))
        return found


def send(project: Deployment, mount: str, text: str) -> None:
    assert project.mutation("notices:send", mount=mount, text=text) is None


def listed(project: Deployment, mount: str) -> list[tuple[str, str]]:
    rows = project.query("notices:list", mount=mount)
    assert all(row.keys() == {"text", "status"} for row in rows)
    return [(row["text"], row["status"]) for row in rows]


def settings(mount: str, mode: str = "live", ready: bool = False) -> dict[str, Any]:
    return {"sender": SENDERS[mount], "delaySeconds": DELAYS[mount], "mode": mode, "isReady": ready}


def settled(project: Deployment, mount: str) -> list[tuple[str, str]]:
    """The list, once nothing waits any more."""
    project.advance(seconds=DELAYS[mount])
    wait_until(lambda: all(status != "waiting" for _, status in listed(project, mount)), "the end of every message")
    return listed(project, mount)


@mounts
def test_without_variables_nothing_is_sent(project: Deployment, web_server: WebServer, mount: str) -> None:
    assert project.query("notices:settings", mount=mount) == settings(mount)
    send(project, mount, "a")
    assert settled(project, mount) == [("a", "skipped")]
    assert web_server.requests == []


@mounts
def test_a_message_is_sent_with_the_settings_of_its_mount(
    project: Deployment, web_server: WebServer, mount: str
) -> None:
    service = Service(web_server)
    project.env.set(NOTIFY_URL=service.at(), ALERTS_TOKEN="key of alerts", DIGESTS_TOKEN="key of digests")
    assert project.query("notices:settings", mount=mount) == settings(mount, ready=True)
    send(project, mount, "a")
    assert settled(project, mount) == [("a", "sent")]
    assert service.received == [("/notify", f"Bearer key of {mount}", SENDERS[mount], "a")]
    [other] = SENDERS.keys() - {mount}
    assert listed(project, other) == []


@mounts
def test_the_token_of_the_other_mount_does_not_count(project: Deployment, web_server: WebServer, mount: str) -> None:
    [other] = TOKENS.keys() - {mount}
    project.env.set(NOTIFY_URL=Service(web_server).at(), TOKEN="x", URL="x")
    project.env.set(**{TOKENS[other]: "secret"})
    assert project.query("notices:settings", mount=mount) == settings(mount)
    assert project.query("notices:settings", mount=other) == settings(other, ready=True)
    send(project, mount, "a")
    assert settled(project, mount) == [("a", "skipped")]
    project.env.set(**{TOKENS[mount]: "secret", "NOTIFY_URL": None})
    assert project.query("notices:settings", mount=mount) == settings(mount)
    send(project, mount, "b")
    assert settled(project, mount) == [("a", "skipped"), ("b", "skipped")]
    assert web_server.requests == []


def test_the_delay_is_that_of_the_mount(project: Deployment, web_server: WebServer) -> None:
    service = Service(web_server)
    project.env.set(NOTIFY_URL=service.at(), ALERTS_TOKEN="a", DIGESTS_TOKEN="d")
    with project.stopped_clock():
        send(project, "digests", "later")
        send(project, "alerts", "now")
        assert settled(project, "alerts") == [("now", "sent")]
        project.advance(seconds=599.5)
        assert listed(project, "digests") == [("later", "waiting")]
        assert [text for *_, text in service.received] == ["now"]
        project.advance(seconds=0.8)
        assert listed(project, "digests") == [("later", "sent")]
        assert [text for *_, text in service.received] == ["now", "later"]


def test_what_the_variables_are_when_a_message_is_sent_counts(project: Deployment, web_server: WebServer) -> None:
    service = Service(web_server)
    project.env.set(NOTIFY_URL=service.at("/old"), DIGESTS_TOKEN="old")
    send(project, "digests", "a")
    project.advance(seconds=300)
    project.env.set(NOTIFY_URL=service.at("/new"), DIGESTS_TOKEN="new")
    send(project, "digests", "b")
    project.advance(seconds=310)
    assert service.received == [("/new", "Bearer new", SENDERS["digests"], "a")]
    project.env.set(DIGESTS_MODE="silent")
    project.advance(seconds=310)
    assert listed(project, "digests") == [("a", "sent"), ("b", "skipped")]
    send(project, "digests", "c")
    project.env.set(DIGESTS_MODE="live")
    send(project, "digests", "d")
    project.advance(seconds=610)
    assert listed(project, "digests")[2:] == [("c", "sent"), ("d", "sent")]
    send(project, "digests", "e")
    project.env.set(DIGESTS_TOKEN=None, DIGESTS_MODE=None)
    project.advance(seconds=610)
    assert listed(project, "digests")[4:] == [("e", "skipped")]
    assert [text for *_, text in service.received] == ["a", "c", "d"]


def test_the_mode_is_that_of_digests_only(project: Deployment, web_server: WebServer) -> None:
    service = Service(web_server)
    project.env.set(NOTIFY_URL=service.at(), ALERTS_TOKEN="a", DIGESTS_TOKEN="d", DIGESTS_MODE="silent")
    project.env.set(ALERTS_MODE="silent", MODE="silent", NOTIFY_MODE="silent")
    assert project.query("notices:settings", mount="alerts") == settings("alerts", ready=True)
    assert project.query("notices:settings", mount="digests") == settings("digests", "silent", ready=True)
    for mount in SENDERS:
        send(project, mount, mount)
    assert settled(project, "digests") == [("digests", "skipped")]
    assert settled(project, "alerts") == [("alerts", "sent")]


def test_a_mode_that_does_not_exist_cannot_be_set(project: Deployment) -> None:
    for wrong in ("loud", "LIVE", "silent ", "live|silent", "true"):
        with pytest.raises(Refused):
            project.env.set(DIGESTS_MODE=wrong)
        assert project.query("notices:settings", mount="digests") == settings("digests")
    for old in ("silent", "live"):
        project.env.set(DIGESTS_MODE=old)
        with pytest.raises(Refused):
            project.env.set(DIGESTS_MODE="off")
        assert project.env.all() == {"DIGESTS_MODE": old}
        assert project.query("notices:settings", mount="digests") == settings("digests", old)
    project.env.set(DIGESTS_MODE=None)
    assert project.query("notices:settings", mount="digests") == settings("digests")


def test_the_other_variables_accept_any_text(project: Deployment, web_server: WebServer) -> None:
    service, token = Service(web_server), "live, silent: 100 % fine!"
    project.env.set(NOTIFY_URL=service.at("/silent"), ALERTS_TOKEN=token, OTHER="x")
    send(project, "alerts", "a")
    assert settled(project, "alerts") == [("a", "sent")]
    assert service.received == [("/silent", f"Bearer {token}", SENDERS["alerts"], "a")]


def test_whoever_subscribes_sees_changes_of_the_variables(project: Deployment) -> None:
    with project.subscribe("notices:settings", mount="digests") as live:
        live.wait_until(lambda value: value == settings("digests"))
        project.env.set(DIGESTS_MODE="silent")
        live.wait_until(lambda value: value == settings("digests", "silent"))
        project.env.set(DIGESTS_TOKEN="t", NOTIFY_URL="http://localhost")
        live.wait_until(lambda value: value == settings("digests", "silent", ready=True))
        project.env.set(DIGESTS_MODE=None)
        live.wait_until(lambda value: value == settings("digests", ready=True))


@mounts
def test_a_message_that_failed_is_not_sent_again(project: Deployment, web_server: WebServer, mount: str) -> None:
    service = Service(web_server)
    project.env.set(ALERTS_TOKEN="a", DIGESTS_TOKEN="d")
    for status in (500, 404, 304):
        project.env.set(NOTIFY_URL=service.at(f"/{status}", status))
        send(project, mount, str(status))
        settled(project, mount)
    project.env.set(NOTIFY_URL=service.at("/204", 204))
    send(project, mount, "204")
    settled(project, mount)
    project.env.set(NOTIFY_URL=web_server.nobody)
    send(project, mount, "nobody")
    outcomes = [("500", "failed"), ("404", "failed"), ("304", "failed"), ("204", "sent"), ("nobody", "failed")]
    assert settled(project, mount) == outcomes
    project.advance(hours=2)
    assert [path for path, *_ in service.received] == ["/500", "/404", "/304", "/204"]
    assert listed(project, mount) == outcomes


def test_tokens_are_in_no_table_and_in_no_scheduled_function(project: Deployment, web_server: WebServer) -> None:
    project.env.set(NOTIFY_URL=Service(web_server).at(), ALERTS_TOKEN="open sesame", DIGESTS_TOKEN="open sesame")
    for mount in SENDERS:
        send(project, mount, "a")
    for _ in range(2):
        stored: list[Any] = [job.args for job in project.scheduled()]
        for mount in SENDERS:
            assert len(project.documents("messages", component=mount)) == 1
            stored += project.documents("messages", component=mount)
            stored += project.documents("_scheduled_functions", component=mount)
        stored += [project.documents(table) for table in project.tables()]
        assert "open sesame" not in json.dumps(stored, default=str)
        project.advance(seconds=700)
    assert project.schema().tables == {}


@pytest.mark.parametrize("seed", range(2))
def test_whatever_operators_do_the_newest_settings_count(project: Deployment, web_server: WebServer, seed: int) -> None:
    chance, service = random.Random(seed), Service(web_server)
    choices: dict[str, list[str | None]] = {
        "NOTIFY_URL": [service.at("/a"), service.at("/b"), None],
        "ALERTS_TOKEN": ["1", "2", None],
        "DIGESTS_TOKEN": ["3", "4", None],
        "DIGESTS_MODE": ["live", "silent", None],
    }
    now: dict[str, str] = {}
    expected: dict[str, list[tuple[str, str]]] = {mount: [] for mount in SENDERS}
    requests = []
    for number in range(14):
        mount, text = chance.choice(list(SENDERS)), str(number)
        send(project, mount, text)
        if mount == "alerts":
            settled(project, mount)
        else:
            name = chance.choice(list(choices))
            project.env.set(**{name: (value := chance.choice(choices[name]))})
            now = {**now, name: value} if value else {key: now[key] for key in now if key != name}
            settled(project, mount)
        token, url = now.get(TOKENS[mount]), now.get("NOTIFY_URL")
        mode = now.get("DIGESTS_MODE", "live") if mount == "digests" else "live"
        is_sent = token is not None and url is not None and mode == "live"
        expected[mount].append((text, "sent" if is_sent else "skipped"))
        if is_sent:
            requests.append((str(url)[-2:], f"Bearer {token}", SENDERS[mount], text))
        ready = token is not None and url is not None
        assert project.query("notices:settings", mount=mount) == settings(mount, mode, ready)
        for name in chance.sample(list(choices), 2):
            project.env.set(**{name: (value := chance.choice(choices[name]))})
            now = {**now, name: value} if value else {key: now[key] for key in now if key != name}
    assert service.received == requests
    assert {mount: listed(project, mount) for mount in SENDERS} == expected


def test_the_component_imports_nothing_from_outside(files: Sources) -> None:
    paths = files.paths(f"{FOLDER}/**/*.ts")
    assert f"{FOLDER}/convex.config.ts" in paths
    for path in paths:
        for each in files.module(path).imports:
            found = normpath(join(dirname(path), each.source))
            assert not each.source.startswith(".") or found.startswith(f"{FOLDER}/"), f"{path} imports {each.source}"


def test_clients_can_call_three_functions_only(project: Deployment) -> None:
    public = {name: spec.kind for name, spec in project.functions().items() if spec.is_public}
    assert public == {"notices:send": "mutation", "notices:list": "query", "notices:settings": "query"}
    for wrong in ({"mount": "app"}, {"mount": 1}, {}, {"mount": "alerts", "more": 1}):
        for name in ("list", "settings"):
            with project.fails("ArgumentValidationError"):
                project.query(f"notices:{name}", wrong)
    for wrong in ({"mount": "app", "text": "a"}, {"mount": "alerts", "text": 1}, {"text": "a"}, {"mount": "alerts"}):
        with project.fails("ArgumentValidationError"):
            project.mutation("notices:send", wrong)

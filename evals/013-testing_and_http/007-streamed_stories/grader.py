"""Stories that are sent while they are written, and stored at the same time by the component for streamed texts."""

import http.client
import json
import random
import threading
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, Final
from urllib.parse import urlsplit

import pytest

from convex_evals.pipeline.grading.kit import Deployment, Reply, WebRequest, WebServer, wait_until

COMPONENT: Final = "persistentTextStreaming"
PATIENCE_SECONDS: Final = 30
MORE = 1 << 16


@dataclass
class Source:
    """Delivers pieces. Those from number `ready` on have to wait; the one with the number `fails_at` is an error."""

    pieces: Sequence[str]
    ready: int = 1_000_000
    fails_at: int | None = None
    status: int = 503
    requests: list[int] = field(default_factory=list)
    url: str = ""
    _changed: threading.Condition = field(default_factory=threading.Condition)

    def release(self, ready: int = 1_000_000) -> None:
        with self._changed:
            self.ready = ready
            self._changed.notify_all()

    def __call__(self, request: WebRequest) -> Reply:
        after = int(request.query["after"])
        with self._changed:
            self.requests.append(after)
            self._changed.wait_for(lambda: after < self.ready, PATIENCE_SECONDS)
        if after == self.fails_at or after >= len(self.pieces):
            return Reply.json({"text": "this must not appear!", "isLast": False}, self.status)
        return Reply.json({"text": self.pieces[after], "isLast": after == len(self.pieces) - 1})


@dataclass
class Library:
    project: Deployment
    web_server: WebServer
    sources: list[Source] = field(default_factory=list)

    def start(self, *pieces: str, title: str = "A story", **options: Any) -> tuple[str, Source]:
        source = Source(pieces, **options)
        source.url = self.web_server.reply("GET", f"/source-{len(self.sources)}", source)
        self.sources.append(source)
        return self.project.mutation("stories:start", title=title, source=source.url), source

    def read(self, story: str) -> tuple[str, str]:
        found = self.project.query("stories:read", storyId=story)
        return found["status"], found["text"]

    def write(self, story: str) -> tuple[int, str]:
        response = self.project.http.post("/write", json={"storyId": story})
        return response.status, response.text

    def stored(self) -> tuple[int, str]:
        """The number of streams that the component has, and the text of all of them."""
        chunks = self.project.documents("chunks", component=COMPONENT)
        return len(self.project.documents("streams", component=COMPONENT)), "".join(each["text"] for each in chunks)


@pytest.fixture
def library(project: Deployment, web_server: WebServer) -> Iterator[Library]:
    library = Library(project, web_server)
    yield library
    for source in library.sources:
        source.release()


@contextmanager
def writing(project: Deployment, story: str) -> Iterator[http.client.HTTPResponse]:
    """A request whose response is read piece by piece. After the block the reader has left."""
    connection = http.client.HTTPConnection(urlsplit(project.site_url).netloc, timeout=PATIENCE_SECONDS)
    try:
        headers = {"Content-Type": "application/json", "Origin": "https://page.example"}
        connection.request("POST", "/write", json.dumps({"storyId": story}), headers)
        yield connection.getresponse()
    finally:
        connection.close()


def receive(response: http.client.HTTPResponse, text: str) -> None:
    """What arrives next is this text, without waiting for more."""
    expected, received = text.encode(), b""
    while len(received) < len(expected):
        try:
            part = response.read1(MORE)
        except TimeoutError:
            break
        if not part:
            break
        received += part
    assert received.decode() == text


def rest(response: http.client.HTTPResponse) -> str:
    received = b""
    while part := response.read1(MORE):
        received += part
    return received.decode()


def until_status(library: Library, story: str, status: str) -> str:
    """The text of the story once it has this status."""
    wait_until(lambda: library.read(story)[0] == status, f"the status {status}")
    return library.read(story)[1]


def test_each_piece_is_sent_as_soon_as_it_is_there(library: Library, project: Deployment) -> None:
    story, source = library.start("Once ", "upon a time. ", "There was – ", "ü 🦊", ready=0)
    assert library.read(story) == ("pending", "")
    with at_work(project, story, source) as response:
        assert response.status == 200
        assert (response.getheader("Content-Type") or "").replace(" ", "").lower() == "text/plain;charset=utf-8"
        assert response.getheader("Access-Control-Allow-Origin") == "*"
        for number, piece in enumerate(source.pieces):
            source.release(number + 1)
            receive(response, piece)
        assert rest(response) == ""
    assert until_status(library, story, "done") == "Once upon a time. There was – ü 🦊"
    assert source.requests == [0, 1, 2, 3]
    assert library.stored() == (1, "Once upon a time. There was – ü 🦊")


@contextmanager
def at_work(project: Deployment, story: str, source: Source) -> Iterator[http.client.HTTPResponse]:
    """The response may begin with its first piece, or before it."""
    if source.ready == 0:
        threading.Timer(0.5, lambda: source.release(max(source.ready, 1))).start()
    with writing(project, story) as response:
        yield response


def test_a_story_is_pending_then_streaming_then_done(library: Library, project: Deployment) -> None:
    story, source = library.start("No end ", "yet. ", "Now ", "it ends", ready=2)
    with writing(project, story) as response:
        receive(response, "No end yet. ")
        assert until_status(library, story, "streaming") == "No end yet. "
        assert project.query("stories:read", storyId=story) == {
            "title": "A story",
            "status": "streaming",
            "text": "No end yet. ",
        }
        refused = project.http.post("/write", json={"storyId": story})
        assert (refused.status, refused.json()) == (409, {"status": "streaming", "text": "No end yet. "})
        source.release()
        assert rest(response) == "Now it ends"
    assert until_status(library, story, "done") == "No end yet. Now it ends"
    refused = project.http.post("/write", json={"storyId": story})
    assert (refused.status, refused.json()) == (409, {"status": "done", "text": "No end yet. Now it ends"})
    assert source.requests == [0, 1, 2, 3]


def test_a_story_that_has_begun_is_not_begun_again_although_it_is_still_pending(
    library: Library, project: Deployment
) -> None:
    story, source = library.start("no ", "full ", "stop ", "at ", "all", ready=3)
    with writing(project, story) as response:
        receive(response, "no full stop ")
        status, text = library.read(story)
        assert status in ("pending", "streaming")
        assert "no full stop ".startswith(text)
        refused = project.http.post("/write", json={"storyId": story})
        assert refused.status == 409
        assert refused.json()["status"] in ("pending", "streaming")
        assert project.mutation("stories:remove", storyId=story) is False
        assert project.mutation("stories:again", storyId=story) is False
        source.release()
        assert rest(response) == "at all"
    assert until_status(library, story, "done") == "no full stop at all"
    assert source.requests == [0, 1, 2, 3, 4]


def test_of_several_requests_at_the_same_time_one_writes(library: Library, project: Deployment) -> None:
    story, source = library.start("One. ", "Two. ", "Three.", ready=0)
    with ThreadPoolExecutor(3) as threads:
        with project.lockstep(3):  # until one has begun: whoever goes on alone would wait for the others at each step
            writers = [threads.submit(library.write, story) for _ in range(3)]
            wait_until(lambda: source.requests, "a request to the source")
        source.release()
    responses = [writer.result() for writer in writers]
    assert sorted(status for status, _ in responses) == [200, 409, 409]
    assert [text for status, text in responses if status == 200] == ["One. Two. Three."]
    assert until_status(library, story, "done") == "One. Two. Three."
    assert source.requests == [0, 1, 2]
    assert library.stored() == (1, "One. Two. Three.")


def test_what_was_written_before_the_reader_left_remains(library: Library, project: Deployment) -> None:
    story, source = library.start("A. ", "B ", "C. ", "D", ready=1)
    with writing(project, story) as response:
        receive(response, "A. ")
        wait_until(lambda: library.read(story)[1], "the first sentence")
    source.release()
    wait_until(lambda: project.kill_actions() == 0, "the end of the action")
    project.advance(minutes=22)
    status, text = library.read(story)
    assert status in ("done", "timeout")
    assert text.startswith("A. ")
    assert "A. B C. D".startswith(text)
    assert source.requests == list(range(len(source.requests)))
    assert project.mutation("stories:again", storyId=story) is (status == "timeout")


@pytest.mark.parametrize("status", [503, 404, 204])
def test_what_was_written_before_the_source_failed_remains(library: Library, project: Deployment, status: int) -> None:
    story, source = library.start("A. ", "Really? ", "b ", "never.", fails_at=3, status=status)
    with writing(project, story) as response:
        assert response.status == 200
        assert rest(response) == "A. Really? b "
    text = until_status(library, story, "error")
    assert text in ("A. Really? ", "A. Really? b ")
    assert source.requests == [0, 1, 2, 3]
    refused = project.http.post("/write", json={"storyId": story})
    assert (refused.status, refused.json()) == (409, {"status": "error", "text": text})
    assert project.mutation("stories:again", storyId=story) is True
    project.advance(seconds=1)
    assert (library.read(story), library.stored()) == (("pending", ""), (1, ""))
    assert project.mutation("stories:again", storyId=story) is False
    source.fails_at = None
    assert library.write(story) == (200, "A. Really? b never.")
    assert until_status(library, story, "done") == "A. Really? b never."
    assert project.mutation("stories:again", storyId=story) is False
    assert library.read(story) == ("done", "A. Really? b never.")
    assert library.stored() == (1, "A. Really? b never.")


def test_a_source_that_fails_at_once_leaves_an_empty_story(library: Library, project: Deployment) -> None:
    story, source = library.start("never", fails_at=0)
    status, text = library.write(story)
    assert (status, text) == (200, "")
    assert until_status(library, story, "error") == ""
    assert source.requests == [0]
    assert project.mutation("stories:remove", storyId=story) is True
    project.advance(seconds=5)
    assert library.stored() == (0, "")


def test_a_story_whose_writer_dies_is_given_up_after_20_minutes(library: Library, project: Deployment) -> None:
    story, source = library.start("A! ", "b ", "c", ready=2)
    with writing(project, story) as response:
        receive(response, "A! b ")
        wait_until(lambda: library.read(story)[1], "the first sentence")
        project.kill_actions()
    source.release()
    status, text = library.read(story)
    assert (status, text.startswith("A! ")) == ("streaming", True)
    project.advance(minutes=18)
    assert library.read(story) == ("streaming", text)
    assert project.mutation("stories:again", storyId=story) is False
    assert project.mutation("stories:remove", storyId=story) is False
    project.advance(minutes=4)
    assert library.read(story) == ("timeout", text)
    assert project.query("stories:list") == [{"storyId": story, "title": "A story", "status": "timeout"}]
    refused = project.http.post("/write", json={"storyId": story})
    assert (refused.status, refused.json()) == (409, {"status": "timeout", "text": text})
    assert project.mutation("stories:again", storyId=story) is True
    project.advance(seconds=1)
    assert (library.read(story), library.stored()) == (("pending", ""), (1, ""))
    project.advance(minutes=15)
    assert library.write(story) == (200, "A! b c")
    assert until_status(library, story, "done") == "A! b c"
    project.advance(minutes=30)
    assert library.read(story) == ("done", "A! b c")


def test_a_story_that_nobody_begins_is_given_up_too(library: Library, project: Deployment) -> None:
    story, source = library.start("A.")
    other, _ = library.start("B.", title="Other")
    project.advance(minutes=22)
    assert library.read(story) == ("timeout", "")
    refused = project.http.post("/write", json={"storyId": story})
    assert (refused.status, refused.json()) == (409, {"status": "timeout", "text": ""})
    assert source.requests == []
    assert project.mutation("stories:again", storyId=story) is True
    assert library.write(story) == (200, "A.")
    assert until_status(library, story, "done") == "A."
    assert project.mutation("stories:remove", storyId=other) is True
    project.advance(seconds=5)
    assert library.stored() == (1, "A.")


def test_removing_a_story_removes_all_of_it(library: Library, project: Deployment) -> None:
    long, _ = library.start(*[f"Sentence {number}. " for number in range(80)], title="long")
    short, _ = library.start("Short.", title="short")
    fresh, _ = library.start("Fresh.", title="fresh")
    for story in (long, short):
        with writing(project, story) as response:  # a long story may take long, as long as it goes on
            assert response.status == 200
            rest(response)
        until_status(library, story, "done")
    assert project.mutation("stories:remove", storyId=long) is True
    project.advance(seconds=5)
    assert library.stored() == (2, "Short.")
    assert project.query("stories:read", storyId=long) is None
    assert project.mutation("stories:remove", storyId=long) is False
    assert project.mutation("stories:again", storyId=long) is False
    assert project.http.post("/write", json={"storyId": long}).status == 404
    assert project.mutation("stories:remove", storyId=fresh) is True
    project.advance(seconds=5)
    assert [story["title"] for story in project.query("stories:list")] == ["short"]
    assert library.stored() == (1, "Short.")
    assert len(project.documents("stories")) == 1


def test_the_list_does_not_read_texts(library: Library, project: Deployment) -> None:
    assert project.query("stories:list") == []
    stories = []
    for title in ("first", "second", "third"):
        story, _ = library.start(*[f"{title} {number}. " for number in range(20)], title=title)
        stories.append(story)
    for story in stories[:2]:
        library.write(story)
        until_status(library, story, "done")
    with project.trace() as work:
        listed = project.query("stories:list")
    assert listed == [
        {"storyId": stories[2], "title": "third", "status": "pending"},
        {"storyId": stories[1], "title": "second", "status": "done"},
        {"storyId": stories[0], "title": "first", "status": "done"},
    ]
    assert work.documents_read <= 12, "it reads more than the stories and their statuses"


def test_texts_are_not_in_the_table_of_the_app(library: Library, project: Deployment) -> None:
    story, _ = library.start("A secret ", "sentence. ", "End.")
    library.write(story)
    until_status(library, story, "done")
    assert "sentence" not in json.dumps(project.documents("stories"))
    assert [story["title"] for story in project.documents("stories")] == ["A story"]
    assert library.stored() == (1, "A secret sentence. End.")


def test_bad_requests_are_refused(library: Library, project: Deployment) -> None:
    story, _ = library.start("A.")
    for body in ("", "{", "null", "[]", '"text"', "{}", '{"storyId": 5}', '{"storyId": null}', json.dumps([story])):
        response = project.http.post("/write", body=body.encode(), headers={"Content-Type": "application/json"})
        assert (response.status, response.text) == (400, ""), body
        assert response.header("Access-Control-Allow-Origin") == "*", body
    for unknown in ("", "nonsense", story[:-1], story + "0"):
        response = project.http.post("/write", json={"storyId": unknown})
        assert (response.status, response.text) == (404, ""), unknown
        assert response.header("Access-Control-Allow-Origin") == "*", unknown
    assert library.read(story) == ("pending", "")
    assert library.write(story) == (200, "A.")
    response = project.http.post("/write", json={"storyId": story})
    assert (response.status, response.header("Access-Control-Allow-Origin")) == (409, "*")
    assert (response.header("Content-Type") or "").startswith("application/json")


def test_pages_of_any_origin_may_write(project: Deployment) -> None:
    headers = {
        "Origin": "https://page.example",
        "Access-Control-Request-Method": "POST",
        "Access-Control-Request-Headers": "content-type",
    }
    response = project.http.options("/write", headers=headers)
    assert (response.status, response.header("Access-Control-Allow-Origin")) == (204, "*")
    assert "POST" in allowed(response.header("Access-Control-Allow-Methods"))
    assert "CONTENT-TYPE" in allowed(response.header("Access-Control-Allow-Headers"))


def allowed(header: str | None) -> list[str]:
    return [each.strip().upper() for each in (header or "").split(",")]


@pytest.mark.parametrize("seed", range(3))
def test_whatever_the_pieces_are_nothing_is_lost(library: Library, project: Deployment, seed: int) -> None:
    chance = random.Random(seed)
    words = ["and ", "so. ", "Why? ", "Oh! ", "", "\n", "ß", "…", "3.5", "\U0001f98a\U0001f98a", '"{}"']
    for _ in range(4):
        pieces = [chance.choice(words) for _ in range(chance.randrange(1, 9))]
        fails_at = chance.randrange(len(pieces)) if chance.random() < 0.4 else None
        story, source = library.start(*pieces, fails_at=fails_at)
        sent = pieces if fails_at is None else pieces[:fails_at]
        assert library.write(story) == (200, "".join(sent)), pieces
        text = until_status(library, story, "done" if fails_at is None else "error")
        kept = [number + 1 for number, piece in enumerate(sent) if any(mark in piece for mark in ".!?")]
        least = "".join(sent if fails_at is None else sent[: max(kept, default=0)])
        assert text.startswith(least), pieces
        assert "".join(sent).startswith(text), pieces
        assert source.requests == list(range(len(pieces) if fails_at is None else fails_at + 1)), pieces


def test_arguments_are_validated_and_nothing_else_is_public(library: Library, project: Deployment) -> None:
    story, source = library.start("A.")
    calls: dict[str, dict[str, object]] = {
        "start": {"title": "t", "source": source.url},
        "read": {"storyId": story},
        "list": {},
        "again": {"storyId": story},
        "remove": {"storyId": story},
    }
    for name, args in calls.items():
        call = project.query if name in ("read", "list") else project.mutation
        for key in args:
            with project.fails("ArgumentValidationError"):
                call(f"stories:{name}", {**args, key: 5})
            with project.fails("ArgumentValidationError"):
                call(f"stories:{name}", {other: args[other] for other in args if other != key})
        with project.fails("ArgumentValidationError"):
            call(f"stories:{name}", {**args, "extra": 1})
    public = {name for name, function in project.functions().items() if function.is_public}
    assert public == {f"stories:{name}" for name in calls}
    assert {(route.method, route.path) for route in project.routes()} == {("POST", "/write"), ("OPTIONS", "/write")}

"""Scores at a service: the same answers as from its database, whatever happens on the way."""

import threading
from collections.abc import Callable, Iterator
from dataclasses import replace
from datetime import UTC, datetime
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest
from tests.web.served_site import serving

from convex_evals.core.errors import InfrastructureError, UsageError
from convex_evals.core.settings import Secret
from convex_evals.scores import Benchmark, LabelRecord, RemoteScores, RunFilter, ScoresStore, remote
from convex_evals.web import Site

SECOND = "000-basics/001-second"


@pytest.fixture
def service(site: Site) -> Iterator[RemoteScores]:
    with serving(site) as url, RemoteScores(url) as scores:
        yield scores


def test_every_question_has_the_answer_of_the_database(record: Any, store: ScoresStore, service: RemoteScores) -> None:
    run_id = record.run()
    record.run("other")
    failed = next(each for each in store.results(run_id) if each.status == "failed")
    store.mint_benchmark(Benchmark("v1", store.planned(run_id), {"default": "p"}, "pi", "to", datetime.now(UTC)))
    store.labels.add(LabelRecord(run_id, SECOND, 1, "KNOWN_GAP", "said so", "ann", datetime.now(UTC)))
    questions: list[Callable[[ScoresStore], object]] = [
        lambda scores: scores.runs(),
        lambda scores: scores.runs(RunFilter(model="other")),
        lambda scores: scores.runs(RunFilter(limit=1)),
        lambda scores: scores.runs(RunFilter(hidden=True)),
        lambda scores: scores.runs(RunFilter(since=datetime(2020, 1, 1, tzinfo=UTC))),
        lambda scores: scores.history.answers([run_id]),
        lambda scores: {run: set(found) for run, found in scores.history.results([run_id]).items()},
        lambda scores: scores.find_run(run_id[:6]),
        lambda scores: scores.is_run_held(run_id),
        lambda scores: scores.planned(run_id),
        lambda scores: scores.pending(run_id),
        lambda scores: scores.results(run_id),
        lambda scores: scores.attempts(run_id, SECOND),
        lambda scores: scores.details(run_id),
        lambda scores: scores.generations(run_id),
        lambda scores: scores.export_run(run_id),
        lambda scores: scores.benchmarks(),
        lambda scores: scores.find_attempt(failed.id),
        lambda scores: scores.failures_alike(failed.id),
        lambda scores: scores.labels.of_run(run_id),
        lambda scores: scores.labels.of_model("tiny", "acme"),
        lambda scores: scores.labels.of_every_run(),
        lambda scores: [scores.read_text(each.prompt) for each in scores.generations(run_id)],
        lambda scores: [scores.read_files(each.files) for each in scores.generations(run_id)],
    ]
    for question in questions:
        assert question(service) == question(store)


def test_many_runs_are_read_page_by_page(
    record: Any, store: ScoresStore, service: RemoteScores, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(remote, "PAGE", 2)
    for _ in range(5):
        record.begin()
    assert service.runs() == store.runs() and len(service.runs()) == 5
    assert service.runs(RunFilter(limit=3)) == store.runs(RunFilter(limit=3))


def test_what_is_wrong_is_said_in_the_words_of_the_service(service: RemoteScores) -> None:
    with pytest.raises(UsageError, match="There is no run 'abcdef' in these scores"):
        service.find_run("abcdef")


def test_nothing_is_recorded_at_a_service(record: Any, service: RemoteScores) -> None:
    with pytest.raises(UsageError, match="can only be read"):
        service.finish_run(record.begin(), "stopped")
    with pytest.raises(UsageError, match="can only be read"):
        service.tokens.list()


def test_a_label_is_made_by_the_owner_of_the_token(site: Site, store: ScoresStore, record: Any) -> None:
    run_id = record.run()
    label = LabelRecord(run_id, SECOND, 1, "KNOWN_GAP", "said so", "someone", datetime.now(UTC))
    token = store.tokens.create("ann", ("label",), "local").token
    with serving(site) as url:
        with RemoteScores(url, Secret(token)) as scores:
            assert scores.labels.add(label) == 1
        with RemoteScores(url) as scores, pytest.raises(UsageError, match="refuses"):
            scores.labels.add(label)
    [made] = store.labels.of_run(run_id)
    assert (made.eval, made.failure_class, made.note, made.who) == (SECOND, "KNOWN_GAP", "said so", "ann")


def test_a_token_is_sent_and_its_absence_is_explained(site: Site, store: ScoresStore) -> None:
    token = store.tokens.create("ann", ("read",), "local").token
    with serving(replace(site, read="token")) as url:
        with RemoteScores(url, Secret(token)) as scores:
            assert scores.runs() == ()
        with (
            RemoteScores(url) as scores,
            pytest.raises(UsageError, match="CONVEX_AUTH_TOKEN to a token with this right"),
        ):
            scores.runs()


def test_nobody_at_the_address_is_infrastructure(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("time.sleep", lambda _: None)
    with RemoteScores("http://127.0.0.1:9") as scores, pytest.raises(InfrastructureError, match="cannot be reached"):
        scores.runs()


@pytest.fixture
def odd_server() -> Iterator[tuple[str, list[tuple[int, bytes]]]]:
    """Answers what it is told, one after the other, the last again and again."""
    answers: list[tuple[int, bytes]] = []

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            status, body = answers.pop(0) if len(answers) > 1 else answers[0]
            self.send_response(status)
            self.send_header("retry-after", "0")
            self.send_header("content-length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: object) -> None: ...

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        yield f"http://127.0.0.1:{server.server_port}", answers
        server.shutdown()
        thread.join()


def test_a_service_that_is_busy_is_asked_again(odd_server: tuple[str, list[tuple[int, bytes]]]) -> None:
    url, answers = odd_server
    answers += [(503, b"{}"), (429, b"no json"), (200, b'{"items": []}')]
    with RemoteScores(url) as scores:
        assert scores.runs() == ()


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        ((503, b"{}"), "cannot answer now: status 503"),
        ((200, b"<html>"), "sent what this version cannot read"),
        ((200, b'{"items": [{"id": 5}]}'), "sent what this version cannot read"),
        ((500, b'{"error": {"code": "Failure", "message": "A mistake"}}'), "cannot answer now: A mistake"),
    ],
)
def test_a_service_that_misbehaves_is_infrastructure(
    odd_server: tuple[str, list[tuple[int, bytes]]], answer: tuple[int, bytes], said: str
) -> None:
    url, answers = odd_server
    answers.append(answer)
    with RemoteScores(url) as scores, pytest.raises(InfrastructureError, match=said):
        scores.runs()


def test_an_artifact_that_is_not_what_its_name_says_is_refused(odd_server: tuple[str, list[tuple[int, bytes]]]) -> None:
    url, answers = odd_server
    answers.append((200, b"something else"))
    with RemoteScores(url) as scores, pytest.raises(InfrastructureError, match="another content"):
        scores.read_bytes("0" * 64)


@pytest.mark.parametrize(
    "url", ["http://", "https://ann:secret@scores.example", "https://scores.example/?token=secret"]
)
def test_an_address_is_only_an_address(url: str) -> None:
    with pytest.raises(UsageError, match=r"is like https://scores\.example\.com") as refused:
        RemoteScores(url)
    assert "secret" not in str(refused.value)

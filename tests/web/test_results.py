"""What is kept between pages is never older than the scores: two servers on one database, both engines.

Each page is asked for before and after something is recorded by a third party, so an answer that was kept would show.
"""

import asyncio
import subprocess
import sys
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from datetime import UTC, datetime
from pathlib import Path
from threading import Event
from typing import Any

import httpx2
import pytest
from starlette.testclient import TestClient

from convex_evals.scores import Benchmark, Fingerprints, LabelRecord, ScoresStore, counted_statements
from convex_evals.web import Site, create_app
from convex_evals.web import results as module
from convex_evals.web.results import Results, ResultsCache
from convex_evals.web.server import keep_prepared

EVALS = ("000-basics/000-first", "000-basics/001-second", "001-queries/000-index")
PRINTS = Fingerprints(pipeline="pipeline", toolchain="toolchain", prompt="prompt")
Ask = Callable[[str], Any]


@contextmanager
def server_process(where: str, folder: Path) -> Iterator[Ask]:
    """The real command."""
    command = [sys.executable, "-m", "convex_evals", "serve", "--port", "0", "--scores", where]
    with subprocess.Popen(command, cwd=folder, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        try:
            url = process.stdout.readline().rpartition(" ")[2].strip()
            with httpx2.Client(base_url=url, timeout=120) as client:
                yield lambda address: answer(client.get(address))
        finally:
            process.terminate()


@contextmanager
def application(where: str) -> Iterator[Ask]:
    with ScoresStore.open(where) as store, TestClient(create_app(Site(store)), base_url="http://localhost") as client:
        yield lambda address: answer(client.get(address))


def answer(found: Any) -> Any:
    assert found.status_code == 200, found.text
    return found.json() if found.headers["content-type"] == "application/json" else found.text


@pytest.fixture(params=["files", "postgresql"])
def place(request: pytest.FixtureRequest) -> str:
    ready: str = request.getfixturevalue(request.param).ready()
    return ready


@pytest.fixture
def shared(place: str) -> Iterator[ScoresStore]:
    with ScoresStore.open(place) as opened:
        yield opened


@pytest.fixture
def scene(shared: ScoresStore, recorder: Any, tmp_path: Path) -> Any:
    return recorder(shared, tmp_path)


@pytest.fixture
def pair(place: str, tmp_path: Path) -> Iterator[list[Ask]]:
    """Two on a server, as a team may have them; a file is read by two applications in this process."""
    with ExitStack() as opened:
        made = (server_process(place, tmp_path) if "://" in place else application(place) for _ in range(2))
        yield [opened.enter_context(each) for each in made]


@pytest.fixture
def servers(place: str) -> Iterator[list[Ask]]:
    with application(place) as first, application(place) as second:
        yield [first, second]


def mint(store: ScoresStore, run_id: str, name: str) -> None:
    store.mint_benchmark(
        Benchmark(name, store.planned(run_id), {"default": "prompt"}, "pipeline", "toolchain", datetime.now(UTC))
    )


PAGES: dict[str, Callable[[Any], Any]] = {
    "/runs.json": lambda found: [each["id"] for each in found["runs"]],
    "/leaderboard.json": lambda found: [(each["runs"], each["score"]) for each in found["models"]],
    "/leaderboard": lambda found: found.count("<circle"),
    "/api/v1/leaderboard": lambda found: [each["runs"] for each in found["standings"]],
    "/model/acme/tiny.json": lambda found: [each["run"] for each in found["runs"]],
    "/model/acme/tiny": lambda found: found.count("<circle"),
    "/eval/000-basics/001-second.json": lambda found: [each["run"] for each in found["runs"]],
    "/eval/000-basics/001-second": lambda found: (found.count("<rect"), found.count("expected 2, got 3")),
    "/matrix.json": lambda found: [each["acme/tiny"] for each in found["evals"]],
    "/matrix": lambda found: found.count("100%"),
    "/": lambda found: found.count('title="'),
    "/schedule": lambda found: len(found) > 0,
    "/graders": lambda found: len(found) > 0,
}
UNMOVED = ("/schedule", "/graders")
"""They are read, and say nothing about this model."""


def seen(servers: list[Ask]) -> dict[str, list[Any]]:
    return {page: [read(ask(page)) for ask in servers] for page, read in PAGES.items()}


def test_every_page_shows_a_run_that_someone_else_recorded(pair: list[Ask], scene: Any, shared: ScoresStore) -> None:
    mint(shared, scene.run("acme/tiny", fingerprints=PRINTS), "v1")
    scene.run("acme/tiny", fingerprints=PRINTS, failing=())
    before = seen(pair)
    new = scene.run("acme/tiny", fingerprints=PRINTS, failing=EVALS[:2])
    after = seen(pair)
    assert all(first == second for first, second in after.values()), "the two servers differ"
    assert [page for page in PAGES if page not in UNMOVED and after[page] == before[page]] == []
    assert all(new in found for found in after["/runs.json"])


def test_every_result_of_a_run_under_way_is_shown_at_once(servers: list[Ask], scene: Any) -> None:
    run, pages = scene.begin("acme/tiny", fingerprints=PRINTS), ("/runs.json", "/model/acme/tiny.json")
    for number, name in enumerate(EVALS, 1):
        scene.attempt(run, name)
        for ask in servers:
            assert [ask(page)["runs"][0]["passed"] for page in pages] == [number, number]
            assert ask(f"/eval/{name}.json")["runs"][0]["passed"] == 1


def test_versions_labels_and_decisions_are_shown_at_once(servers: list[Ask], scene: Any, shared: ScoresStore) -> None:
    run, other = scene.run("acme/tiny", fingerprints=PRINTS), scene.run("acme/other", fingerprints=PRINTS)
    compared = f"/compare.json?runs={run},{other}"
    for ask in servers:
        assert ask("/leaderboard.json")["benchmark"]["minted"] is False
        assert ask("/runs.json")["runs"][0]["benchmark"] is None
        assert {each["labels"] for each in ask("/graders.json")["graders"]} <= {0}
        assert ask(compared)["pairs"][0]["evals"] == len(EVALS)
    mint(shared, run, "v1")
    shared.labels.add(LabelRecord(run, EVALS[1], 1, "KNOWN_GAP", "", "ann", datetime.now(UTC)))
    shared.decisions.label(other, "check", "ann", "no score")
    for ask in servers:
        assert ask("/leaderboard.json")["benchmark"]["name"] == "v1"
        assert [each["model"] for each in ask("/leaderboard.json")["models"]] == ["acme/tiny"]
        assert [each["benchmark"] for each in ask("/runs.json")["runs"]] == [None, "v1"]
    shared.decisions.hide(other, "ann", "not wanted")
    for ask in servers:
        assert [each["id"] for each in ask("/runs.json")["runs"]] == [run]


def test_pages_ask_one_question_as_long_as_nothing_changes(store: ScoresStore, record: Any) -> None:
    record.run()
    cache = ResultsCache(store)
    first = Results(cache)
    assert first.leaderboard(first.benchmarks()[0], "default").standings
    with counted_statements() as statements:
        again = Results(cache)
        assert again.runs() == first.runs()
        again.leaderboard(again.benchmarks()[0], "default")
    assert len([each for each in statements if "SELECT" in each]) == 1


async def test_what_takes_long_is_prepared_before_anybody_asks(
    store: ScoresStore, record: Any, until: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    ranked, rank = list[str](), module.rank_models
    monkeypatch.setattr(module, "rank_models", lambda *given: ranked.append(given[2]) or rank(*given))
    record.run()
    cache = ResultsCache(store)
    prepared = asyncio.create_task(keep_prepared(cache, None, 0.01))
    try:
        await until(lambda: ranked == ["default", "no_guidelines"])
        record.run("other")
        await until(lambda: len(ranked) == 4)
    finally:
        prepared.cancel()
    results = Results(cache)
    assert len(results.leaderboard(results.benchmarks()[0], "default").standings) == 2
    assert len(ranked) == 4


def test_results_of_finished_runs_outlive_changes_of_runs_under_way(store: ScoresStore, record: Any) -> None:
    record.run()
    cache, computed = ResultsCache(store), list[str]()

    def ask() -> None:
        Results(cache).once_settled("slow", lambda: computed.append("settled"))
        Results(cache).once("quick", lambda: computed.append("any"))

    ask()
    running = record.begin()
    record.attempt(running, EVALS[0])
    ask()
    assert computed == ["settled", "any", "any"]
    store.finish_run(running, "stopped")
    ask()
    assert computed == ["settled", "any", "any", "settled", "any"]


def test_only_runs_that_changed_are_read_again(
    store: ScoresStore, record: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = record.run()
    cache, asked, read = ResultsCache(store), list[list[str]](), module.read_figures
    monkeypatch.setattr(module, "read_figures", lambda store, ids: asked.append(list(ids)) or read(store, ids))
    Results(cache).runs()
    second = record.run()
    Results(cache).runs()
    assert asked == [[first], [second]]


def test_concurrent_requests_wait_only_for_the_value_being_computed(store: ScoresStore) -> None:
    cache, computed, begun, ended = ResultsCache(store), list[str](), Event(), Event()

    def slow() -> str:
        computed.append("slow")
        begun.set()
        assert ended.wait(60)
        return "done"

    with ThreadPoolExecutor() as pool:
        first = pool.submit(cache.once, "slow", 1, slow)
        assert begun.wait(60)
        second = pool.submit(cache.once, "slow", 1, slow)
        assert cache.once("quick", 1, lambda: "at once") == "at once"
        ended.set()
        assert [first.result(60), second.result(60)] == ["done", "done"]
    assert computed == ["slow"]


def test_only_so_much_is_kept(store: ScoresStore, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MOST_KEPT", 2)
    results, computed = Results(ResultsCache(store)), list[int]()
    for number in (1, 2, 1, 3, 1, 2):  # the one that nobody asked for longest makes room
        results.once(number, lambda number=number: computed.append(number))
    assert computed == [1, 2, 3, 2]

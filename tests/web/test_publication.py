"""`publish`: every link works from the files, and a second time only what changed is written."""

import asyncio
import json
import re
import shutil
from dataclasses import dataclass
from datetime import UTC, datetime
from html import unescape
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

import pytest

from convex_evals.core.errors import UsageError
from convex_evals.scores import Fingerprints, LabelRecord, ScoresStore, counted_statements
from convex_evals.web import Site, manifest, publication, publish
from convex_evals.web.pages.frame import FOLDER, environment
from convex_evals.web.publication import LinkBook, file_name

PRINTS = Fingerprints(pipeline="pipeline", toolchain="toolchain", prompt="prompt")
Times = dict[Path, int]


@dataclass(frozen=True)
class Published:
    """Scores of three runs and a publication of them, for which the database was asked so many `questions`."""

    folder: Path
    runs: list[str]
    done: publication.Published
    questions: int


@pytest.fixture(scope="module")
def once(scores_template: Any, recorder: Any, tmp_path_factory: pytest.TempPathFactory) -> Published:
    """Publishing takes longer than most tests: it happens once, and every test has a copy."""
    folder = tmp_path_factory.mktemp("published")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("convex_evals.scores.store.upgrade_schema", scores_template.upgrade_schema)
        with ScoresStore.open(folder / "scores.db") as store, counted_statements() as statements:
            record = recorder(store, folder)
            models = ("acme/tiny", "acme/tiny", "acme/<b>:large")
            runs = [record.run(model, fingerprints=PRINTS) for model in models]
            recorded = len(statements)
            done = asyncio.run(publish(Site(store, reports=folder / "reports"), folder / "public"))
    return Published(folder, runs, done, len(statements) - recorded)


@pytest.fixture
def runs(once: Published, tmp_path: Path) -> list[str]:
    """Those of `store`, which are published in `public`."""
    shutil.copytree(once.folder, tmp_path, dirs_exist_ok=True)
    return once.runs


@pytest.fixture
def site(runs: list[str], site: Site) -> Site:
    return site


def times(folder: Path) -> Times:
    return {path: path.stat().st_mtime_ns for path in folder.rglob("*") if path.is_file()}


def name(path: Path, folder: Path) -> str:
    return path.relative_to(folder).as_posix()


def contents_by_path(folder: Path) -> dict[Path, bytes]:
    return {path: path.read_bytes() for path in times(folder)}


def contents(folder: Path) -> dict[str, bytes]:
    return {name(path, folder): content for path, content in contents_by_path(folder).items()}


def broken_links(folder: Path) -> list[str]:
    """A crawler: from the first page, every page, style, script and download that a link leads to."""
    waiting, seen, broken = [folder / "index.html"], set[Path](), list[str]()
    while waiting:
        page = waiting.pop()
        if page in seen or page.suffix != ".html":
            continue
        seen.add(page)
        text = page.read_text()
        for address in map(unescape, re.findall(r'(?:href|src|action)="([^"]*)"', text)):
            parts = urlsplit(address)
            target = (page.parent / unquote(parts.path)).resolve() if parts.path else page
            if parts.scheme or address.startswith("/") or not target.is_file():
                broken.append(f"{page.relative_to(folder)}: {address}")
            else:
                waiting.append(target)
    return broken


def test_every_link_of_a_publication_leads_to_a_file(once: Published) -> None:
    folder = once.folder / "public"
    assert once.done.written == once.done.total > 30
    assert broken_links(folder) == []
    assert (folder / "leaderboard.csv").is_file() and (folder / "matrix.json").is_file()


async def test_a_second_time_only_what_changed_is_written(
    site: Site, runs: list[str], record: Any, tmp_path: Path
) -> None:
    folder = tmp_path / "public"
    before = times(folder)
    again = await publish(site, folder)
    assert (again.written, again.removed) == (0, 0)
    assert times(folder) == before
    record.run("acme/tiny", fingerprints=PRINTS)
    later = await publish(site, folder)
    assert 0 < later.written < later.total
    assert later.removed > 0  # the run that was the newest of its model
    assert broken_links(folder) == []


async def test_after_a_change_exactly_the_pages_that_show_it_are_written(
    site: Site, runs: list[str], store: ScoresStore, tmp_path: Path
) -> None:
    folder, failed = tmp_path / "public", "000-basics/001-second"
    before, was = times(folder), contents(folder)
    store.labels.add(LabelRecord(runs[2], failed, 1, "KNOWN_GAP", "as we know", "ann", datetime.now(UTC)))
    done = await publish(site, folder)
    await publish(site, tmp_path / "anew")
    assert contents(folder) == contents(tmp_path / "anew")
    written = {path for path, at in times(folder).items() if at != before.get(path)}
    assert written == {
        path for path, content in contents_by_path(folder).items() if was.get(name(path, folder)) != content
    }
    pages = {name(path, folder) for path in written} - {manifest.MANIFEST}
    assert f"experiment/default/run/{runs[2]}/{failed}.html" in pages
    assert not any(runs[1] in page for page in pages)
    assert done.written == len(written) < 10


async def test_when_nothing_changed_no_page_is_made_again(site: Site, once: Published, tmp_path: Path) -> None:
    with counted_statements() as second:
        await publish(site, tmp_path / "public")
    assert len(second) < 20 < once.questions / 5


async def test_what_was_lost_or_damaged_in_the_folder_is_made_again(
    site: Site, runs: list[str], tmp_path: Path
) -> None:
    folder = tmp_path / "public"
    was = contents(folder)
    (folder / "matrix.html").unlink()
    (folder / "leaderboard.csv").write_text("mine")
    assert (await publish(site, folder)).written == 2
    assert contents(folder) == was


async def test_another_template_or_program_makes_every_page_again(
    site: Site, runs: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    program = tmp_path / "program"
    shutil.copytree(FOLDER / "templates", program)
    monkeypatch.setattr(manifest, "PACKAGE", program)
    monkeypatch.setattr(environment().loader, "searchpath", [program])
    monkeypatch.setattr(environment(), "cache", {})
    folder = tmp_path / "anew"
    await publish(site, folder)
    base = program / "base.html"
    base.write_text(base.read_text().replace("Times are UTC.", "All times are UTC."))
    done = await publish(site, folder)
    pages = list(folder.rglob("*.html"))
    assert all("All times are UTC." in page.read_text() for page in pages)
    assert done.written == len(pages) + 1  # and the manifest


async def test_a_page_of_a_publication_has_the_tables_that_a_server_sends(
    runs: list[str], tmp_path: Path, client: Any
) -> None:
    for address in ("/matrix.csv", "/graders.json", f"/experiment/default/run/{runs[1]}/000-basics/001-second.json"):
        answer = await client.get(address)
        assert (tmp_path / "public" / address.removeprefix("/")).read_bytes() == answer.content


async def test_a_publication_of_an_earlier_version_is_taken_over(site: Site, runs: list[str], tmp_path: Path) -> None:
    folder = tmp_path / "public"
    names = [name(path, folder) for path in times(folder)]
    (folder / manifest.MANIFEST).write_text(json.dumps({"files": [*names, "gone.html"]}))
    (folder / "gone.html").write_text("old")
    done = await publish(site, folder)
    assert (done.written, done.removed) == (1, 2)  # the manifest, which an earlier one did not list


async def test_older_runs_are_published_when_asked_for(site: Site, runs: list[str], tmp_path: Path) -> None:
    few, more = tmp_path / "public", tmp_path / "more"
    await publish(site, more, newest=3)
    older = f"experiment/default/run/{runs[0]}.html"
    assert not (few / older).exists()
    assert (more / older).is_file()
    assert "not-published.html" in (few / "model/acme/tiny.html").read_text()


async def test_a_folder_with_other_files_is_left_alone(site: Site, tmp_path: Path) -> None:
    (tmp_path / "letter.txt").write_text("mine")
    with pytest.raises(UsageError, match="has files that are no publication"):
        await publish(site, tmp_path)
    assert (tmp_path / "letter.txt").read_text() == "mine"


async def test_a_publication_that_was_interrupted_goes_on_where_it_was(
    site: Site, once: Published, tmp_path: Path
) -> None:
    folder, made = tmp_path / "again", 0

    def interrupt(done: int, known: int) -> None:
        nonlocal made
        made = done
        if done == 20:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        await publish(site, folder, progress=interrupt)
    done = await publish(site, folder)
    assert made == 20 and done.unchanged == 20
    assert contents(folder) == contents(tmp_path / "public")


async def test_a_publication_that_was_killed_is_known_as_one(site: Site, tmp_path: Path) -> None:
    folder, killed = tmp_path / "again", tmp_path / "killed"
    await publish(site, folder, progress=lambda done, known: shutil.copytree(folder, killed) if done == 5 else None)
    await publish(site, killed)
    assert contents(killed) == contents(folder)


async def test_nothing_recorded_makes_a_publication_too(store: ScoresStore, tmp_path: Path) -> None:
    await publish(Site(store, reports=tmp_path / "reports"), tmp_path / "public")
    assert broken_links(tmp_path / "public") == []


@pytest.mark.parametrize(
    ("address", "name"),
    [
        ("/leaderboard", "index.html"),
        ("/leaderboard?benchmark=v1", "leaderboard@benchmark=v1.html"),
        ("/leaderboard.csv", "leaderboard.csv"),
        ("/static/0a1b/site.css", "static/0a1b/site.css"),
        ("/reports/openai/gpt-x/0a1b_2026-11-17.md", "reports/openai/gpt-x/0a1b_2026-11-17.md.html"),
        ("/artifact/0a1b/file/evil.html", "artifact/0a1b/file/evil.html.txt"),
    ],
)
def test_an_address_has_a_file_of_its_own(address: str, name: str) -> None:
    assert file_name(address) == name


@pytest.mark.parametrize(
    "address", ["/model/p/..", "/model/p/../../../etc/passwd", "/model/p/a%2f..%2f..", "/model/p/a:b"]
)
def test_no_name_leads_out_of_the_folder(address: str) -> None:
    assert not any(part in ("..", ".") for part in file_name(address).split("/"))
    assert ":" not in file_name(address)


def test_links_are_relative_to_the_page_they_stand_on() -> None:
    book = LinkBook(frozenset({"r1"}))
    assert book.link("/model/acme/tiny", "/leaderboard") == "../../index.html"
    assert book.link("/leaderboard", "/experiment/default/run/r1") == "experiment/default/run/r1.html"
    assert book.link("/leaderboard", "/experiment/default/run/r2") == "not-published.html"
    assert book.link("/matrix", "/compare?runs=a,b#diff") == "compare@runs=a,b.html#diff"
    assert book.link("/matrix", "/search?q=x") == "index.html"
    assert book.waiting == [
        "/leaderboard",
        "/experiment/default/run/r1",
        "/not-published",
        "/compare?runs=a%2Cb",
    ]

"""`publish`: every link works from the files, and a second time only what changed is written."""

import re
from html import unescape
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

import pytest

from convex_evals.core.errors import UsageError
from convex_evals.scores import Fingerprints, ScoresStore
from convex_evals.web import Site, publish
from convex_evals.web.publication import LinkBook, file_name

PRINTS = Fingerprints(pipeline="pipeline", toolchain="toolchain", prompt="prompt")
Times = dict[Path, int]


@pytest.fixture
def runs(record: Any) -> list[str]:
    return [record.run(model, fingerprints=PRINTS) for model in ("acme/tiny", "acme/tiny", "acme/<b>:large")]


def times(folder: Path) -> Times:
    return {path: path.stat().st_mtime_ns for path in folder.rglob("*") if path.is_file()}


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


async def test_every_link_of_a_publication_leads_to_a_file(site: Site, runs: list[str], tmp_path: Path) -> None:
    folder = tmp_path / "public"
    done = await publish(site, folder)
    assert done.written == done.total > 30
    assert broken_links(folder) == []
    assert (folder / "leaderboard.csv").is_file() and (folder / "matrix.json").is_file()


async def test_a_second_time_only_what_changed_is_written(
    site: Site, runs: list[str], record: Any, tmp_path: Path
) -> None:
    folder = tmp_path / "public"
    await publish(site, folder)
    before = times(folder)
    again = await publish(site, folder)
    assert (again.written, again.removed) == (0, 0)
    assert times(folder) == before
    record.run("acme/tiny", fingerprints=PRINTS)
    later = await publish(site, folder)
    assert 0 < later.written < later.total
    assert later.removed > 0  # the run that was the newest of its model
    assert broken_links(folder) == []


async def test_older_runs_are_published_when_asked_for(site: Site, runs: list[str], tmp_path: Path) -> None:
    await publish(site, tmp_path / "few")
    await publish(site, tmp_path / "more", newest=3)
    older = f"experiment/default/run/{runs[0]}.html"
    assert not (tmp_path / "few" / older).exists()
    assert (tmp_path / "more" / older).is_file()
    assert "not-published.html" in (tmp_path / "few" / "model/acme/tiny.html").read_text()


async def test_a_folder_with_other_files_is_left_alone(site: Site, tmp_path: Path) -> None:
    (tmp_path / "letter.txt").write_text("mine")
    with pytest.raises(UsageError, match="has files that are no publication"):
        await publish(site, tmp_path)
    assert (tmp_path / "letter.txt").read_text() == "mine"


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

"""A timeline that is merged from posts, reposts and notices, compared with all rows sorted in Python."""

# ruff: noqa: E501 (snippets of TypeScript)

import random
from typing import Any

import pytest

from convex_evals.pipeline.grading.kit import Deployment, TypeChecks

PUBLIC = {
    "posts:write": "mutation",
    "posts:remove": "mutation",
    "posts:publishNotice": "mutation",
    "timeline:page": "query",
    "timeline:authors": "query",
    "timeline:topics": "query",
}
TABLES = ["members", "follows", "blocks", "posts", "reposts", "notices"]
MOST = 60
TOPICS = ["", "bikes", "Boats", "undefined"]

Row = dict[str, Any]


class Network:
    """Rows are written as the importer does it, and read back to say what has to be shown."""

    def __init__(self, project: Deployment) -> None:
        self.project = project

    def member(self, name: str, role: str = "member") -> str:
        return self.project.insert("members", handle=f"@{name}", session=name, role=role)

    def members(self, *names: str) -> list[str]:
        rows = [{"handle": f"@{name}", "session": name, "role": "member"} for name in names]
        return self.project.insert_many("members", rows)

    def follow(self, follower: str, *followed: str) -> None:
        self.project.insert_many("follows", [{"follower": follower, "followed": each} for each in followed])

    def block(self, blocker: str, *blocked: str) -> None:
        self.project.insert_many("blocks", [{"blocker": blocker, "blocked": each} for each in blocked])

    def post(self, author: str, at: float, topic: str = "bikes", state: str = "visible") -> str:
        return self.posts([(author, at)], topic, state)[0]

    def posts(self, rows: list[tuple[str, float]], topic: str = "bikes", state: str = "visible") -> list[str]:
        return self.project.insert_many(
            "posts",
            [{"author": who, "topic": topic, "text": f"post {at}", "at": at, "state": state} for who, at in rows],
        )

    def reposts(self, member: str, rows: list[tuple[str, float]]) -> list[str]:
        return self.project.insert_many("reposts", [{"member": member, "post": post, "at": at} for post, at in rows])

    def notices(self, *times: float) -> list[str]:
        return self.project.insert_many("notices", [{"text": f"notice {at}", "at": at} for at in times])

    def snapshot(self) -> "Snapshot":
        return Snapshot({table: self.project.documents(table) for table in TABLES})

    def ask(self, query: str, session: str, size: int, cursor: str | None = None, **more: Any) -> Row:
        options = {"numItems": size, "cursor": cursor}
        if "end" in more:
            options["endCursor"] = more.pop("end")
        result: Row = self.project.query(f"timeline:{query}", session=session, paginationOpts=options, **more)
        return result


class Snapshot:
    """What has to be shown of these rows."""

    def __init__(self, tables: dict[str, list[Row]]) -> None:
        self.tables = tables
        self.handles = {row["_id"]: row["handle"] for row in tables["members"]}
        self.posts = {row["_id"]: row for row in tables["posts"]}
        times = [row["_creationTime"] for rows in tables.values() for row in rows]
        assert len(set(times)) == len(times), "rows with equal creation times have no order"

    def shown(self, row: Row, blocked: set[str]) -> Row | None:
        if row["state"] == "removed" or row["author"] in blocked:
            return None
        return {"id": row["_id"], "author": self.handles[row["author"]], "topic": row["topic"], "text": row["text"]}

    def blocked_by(self, member: str) -> set[str]:
        return {row["blocked"] for row in self.tables["blocks"] if row["blocker"] == member}

    def page(self, member: str) -> list[tuple[Any, Row | None]]:
        """All entries with their places in the order; those that are hidden are None."""
        blocked = self.blocked_by(member)
        near = {member} | {row["followed"] for row in self.tables["follows"] if row["follower"] == member}
        entries: list[tuple[Any, Row | None]] = []
        for row in self.tables["posts"]:
            if row["author"] in near - blocked and row["state"] == "visible":
                entries.append((place(row), {"kind": "post", "at": row["at"], "post": self.shown(row, blocked)}))
        for row in self.tables["reposts"]:
            if row["member"] in near - blocked:
                post = self.shown(self.posts[row["post"]], blocked)
                by = self.handles[row["member"]]
                item = {"kind": "repost", "at": row["at"], "id": row["_id"], "by": by, "post": post}
                entries.append((place(row), item if post is not None else None))
        for row in self.tables["notices"]:
            item = {"kind": "notice", "at": row["at"], "id": row["_id"], "text": row["text"]}
            entries.append((place(row), item))
        return sorted(entries, key=lambda entry: entry[0], reverse=True)

    def authors(self, member: str, topic: str) -> list[Row]:
        blocked = self.blocked_by(member)
        newest: dict[str, Row] = {}
        for row in sorted(self.tables["posts"], key=place):
            post = self.shown(row, blocked)
            if row["topic"] == topic and post is not None:
                newest[row["author"]] = {"at": row["at"], "post": post}
        return in_any_order(list(newest.values()))

    def topics(self, member: str) -> list[Row]:
        newest = {
            item["post"]["topic"]: {"topic": item["post"]["topic"], "at": item["at"], "post": item["post"]}
            for _, item in reversed(self.page(member))
            if item is not None and item["kind"] == "post"
        }
        return in_any_order(list(newest.values()))


def place(row: Row) -> tuple[float, float]:
    return row["at"], row["_creationTime"]


def items(entries: list[tuple[Any, Row | None]]) -> list[Row]:
    return [item for _, item in entries if item is not None]


def in_any_order(found: list[Row]) -> list[Row]:
    return sorted(found, key=lambda item: (item["post"]["topic"], item["post"]["author"]))


def pages_of(entries: list[Any], size: int) -> list[list[Row]]:
    """Full pages, except where 60 entries are looked through before."""
    pages: list[list[Row]] = [[]]
    looked = 0
    for _, item in entries:
        if len(pages[-1]) == size or looked == MOST:
            pages.append([])
            looked = 0
        looked += 1
        if item is not None:
            pages[-1].append(item)
    return pages


def check_pages(received: list[list[Row]], expected: list[list[Row]]) -> None:
    """An empty page can follow the last one."""
    if len(received) == len(expected) + 1 and received[-1] == []:
        received = received[:-1]
    assert received == expected


def check_all(network: Network, member: str, session: str, size: int) -> None:
    now, project = network.snapshot(), network.project
    pages = project.pages("timeline:page", num_items=size, session=session)
    check_pages([page.items for page in pages], pages_of(now.page(member), size))
    pages = project.pages("timeline:topics", num_items=size, session=session)
    check_set([page.items for page in pages], now.topics(member), size)
    for topic in TOPICS:
        pages = project.pages("timeline:authors", num_items=size, session=session, topic=topic)
        check_set([page.items for page in pages], now.authors(member, topic), size)


def check_set(received: list[list[Row]], expected: list[Row], size: int) -> None:
    """In any order, in full pages: for fewer than 60 entries."""
    assert in_any_order([item for page in received for item in page]) == expected
    ordered = [item for page in received for item in page]
    full = [ordered[start : start + size] for start in range(0, len(ordered), size)]
    check_pages(received, full or [[]])


@pytest.mark.parametrize("seed", range(3))
def test_everything_is_shown_once_in_order_and_in_full_pages(project: Deployment, seed: int) -> None:
    chance, network = random.Random(seed), Network(project)
    names = ["ada", "bob", "cy", "dee", "eve", "flo"]
    members = network.members(*names)
    for _ in range(3):
        for name in chance.sample(range(6), 6):
            member = members[name]
            network.follow(member, *chance.choices(members, k=2))
            network.posts([(member, chance.randrange(8)) for _ in range(3)], chance.choice(TOPICS))
            network.posts([(member, chance.randrange(8))], chance.choice(TOPICS), "removed")
            posts = [row["_id"] for row in project.documents("posts")]
            network.reposts(member, [(chance.choice(posts), chance.randrange(8)) for _ in range(2)])
            if chance.random() < 0.5:
                network.notices(chance.randrange(8))
    for blocker in members[:4]:
        network.block(blocker, *chance.choices([each for each in members if each != blocker], k=2))
    for name in chance.sample(range(6), 3):
        check_all(network, members[name], names[name], chance.randrange(1, 9))


def test_members_who_follow_nobody_see_their_own_and_notices(project: Deployment) -> None:
    network = Network(project)
    ada, bob = network.members("ada", "bob")
    for name in ("page", "topics"):
        assert [page.items for page in project.pages(f"timeline:{name}", num_items=3, session="ada")] == [[]]
    pages = project.pages("timeline:authors", num_items=3, session="ada", topic="bikes")
    assert [page.items for page in pages] == [[]]
    mine, theirs = network.post(ada, 1), network.post(bob, 2)
    network.reposts(ada, [(theirs, 3), (mine, 4)])
    network.notices(0, 5)
    check_all(network, ada, "ada", 2)
    kinds = [item["kind"] for item in network.ask("page", "ada", 9)["page"]]
    assert kinds == ["notice", "repost", "repost", "post", "notice"]


def test_who_is_blocked_is_hidden_everywhere_and_only_from_who_blocks(project: Deployment) -> None:
    network = Network(project)
    ada, bob, cy = network.members("ada", "bob", "cy")
    network.follow(ada, bob, cy, bob, ada)
    network.block(ada, cy, cy)
    network.block(bob, ada)
    own, bobs, cys = network.post(ada, 1), network.post(bob, 2), network.post(cy, 3)
    network.reposts(bob, [(own, 4), (cys, 5), (bobs, 6)])
    network.reposts(cy, [(own, 7), (bobs, 8)])
    network.reposts(ada, [(cys, 9)])
    network.post(cy, 10, "boats")
    check_all(network, ada, "ada", 2)
    shown = [(item["kind"], item["at"]) for item in network.ask("page", "ada", 9)["page"]]
    assert shown == [("repost", 6), ("repost", 4), ("post", 2), ("post", 1)]
    assert [(item["topic"], item["at"]) for item in network.ask("topics", "ada", 9)["page"]] == [("bikes", 2)]
    handles = [item["post"]["author"] for item in network.ask("authors", "ada", 9, topic="bikes")["page"]]
    assert sorted(handles) == ["@ada", "@bob"]


def test_of_equal_times_the_row_that_was_added_last_comes_first(project: Deployment) -> None:
    network = Network(project)
    ada, bob = network.members("ada", "bob")
    network.follow(ada, bob)
    for _ in range(2):
        post = network.post(bob, 5)
        network.notices(5)
        network.reposts(ada, [(post, 5)])
        network.post(ada, 5)
        network.reposts(bob, [(post, 5)])
    check_all(network, ada, "ada", 3)
    check_all(network, ada, "ada", 10)


def test_pages_go_on_where_the_page_before_ended_whatever_happens_meanwhile(project: Deployment) -> None:
    network = Network(project)
    ada, bob, cy = network.members("ada", "bob", "cy")
    network.follow(ada, bob, cy)
    posts = network.posts([((bob, cy)[n % 2], n // 2) for n in range(12)])
    network.reposts(cy, [(post, 3) for post in posts[:3]])
    network.notices(2, 4)
    before = items(network.snapshot().page(ada))
    first = network.ask("page", "ada", 4)
    assert first["page"] == before[:4]
    seen = first["page"]
    project.mutation("posts:remove", session="bob", post=posts[10])
    project.mutation("posts:remove", session="cy", post=posts[9])
    network.post(bob, 9)
    network.reposts(bob, [(posts[2], 0.5)])
    network.notices(2)
    after = items(network.snapshot().page(ada))
    expected = seen + after[after.index(before[4]) :]
    result = first
    while not result["isDone"]:
        result = network.ask("page", "ada", 4, result["continueCursor"])
        seen = seen + result["page"]
    assert seen == expected


def test_a_page_begins_after_the_last_item_of_the_one_before_even_if_that_is_removed(project: Deployment) -> None:
    network = Network(project)
    (ada,) = network.members("ada")
    posts = network.posts([(ada, 1) for _ in range(7)])
    first = network.ask("page", "ada", 3)
    assert [item["post"]["id"] for item in first["page"]] == posts[6:3:-1]
    project.mutation("posts:remove", session="ada", post=posts[4])
    network.post(ada, 1)
    second = network.ask("page", "ada", 3, first["continueCursor"])
    assert [item["post"]["id"] for item in second["page"]] == posts[3:0:-1]


def test_a_topic_that_was_shown_does_not_come_again(project: Deployment) -> None:
    network = Network(project)
    ada, bob, cy = network.members("ada", "bob", "cy")
    network.follow(ada, bob)
    names = [f"topic {n}" for n in range(6)]
    for topic in names:
        network.posts([(ada, 1), (bob, 2), (cy, 3)], topic)
    first = network.ask("topics", "ada", 2)
    seen = [item["topic"] for item in first["page"]]
    assert len(seen) == 2
    for topic in names:
        removed = network.post(ada, 8, topic)
        network.posts([(bob, 7), (ada, 0)], topic)
        project.mutation("posts:remove", session="ada", post=removed)
    rest = network.ask("topics", "ada", 9, first["continueCursor"])
    expected = [item for item in network.snapshot().topics(ada) if item["topic"] not in seen]
    assert in_any_order(rest["page"]) == expected
    assert [item["at"] for item in rest["page"]] == [7] * 4


def test_an_author_who_was_shown_does_not_come_again(project: Deployment) -> None:
    network = Network(project)
    ada, *others = network.members("ada", "bob", "cy", "dee", "eve")
    for at in range(3):
        network.posts([(author, at) for author in others])
    first = network.ask("authors", "ada", 2, topic="bikes")
    seen = [item["post"]["author"] for item in first["page"]]
    assert len(seen) == 2
    network.posts([(author, 7) for author in others])
    network.posts([(author, -1) for author in others])
    rest = network.ask("authors", "ada", 9, first["continueCursor"], topic="bikes")
    expected = [item for item in network.snapshot().authors(ada, "bikes") if item["post"]["author"] not in seen]
    assert in_any_order(rest["page"]) == expected
    assert {item["at"] for item in rest["page"]} == {7}


def test_a_page_that_is_asked_for_again_has_what_is_now_between_its_cursors(project: Deployment) -> None:
    network = Network(project)
    ada, bob = network.members("ada", "bob")
    network.follow(ada, bob)
    posts = network.posts([((ada, bob)[n % 2], n) for n in range(10)])
    first = network.ask("page", "ada", 3)
    second = network.ask("page", "ada", 3, first["continueCursor"])
    assert [item["at"] for page in (first, second) for item in page["page"]] == [9, 8, 7, 6, 5, 4]
    network.posts([(bob, at) for at in (20, 21, 22, 23, 7.5)])
    network.notices(5.5, 3.5)
    project.mutation("posts:remove", session="bob", post=posts[5])
    again = network.ask("page", "ada", 3, None, end=first["continueCursor"])
    assert [item["at"] for item in again["page"]] == [23, 22, 21, 20, 9, 8, 7.5, 7]
    again = network.ask("page", "ada", 3, first["continueCursor"], end=second["continueCursor"])
    assert [item["at"] for item in again["page"]] == [6, 5.5, 4]
    third = network.ask("page", "ada", 3, second["continueCursor"])
    assert [item["at"] for item in third["page"]] == [3.5, 3, 2]


def test_a_page_looks_through_60_entries(project: Deployment) -> None:
    network = Network(project)
    ada, bob, cy = network.members("ada", "bob", "cy")
    network.follow(ada, bob, cy)
    gone = network.post(cy, 0, state="removed")
    network.posts([(bob, 1000 + n) for n in range(3)])
    network.reposts(cy, [(gone, 800 + n) for n in range(130)])
    network.posts([(bob, 500 + n) for n in range(70)])
    for size in (2, 5, 100):
        check_all(network, ada, "ada", size)
    assert [len(page.items) for page in project.pages("timeline:page", num_items=100, session="ada")][:4] == [
        3,
        0,
        47,
        23,
    ]


def test_posts_of_people_who_are_blocked_and_removed_posts_are_no_entries(project: Deployment) -> None:
    network = Network(project)
    ada, bob, cy = network.members("ada", "bob", "cy")
    network.follow(ada, bob, cy)
    network.block(ada, cy)
    network.posts([(cy, 500 + n) for n in range(100)])
    network.posts([(bob, 400 + n) for n in range(100)], state="removed")
    post = network.post(bob, 1)
    network.reposts(cy, [(post, 300 + n) for n in range(100)])
    result = network.ask("page", "ada", 1)
    assert [item["at"] for item in result["page"]] == [1]
    result = network.ask("authors", "ada", 1, topic="bikes")
    if result["page"] == []:
        result = network.ask("authors", "ada", 1, result["continueCursor"], topic="bikes")
    assert [item["post"]["author"] for item in result["page"]] == ["@bob"]


def test_up_to_50_authors_who_are_blocked_are_passed_over(project: Deployment) -> None:
    network = Network(project)
    ada, *others = network.members("ada", *(f"m{n}" for n in range(70)))
    network.posts([(author, n) for n, author in enumerate(others)])
    network.posts([(author, n) for n, author in enumerate(others)])
    network.block(ada, *others[:50])
    pages = project.pages("timeline:authors", num_items=20, session="ada", topic="bikes")
    found = in_any_order([item for page in pages for item in page.items])
    assert found == network.snapshot().authors(ada, "bikes")
    assert len(found) == 20
    assert len(pages[0].items) >= 10
    assert len(pages) in (1, 2, 3)
    pages = project.pages("timeline:authors", num_items=100, session="m0", topic="bikes")
    sizes = [len(page.items) for page in pages]
    assert sizes in ([60, 10], [60, 10, 0])


def test_a_page_has_60_topics_at_most(project: Deployment) -> None:
    network = Network(project)
    ada, bob = network.members("ada", "bob")
    network.follow(ada, bob)
    rows = [
        {"author": author, "topic": f"topic {n}", "text": "a", "at": n, "state": "visible"}
        for n in range(65)
        for author in (ada, bob)
    ]
    project.insert_many("posts", rows)
    pages = project.pages("timeline:topics", num_items=100, session="ada")
    assert [len(page.items) for page in pages if page.items] == [60, 5]
    assert in_any_order([item for page in pages for item in page.items]) == network.snapshot().topics(ada)


def allowed(entries: int, follows: int = 0, blocks: int = 0) -> int:
    return 5 * entries + 10 * follows + 2 * blocks + 20


def reads(project: Deployment, query: str, **arguments: Any) -> tuple[Row, int]:
    with project.trace() as work:
        result = project.query(f"timeline:{query}", arguments)
    return result, work.documents_read


def test_a_page_of_the_timeline_reads_little_wherever_it_is(project: Deployment) -> None:
    network = Network(project)
    ada, *others = network.members("ada", *(f"m{n}" for n in range(14)))
    followed, strangers = others[:10], others[10:]
    network.follow(ada, *followed)
    network.block(ada, *strangers[:2])
    posts = network.posts([(author, 100 + n) for n in range(40) for author in followed])
    network.posts([(author, 100 + n) for n in range(150) for author in strangers])
    network.posts([(author, 120 + n) for n in range(100) for author in followed[:5]], state="removed")
    network.reposts(followed[3], [(post, 90 + n / 2) for n, post in enumerate(posts[:100])])
    network.reposts(strangers[0], [(posts[0], n) for n in range(300)])
    network.notices(*range(300))
    cursor = None
    for _ in range(4):
        options = {"numItems": 10, "cursor": cursor}
        result, read = reads(project, "page", session="ada", paginationOpts=options)
        assert len(result["page"]) == 10
        assert read <= allowed(10, follows=10, blocks=2)
        again, read = reads(
            project, "page", session="ada", paginationOpts={**options, "endCursor": result["continueCursor"]}
        )
        assert again["page"] == result["page"]
        assert read <= allowed(10, follows=10, blocks=2)
        cursor = result["continueCursor"]


def test_rows_of_equal_times_are_not_read_again_for_each_page(project: Deployment) -> None:
    network = Network(project)
    (ada,) = network.members("ada")
    post, *_ = network.posts([(ada, 5)] * 150)
    network.reposts(ada, [(post, 5)] * 150)
    network.notices(*[5] * 150)
    seen, cursor = [], None
    for size in (200, 60, 60, 10):
        options = {"numItems": size, "cursor": cursor}
        result, read = reads(project, "page", session="ada", paginationOpts=options)
        assert read <= allowed(min(size, MOST))
        seen += result["page"]
        cursor = result["continueCursor"]
    assert seen == items(network.snapshot().page(ada))[:190]


def test_removed_posts_are_not_read(project: Deployment) -> None:
    network = Network(project)
    (ada,) = network.members("ada")
    network.posts([(ada, n) for n in range(500, 900)], state="removed")
    post = network.post(ada, 1)
    for query, more in (("page", {}), ("authors", {"topic": "bikes"})):
        result, read = reads(project, query, session="ada", paginationOpts={"numItems": 5, "cursor": None}, **more)
        assert [item["post"]["id"] for item in result["page"]] == [post]
        assert read <= allowed(1)


def test_the_other_posts_of_an_author_are_not_read(project: Deployment) -> None:
    network = Network(project)
    ada, *others = network.members("ada", *(f"m{n}" for n in range(6)))
    network.block(ada, others[0])
    network.posts([(author, n) for author in others for n in range(100)])
    network.posts([(author, 1000 + n) for author in others for n in range(20)], "boats")
    cursor, found = None, 0
    for _ in range(3):
        options = {"numItems": 2, "cursor": cursor}
        result, read = reads(project, "authors", session="ada", topic="bikes", paginationOpts=options)
        found += len(result["page"])
        assert read <= allowed(len(result["page"]) + 1, blocks=1)
        assert {item["at"] for item in result["page"]} == {99}
        cursor = result["continueCursor"]
    assert found == 5


def test_a_page_of_topics_reads_little(project: Deployment) -> None:
    network = Network(project)
    ada, *others = network.members("ada", *(f"m{n}" for n in range(5)))
    network.follow(ada, *others[:3])
    for topic in ("bikes", "boats", "trains", "trams"):
        network.posts([(author, n) for n in range(80) for author in (ada, *others)], topic)
        network.posts([(author, 100 + n) for n in range(20) for author in others], topic, state="removed")
    cursor, seen = None, set()
    for _ in range(2):
        options = {"numItems": 2, "cursor": cursor}
        result, read = reads(project, "topics", session="ada", paginationOpts=options)
        assert [item["at"] for item in result["page"]] == [79, 79]
        assert read <= allowed(2, follows=3) + 2 * 2 * 3
        seen |= {item["topic"] for item in result["page"]}
        cursor = result["continueCursor"]
    assert len(seen) == 4


def test_a_post_is_written_and_logged(project: Deployment) -> None:
    network = Network(project)
    ada, _ = network.members("ada", "bob")
    start = project.now()
    post = project.mutation("posts:write", session="ada", topic="bikes", text="hello")
    (stored,) = project.documents("posts")
    assert stored["_id"] == post
    assert (stored["author"], stored["topic"], stored["text"], stored["state"]) == (ada, "bikes", "hello", "visible")
    assert start <= stored["at"] <= project.now()
    (logged,) = project.documents("log")
    assert (logged["member"], logged["action"]) == (ada, "write post")
    assert start <= logged["at"] <= project.now()
    assert network.ask("page", "ada", 5)["page"][0]["post"]["id"] == post
    assert network.ask("page", "bob", 5)["page"] == []


def test_authors_and_moderators_remove_posts_once(project: Deployment) -> None:
    network = Network(project)
    ada, _ = network.members("ada", "bob")
    moderator = network.member("mod", "moderator")
    first, second = network.post(ada, 1), network.post(ada, 2)
    with project.fails(data={"code": "FORBIDDEN"}):
        project.mutation("posts:remove", session="bob", post=first)
    assert project.documents("log") == []
    assert project.mutation("posts:remove", session="ada", post=first) is None
    assert project.mutation("posts:remove", session="mod", post=second) is None
    assert [row["state"] for row in project.documents("posts")] == ["removed", "removed"]
    for session in ("ada", "bob", "mod"):
        with project.fails(data={"code": "NO_SUCH_POST"}):
            project.mutation("posts:remove", session=session, post=first)
    logged = [(row["member"], row["action"]) for row in project.documents("log")]
    assert logged == [(ada, "remove post"), (moderator, "remove post")]
    assert [row["text"] for row in project.documents("posts")] == ["post 1", "post 2"]


def test_only_moderators_publish_notices(project: Deployment) -> None:
    network = Network(project)
    network.members("ada")
    moderator = network.member("mod", "moderator")
    with project.fails(data={"code": "FORBIDDEN"}):
        project.mutation("posts:publishNotice", session="ada", text="no")
    assert project.documents("notices") == project.documents("log") == []
    start = project.now()
    notice = project.mutation("posts:publishNotice", session="mod", text="news")
    (stored,) = project.documents("notices")
    assert (stored["_id"], stored["text"]) == (notice, "news")
    assert start <= stored["at"] <= project.now()
    assert [(row["member"], row["action"]) for row in project.documents("log")] == [(moderator, "publish notice")]


def calls(post: str) -> list[tuple[str, Row, Row]]:
    """The arguments of each function, and wrong values of them."""
    options: Row = {"numItems": 3, "cursor": None}
    return [
        ("posts:write", {"topic": "bikes", "text": "a"}, {"topic": 1, "text": None}),
        ("posts:remove", {"post": post}, {"post": "x"}),
        ("posts:publishNotice", {"text": "a"}, {"text": 1}),
        ("timeline:page", {"paginationOpts": options}, {"paginationOpts": {"cursor": None}}),
        ("timeline:authors", {"topic": "bikes", "paginationOpts": options}, {"topic": 1, "paginationOpts": 5}),
        ("timeline:topics", {"paginationOpts": options}, {"paginationOpts": {"numItems": "3", "cursor": None}}),
    ]


def test_nobody_gets_in_without_a_session(project: Deployment) -> None:
    network = Network(project)
    network.member("mod", "moderator")
    post = network.post(network.member("ada"), 1)
    for name, good, _ in calls(post):
        call = project.mutation if PUBLIC[name] == "mutation" else project.query
        for session in ("", "@ada", "nobody"):
            with project.fails(data={"code": "SIGNED_OUT"}):
                call(name, good, session=session)
    assert project.documents("log") == []
    assert [row["state"] for row in project.documents("posts")] == ["visible"]


def test_clients_can_call_these_functions_and_no_others_and_arguments_are_validated(project: Deployment) -> None:
    functions = project.functions()
    assert {name: spec.kind for name, spec in functions.items() if spec.is_public} == PUBLIC
    network = Network(project)
    post = network.post(network.member("ada"), 1)
    for name, good, wrong in calls(post):
        call = project.mutation if PUBLIC[name] == "mutation" else project.query
        arguments = {**good, "session": "ada"}
        for key, value in {**wrong, "session": 5}.items():
            with project.fails("ArgumentValidationError"):
                call(name, {**arguments, key: value})
            with project.fails("ArgumentValidationError"):
                call(name, {other: each for other, each in arguments.items() if other != key})
        with project.fails("ArgumentValidationError"):
            call(name, {**arguments, "member": post})


def test_pages_are_those_that_clients_of_convex_read(project: Deployment) -> None:
    network = Network(project)
    (ada,) = network.members("ada")
    network.posts([(ada, n) for n in range(3)])
    for name, more in (("page", {}), ("authors", {"topic": "bikes"}), ("topics", {})):
        options = {"numItems": 1, "cursor": None, "id": 7}
        result = project.query(f"timeline:{name}", session="ada", paginationOpts=options, **more)
        assert {"page", "isDone", "continueCursor"} <= set(result)
        assert set(result) <= {"page", "isDone", "continueCursor", "splitCursor", "pageStatus"}
        assert len(result["page"]) == 1


def test_the_schema_has_these_tables_and_fields(project: Deployment, answer: Deployment) -> None:
    received, expected = project.schema().tables, answer.schema().tables
    assert {name: table.fields for name, table in received.items()} == {
        name: table.fields for name, table in expected.items()
    }


HEAD = """
import { v } from "convex/values";
import type { FunctionArgs, FunctionReturnType, PaginationOptions, RegisteredMutation, RegisteredQuery } from "convex/server";
import { api } from "./_generated/api";
import type { Doc, Id } from "./_generated/dataModel";
import type { DatabaseReader, DatabaseWriter, QueryCtx } from "./_generated/server";
import { memberMutation, memberQuery, type MemberMutationCtx, type MemberQueryCtx } from "./functions";

type Flat<T> = T extends string | number | boolean | bigint | null | undefined ? T
  : T extends readonly (infer E)[] ? Flat<E>[] : T extends object ? { [K in keyof T]: Flat<T[K]> } : T;
type Equal<A, B> = (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2 ? true : false;
type Same<A, B> = Equal<Flat<A>, Flat<B>>;
type IsAny<T> = 0 extends 1 & T ? true : false;
function yes<T extends true>(): T | undefined { return undefined; }
function no<T extends false>(): T | undefined { return undefined; }
function is<T>(value: T): T { return value; }

type Timeline = FunctionReturnType<typeof api.timeline.page>;
type Item = Timeline["page"][number];
type Author = FunctionReturnType<typeof api.timeline.authors>["page"][number];
type Topic = FunctionReturnType<typeof api.timeline.topics>["page"][number];
type Shown = { id: Id<"posts">; author: string; topic: string; text: string };
declare const item: Item;
declare const topic: Topic;
declare const writing: MemberMutationCtx;
declare const reading: MemberQueryCtx;
const handleOf = (ctx: MemberQueryCtx) => ctx.member.handle;
"""

COMPILES: dict[str, str] = {
    "the items of the timeline are a union": """
yes<Same<Item, { kind: "post"; at: number; post: Shown } | { kind: "repost"; at: number; id: Id<"reposts">; by: string; post: Shown } | { kind: "notice"; at: number; id: Id<"notices">; text: string }>>();
""",
    "its items are not any": """
no<IsAny<Item>>(); no<IsAny<Item["at"]>>(); no<IsAny<Item["kind"]>>();
""",
    "kind discriminates the items": """
if (item.kind === "repost") { is<Id<"reposts">>(item.id); is<string>(item.by); is<Shown>(item.post); }
else if (item.kind === "notice") { is<Id<"notices">>(item.id); is<string>(item.text); }
else { is<Shown>(item.post); }
""",
    "authors are typed": """
yes<Same<Author, { at: number; post: Shown }>>(); no<IsAny<Author>>(); no<IsAny<Author["post"]>>();
""",
    "topics are typed": """
yes<Same<Topic, { topic: string; at: number; post: Shown }>>(); no<IsAny<Topic>>(); no<IsAny<Topic["topic"]>>();
""",
    "a page is one of Convex's": """
is<boolean>({} as Timeline["isDone"]); is<string>({} as Timeline["continueCursor"]); no<IsAny<Timeline>>(); no<IsAny<Timeline["page"]>>();
""",
    "arguments of the queries include the session": """
declare const paginationOpts: PaginationOptions;
is<FunctionArgs<typeof api.timeline.page>>({ session: "s", paginationOpts });
is<FunctionArgs<typeof api.timeline.authors>>({ session: "s", topic: "t", paginationOpts });
is<FunctionArgs<typeof api.timeline.topics>>({ session: "s", paginationOpts });
no<IsAny<FunctionArgs<typeof api.timeline.page>["session"]>>(); no<IsAny<FunctionArgs<typeof api.timeline.authors>["topic"]>>();
""",
    "arguments and results of the mutations": """
yes<Same<FunctionArgs<typeof api.posts.write>, { session: string; topic: string; text: string }>>();
yes<Same<FunctionArgs<typeof api.posts.remove>, { session: string; post: Id<"posts"> }>>();
yes<Same<FunctionArgs<typeof api.posts.publishNotice>, { session: string; text: string }>>();
yes<Same<FunctionReturnType<typeof api.posts.write>, Id<"posts">>>(); yes<Same<FunctionReturnType<typeof api.posts.remove>, null>>();
yes<Same<FunctionReturnType<typeof api.posts.publishNotice>, Id<"notices">>>();
no<IsAny<FunctionReturnType<typeof api.posts.write>>>(); no<IsAny<FunctionReturnType<typeof api.posts.remove>>>();
""",
    "a query of members": """
export const f = memberQuery({ args: { n: v.number(), of: v.optional(v.id("posts")) }, handler: async (ctx, args) => {
  is<Doc<"members">>(ctx.member); no<IsAny<typeof ctx.member>>(); is<DatabaseReader>(ctx.db); no<IsAny<typeof ctx.db>>();
  yes<Same<typeof args, { n: number; of?: Id<"posts"> }>>();
  const post = await ctx.db.query("posts").withIndex("by_creation_time").first();
  return { n: args.n, text: post?.text ?? null };
} });
type Flatter<F> = F extends RegisteredQuery<"public", infer A, infer R> ? [A, Awaited<R>] : never;
yes<Same<Flatter<typeof f>[0], { session: string; n: number; of?: Id<"posts"> }>>();
yes<Same<Flatter<typeof f>[1], { n: number; text: string | null }>>();
""",
    "a query without arguments of its own": """
export const f = memberQuery({ args: {}, returns: v.string(), handler: (ctx) => ctx.member.handle });
""",
    "a mutation of members": """
export const f = memberMutation({ action: "write post", args: { n: v.number() }, handler: async (ctx, args) => {
  is<Doc<"members">>(ctx.member); no<IsAny<typeof ctx.member>>(); is<DatabaseWriter>(ctx.db); no<IsAny<typeof ctx.db>>();
  yes<Same<typeof args, { n: number }>>();
  return await ctx.db.insert("notices", { text: ctx.member.handle, at: args.n });
} });
type Flatter<F> = F extends RegisteredMutation<"public", infer A, infer R> ? [A, Awaited<R>] : never;
yes<Same<Flatter<typeof f>[0], { session: string; n: number }>>(); yes<Same<Flatter<typeof f>[1], Id<"notices">>>();
""",
    "a mutation for moderators": """
export const f = memberMutation({ action: "remove post", only: "moderator", args: {}, returns: v.null(), handler: async (ctx) => {
  await ctx.db.delete("members", ctx.member._id); return null;
} });
""",
    "handlers pass their contexts on": """
export const f = memberQuery({ args: {}, handler: (ctx) => handleOf(ctx) });
export const g = memberMutation({ action: "publish notice", args: {}, handler: (ctx) => { is<MemberMutationCtx>(ctx); return handleOf(ctx); } });
""",
    "contexts have types": """
handleOf(writing); handleOf(reading); is<QueryCtx["db"]>(reading.db); is<DatabaseWriter>(writing.db);
yes<Same<typeof reading.member, Doc<"members">>>(); yes<Same<typeof writing.member, Doc<"members">>>();
no<IsAny<MemberQueryCtx>>(); no<IsAny<MemberMutationCtx>>(); no<IsAny<typeof writing.db>>(); no<IsAny<typeof reading.db>>();
""",
}
REFUSED: dict[str, str] = {
    "a notice has no post": "if (item.kind === 'notice') is<Shown>(item.post);",
    "an item is not narrowed": "is<string>(item.by);",
    "the ID of a post is not that of a member": "is<Id<'members'>>(topic.post.id);",
    "a mutation without action": "export const f = memberMutation({ args: {}, handler: async (ctx) => ctx.member.handle });",
    "a mutation with another action": "export const f = memberMutation({ action: 'write', args: {}, handler: async (ctx) => ctx.member.handle });",
    "a mutation only for others": "export const f = memberMutation({ action: 'write post', only: 'member', args: {}, handler: async (ctx) => ctx.member.handle });",
    "the session in a mutation": "export const f = memberMutation({ action: 'write post', args: { n: v.number() }, handler: async (ctx, args) => { await ctx.db.get('members', ctx.member._id); return args.session; } });",
    "the session in a query": "export const f = memberQuery({ args: { n: v.number() }, handler: async (ctx, args) => { await ctx.db.get('members', ctx.member._id); return args.session; } });",
    "a field that members do not have": "export const f = memberQuery({ args: {}, handler: (ctx) => ctx.member.name });",
    "a result other than `returns`": "export const f = memberQuery({ args: {}, returns: v.number(), handler: (ctx) => ctx.member.handle });",
    "a query that writes": "export const f = memberQuery({ args: {}, handler: async (ctx) => { await ctx.db.delete('members', ctx.member._id); return null; } });",
    "a context for reading where one for writing is needed": "is<MemberMutationCtx>(reading);",
    "a query without a session": "is<FunctionArgs<typeof api.timeline.page>>({ paginationOpts: {} as PaginationOptions });",
}
SNIPPETS = {name: HEAD + body for name, body in (COMPILES | REFUSED).items()}


@pytest.mark.parametrize("name", COMPILES)
def test_compiles(type_checks: TypeChecks, name: str) -> None:
    assert type_checks.errors(SNIPPETS)[name] == ()


@pytest.mark.parametrize("name", REFUSED)
def test_does_not_compile(type_checks: TypeChecks, name: str) -> None:
    assert type_checks.errors(SNIPPETS)[name] != ()

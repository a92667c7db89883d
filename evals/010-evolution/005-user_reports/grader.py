"""What users reported is gone: posts that are missing from the feed, badges and days that are wrong."""

import random
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from convex_evals.pipeline.grading.kit import Deployment, GivenDeployment

USERS = ("ada", "ben", "cyd")
HOUR = 3_600_000
MIDNIGHT = datetime(2026, 3, 1, tzinfo=UTC).timestamp() * 1000


def group(deployment: Deployment, name: str = "g", offset: int = 0) -> str:
    return deployment.insert("groups", name=name, utcOffset=offset)


def insert_posts(deployment: Deployment, group_id: str, times: list[float], author: str = "ada") -> list[str]:
    posts = [
        {"groupId": group_id, "author": author, "text": f"p{number}", "publishedAt": time}
        for number, time in enumerate(times)
    ]
    return deployment.insert_many("posts", posts)


def newest_first(deployment: Deployment, group_id: str) -> list[str]:
    posts = [each for each in deployment.documents("posts") if each["groupId"] == group_id]
    posts.sort(key=lambda each: (-each["publishedAt"], -each["_creationTime"]))
    return [each["_id"] for each in posts]


def load(deployment: Deployment, group_id: str, before: Any = None) -> tuple[list[str], Any]:
    arguments = {"groupId": group_id, **({} if before is None else {"before": before})}
    found = deployment.query("feed:page", arguments)
    assert set(found) == {"posts", "next"}
    return [each["id"] for each in found["posts"]], found["next"]


def scroll(deployment: Deployment, group_id: str, before: Any = None) -> list[list[str]]:
    pages: list[list[str]] = []
    while not pages or before is not None:
        ids, before = load(deployment, group_id, before)
        pages.append(ids)
        assert len(pages) < 60, "the feed does not end"
    return pages


def tens(ids: list[str]) -> list[list[str]]:
    return [ids[start : start + 10] for start in range(0, len(ids), 10)] or [[]]


# ---------------------------------------------------------------------- feed


@pytest.mark.parametrize("count", [0, 1, 9, 10, 11, 20, 21, 37])
def test_the_feed_ends_with_the_last_post(project: Deployment, count: int) -> None:
    mine, other = group(project), group(project)
    insert_posts(project, other, [MIDNIGHT] * 5)
    insert_posts(project, mine, [MIDNIGHT + HOUR * (number * 7 % 40) for number in range(count)])
    insert_posts(project, other, [MIDNIGHT] * 5)
    assert scroll(project, mine) == tens(newest_first(project, mine))


@pytest.mark.parametrize("seed", range(2))
def test_posts_of_the_same_time_all_appear(project: Deployment, seed: int) -> None:
    chance = random.Random(seed)
    mine = group(project)
    times = [MIDNIGHT + HOUR * chance.randrange(4) for _ in range(chance.choice([45, 60]))]
    insert_posts(project, mine, times)
    insert_posts(project, group(project), times)
    assert scroll(project, mine) == tens(newest_first(project, mine))


def test_a_page_shows_posts_as_before(project: Deployment) -> None:
    mine = group(project)
    (post,) = insert_posts(project, mine, [MIDNIGHT])
    shown = {"id": post, "author": "ada", "text": "p0", "publishedAt": MIDNIGHT}
    assert project.query("feed:page", groupId=mine) == {"posts": [shown], "next": None}


def test_scrolling_goes_on_where_it_was_when_posts_come_and_go(project: Deployment) -> None:
    chance = random.Random(5)
    mine, other = group(project), group(project)
    insert_posts(project, mine, [MIDNIGHT + HOUR * chance.randrange(3) for _ in range(50)])
    seen, at_first, gone = list[str](), newest_first(project, mine), set[str]()
    before: Any = None
    while not seen or before is not None:
        ids, before = load(project, mine, before)
        assert len(ids) == 10 or before is None
        seen += ids
        assert len(seen) < 200, "the feed does not end"
        # The last post of the page, one of the page, and one that is still to come.
        left = [each for each in at_first if each not in gone and each not in seen]
        for number, post in enumerate([ids[-1], ids[0], *left[:1]]):
            gone.add(post)
            if number == 0:
                project.mutation("posts:remove", postId=post)
            else:
                project.mutation("posts:move", postId=post, groupId=other)
        project.mutation("posts:publish", groupId=mine, author="ben", text="new")
    assert len(seen) == len(set(seen)), "a post appears twice"
    missing = [each for each in at_first if each not in seen and each not in gone]
    assert missing == [], "posts are left out"
    assert seen == sorted(seen, key=lambda each: at_first.index(each) if each in at_first else -1)


def test_apps_that_were_open_can_go_on_scrolling(given: GivenDeployment) -> None:
    mine = group(given)
    insert_posts(given, mine, [MIDNIGHT + HOUR * (number // 3) for number in range(60)])
    first, number = load(given, mine)
    project = given.upgrade()
    everything = newest_first(project, mine)
    assert first == everything[:10]
    times = {each["_id"]: each["publishedAt"] for each in project.documents("posts")}
    earlier = [each for each in everything if times[each] < number]
    assert scroll(project, mine, number) == tens(earlier)
    assert scroll(project, mine) == tens(everything)
    assert scroll(project, mine, MIDNIGHT) == [[]]


def test_a_page_of_many_posts_of_the_same_time_reads_few(project: Deployment) -> None:
    mine = group(project)
    insert_posts(project, mine, [MIDNIGHT] * 500)
    before: Any = None
    for _ in range(4):
        with project.trace() as work:
            ids, before = load(project, mine, before)
        assert len(ids) == 10
        assert work.documents_read <= 40, f"a page read {work.documents_read} documents"


# ---------------------------------------------------------------------- badges


def badges(deployment: Deployment) -> dict[str, Any]:
    return {user: deployment.query("members:badges", user=user) for user in USERS}


def expected_badges(deployment: Deployment, opened: dict[tuple[str, str], float]) -> dict[str, Any]:
    posts = deployment.documents("posts")
    expected: dict[str, Any] = {user: [] for user in USERS}
    for (user, group_id), time in opened.items():
        unread = [
            each
            for each in posts
            if each["groupId"] == group_id and each["author"] != user and each["publishedAt"] > time
        ]
        expected[user].append({"groupId": group_id, "unread": len(unread)})
    return expected


def act(deployment: Deployment, chance: random.Random, groups: list[str], opened: dict[tuple[str, str], float]) -> str:
    deployment.advance(minutes=10)
    now, posts = deployment.now(), deployment.documents("posts")
    user, group_id = chance.choice(USERS), chance.choice(groups)
    names = ("publish", "publish", "import", "move", "remove", "open", "open", "join", "leave")
    name = chance.choice(names if posts else names[:3])
    if name == "publish":
        deployment.mutation("posts:publish", groupId=group_id, author=user, text="x")
    elif name == "import":
        times = [now - chance.choice([5, 25, 55]) * 60_000 for _ in range(3)]
        imported = [{"author": chance.choice(USERS), "text": "old", "publishedAt": time} for time in times]
        deployment.admin.mutation("posts:importFrom", groupId=group_id, posts=imported)
    elif name == "move":
        deployment.mutation("posts:move", postId=chance.choice(posts)["_id"], groupId=group_id)
    elif name == "remove":
        deployment.mutation("posts:remove", postId=chance.choice(posts)["_id"])
    else:
        deployment.mutation(f"members:{name}", groupId=group_id, user=user)
        key = (user, group_id)
        if name == "leave":
            opened.pop(key, None)
        elif name == "join":
            opened.setdefault(key, now)
        elif key in opened:
            opened[key] = now
    return name


@pytest.mark.parametrize("seed", range(2))
def test_badges_are_right_for_old_members_and_new_ones(given: GivenDeployment, seed: int) -> None:
    chance = random.Random(seed)
    groups = [group(given, name) for name in ("x", "y")]
    opened: dict[tuple[str, str], float] = {}
    for user in USERS:
        for group_id in groups:
            given.mutation("members:join", groupId=group_id, user=user)
            opened[user, group_id] = given.now()
    done = [act(given, chance, groups, opened) for _ in range(18)]
    project = given.upgrade()
    assert badges(project) == expected_badges(project, opened), f"after {done}, with the given code"
    for _ in range(18):
        done.append(act(project, chance, groups, opened))
        assert badges(project) == expected_badges(project, opened), f"after {done}"


def test_badges_read_unread_posts_only(project: Deployment) -> None:
    mine = group(project)
    insert_posts(project, mine, [MIDNIGHT - HOUR * number for number in range(300)])
    project.mutation("members:join", groupId=mine, user="ben")
    project.advance(minutes=1)
    for _ in range(3):
        project.mutation("posts:publish", groupId=mine, author="ada", text="new")
    project.mutation("posts:publish", groupId=mine, author="ben", text="own")
    with project.trace() as work:
        assert project.query("members:badges", user="ben") == [{"groupId": mine, "unread": 3}]
    assert work.documents_read <= 20, f"with 3 unread posts it read {work.documents_read} documents"


# ---------------------------------------------------------------------- statistics


@pytest.mark.parametrize("offset", [0, 540, -300, 345])
def test_a_day_goes_from_midnight_to_midnight_where_the_group_is(project: Deployment, offset: int) -> None:
    mine, other = group(project, "mine", offset), group(project, "other", 60)
    midnight = MIDNIGHT - offset * 60_000
    bot = [midnight + 24 * HOUR * number for number in range(-1, 3)]
    insert_posts(project, mine, bot, author="bot")
    insert_posts(project, mine, [midnight - 1, midnight + 1, midnight + 24 * HOUR - 1], author="ada")
    insert_posts(project, mine, [midnight + 30 * HOUR, midnight + 31 * HOUR], author="ben")
    insert_posts(project, other, [midnight + 5 * HOUR] * 3)
    days = [(datetime(2026, 2, 27, tzinfo=UTC) + timedelta(days=number)).date().isoformat() for number in range(6)]
    counts = [project.query("stats:onDay", groupId=mine, day=day) for day in days]
    assert counts == [0, 2, 3, 3, 1, 0]
    since = {day: project.query("stats:authorsSince", groupId=mine, day=day) for day in days[2:]}
    assert since == {
        "2026-03-01": [{"author": "bot", "count": 3}, {"author": "ada", "count": 2}, {"author": "ben", "count": 2}],
        "2026-03-02": [{"author": "ben", "count": 2}, {"author": "bot", "count": 2}],
        "2026-03-03": [{"author": "bot", "count": 1}],
        "2026-03-04": [],
    }


# ---------------------------------------------------------------------- the rest


def test_posts_are_stored_as_before(project: Deployment) -> None:
    mine, other = group(project), group(project)
    post = project.mutation("posts:publish", groupId=mine, author="ada", text="a")
    stored = project.get(post)
    assert stored is not None
    assert abs(stored["publishedAt"] - project.now()) < 60_000
    assert project.mutation("posts:move", postId=post, groupId=other) is None
    assert project.get(post) == {**stored, "groupId": other}
    assert project.mutation("posts:remove", postId=post) is None
    for name, arguments in (("posts:remove", {}), ("posts:move", {"groupId": mine})):
        with project.fails(data={"code": "NO_SUCH_POST"}):
            project.mutation(name, arguments, postId=post)


def test_the_functions_are_those_of_the_given_project(project: Deployment, given: GivenDeployment) -> None:
    functions = project.functions()
    for name, spec in given.functions().items():
        assert name in functions, f"{name} is gone"
        new = functions[name]
        assert (new.kind, new.visibility, set(new.arguments)) == (spec.kind, spec.visibility, set(spec.arguments)), name
        if name != "feed:page":
            assert new.arguments == spec.arguments, name

"""Roles that are inherited in a tree, with restricted branches, moves, and no leaks."""

import random
from dataclasses import dataclass, field
from typing import Any

import pytest

from convex_evals.pipeline.grading.kit import Caller, Deployment

NOT_FOUND, FORBIDDEN, INVALID = ({"code": code} for code in ("NOT_FOUND", "FORBIDDEN", "INVALID"))
RANKS = {None: 0, "viewer": 1, "editor": 2, "owner": 3}
USERS = ("ada", "ben", "cyd", "dan")


def create(caller: Caller, parent: str | None, name: str, kind: str = "folder") -> str:
    item: str = caller.mutation("items:create", parentId=parent, name=name, kind=kind)
    return item


def share(project: Deployment, item: str, user: str, role: str | None, owner: str = "ada") -> None:
    assert project.as_user(owner).mutation("items:share", itemId=item, user=user, role=role) is None


def restrict(project: Deployment, item: str, restricted: bool = True) -> None:
    assert project.as_user("ada").mutation("items:restrict", itemId=item, restricted=restricted) is None


def move(caller: Caller, item: str, parent: str) -> None:
    assert caller.mutation("items:move", itemId=item, parentId=parent) is None


def role(project: Deployment, user: str, item: str) -> str | None:
    found = project.as_user(user).query("items:get", itemId=item)
    return found and found["role"]


def names(items: list[dict[str, Any]]) -> list[str]:
    assert all(item.keys() == {"itemId", "name"} for item in items)
    return [item["name"] for item in items]


def chain(project: Deployment, length: int = 4) -> list[str]:
    """Folders in one another, and a document in the last one."""
    ada, items = project.as_user("ada"), [""]
    for level in range(length):
        items.append(create(ada, items[-1] or None, f"level{level}"))
    return [*items[1:], create(ada, items[-1], "leaf", "document")]


def test_roles_reach_down_as_far_as_they_may(project: Deployment) -> None:
    a, b, c, d, leaf = chain(project)
    share(project, b, "ben", "viewer")
    assert [role(project, "ben", item) for item in (a, b, c, d, leaf)] == [None, *["viewer"] * 4]
    share(project, d, "ben", "editor")
    share(project, leaf, "ben", "viewer")
    assert [role(project, "ben", item) for item in (c, d, leaf)] == ["viewer", "editor", "editor"]
    restrict(project, c)
    assert [role(project, "ben", item) for item in (b, c, d, leaf)] == ["viewer", None, "editor", "editor"]
    restrict(project, leaf)
    assert role(project, "ben", leaf) == "viewer"
    share(project, leaf, "ben", None)
    share(project, leaf, "cyd", None)
    assert role(project, "ben", leaf) is None
    restrict(project, leaf, restricted=False)
    share(project, d, "ben", "viewer")
    assert role(project, "ben", leaf) == "viewer"
    assert [role(project, "ada", item) for item in (a, b, c, d, leaf)] == ["owner"] * 5
    assert [role(project, "cyd", item) for item in (a, b, c, d, leaf)] == [None] * 5


def test_paths_and_lists_name_nothing_that_is_hidden(project: Deployment) -> None:
    a, b, c, d, leaf = chain(project)
    ben, ada = project.as_user("ben"), project.as_user("ada")
    share(project, b, "ben", "viewer")
    share(project, d, "ben", "viewer")
    restrict(project, c)
    expected = {"name": "leaf", "kind": "document", "role": "viewer", "path": ["level1", "level3"]}
    assert ben.query("items:get", itemId=leaf) == expected
    assert ada.query("items:get", itemId=leaf)["path"] == ["level0", "level1", "level2", "level3"]
    assert (ben.query("items:children", itemId=b), names(ada.query("items:children", itemId=b))) == ([], ["level2"])
    for item in (a, c):
        assert [ben.query(f"items:{name}", itemId=item) for name in ("get", "children", "count")] == [None] * 3
    assert names(ben.query("items:shared")) == ["level1", "level3"]
    assert ben.query("items:count", itemId=b) == 1, "a document in a folder that is hidden"
    assert names(ben.query("items:children", itemId=d)) == ["leaf"]
    assert (ben.query("items:children", itemId=leaf), ben.query("items:count", itemId=leaf)) == ([], 0)
    assert [project.query(f"items:{name}", itemId=b) for name in ("get", "children", "count")] == [None] * 3
    assert (project.query("items:shared"), ada.query("items:shared")) == ([], [])


def test_lists_are_sorted(project: Deployment) -> None:
    ada, ben = project.as_user("ada"), project.as_user("ben")
    top = create(ada, None, "top")
    made = [(name, create(ada, top, name, "document")) for name in ("c", "a", "b", "a")]
    for _, item in made[::-1]:
        share(project, item, "ben", "viewer")
    expected = [{"itemId": made[index][1], "name": made[index][0]} for index in (1, 3, 2, 0)]
    assert ada.query("items:children", itemId=top) == expected
    assert ben.query("items:shared") == expected
    share(project, top, "ben", "viewer")
    assert names(ben.query("items:shared")) == ["top"]


def test_open_pages_follow_moves_and_changes_far_above(project: Deployment) -> None:
    a, b, c, _, leaf = chain(project)
    ada, ben = project.as_user("ada"), project.as_user("ben")
    other = create(ada, a, "other")
    share(project, b, "ben", "editor")
    share(project, other, "ben", "editor")
    share(project, other, "cyd", "viewer")
    with ben.clients(1) as [client], project.as_user("cyd").clients(1) as [another]:
        live, entries = client.subscribe("items:get", itemId=leaf), client.subscribe("items:shared")
        seen, total = another.subscribe("items:get", itemId=leaf), another.subscribe("items:count", itemId=other)
        assert (live.value["role"], names(entries.value), seen.value, total.value) == (
            "editor",
            ["level1", "other"],
            None,
            0,
        )
        move(ben, c, other)
        for each in (client, another):
            each.catch_up()
        assert live.value["path"] == ["other", "level2", "level3"]
        assert (seen.value["role"], total.value) == ("viewer", 1)
        restrict(project, c)
        for each in (client, another):
            each.catch_up()
        assert (live.value, seen.value, total.value) == (None, None, 0)
        share(project, c, "cyd", "editor")
        restrict(project, other)
        share(project, other, "ben", None)
        for each in (client, another):
            each.catch_up()
        assert (names(entries.value), seen.value["role"], total.value) == (["level1"], "editor", 1)
    assert ada.query("items:children", itemId=b) == []


def test_nobody_can_tell_what_is_hidden_from_what_is_not_there(project: Deployment) -> None:
    a, b, c, _, leaf = chain(project)
    ada, ben = project.as_user("ada"), project.as_user("ben")
    gone, own = create(ada, a, "gone"), create(ben, None, "own")
    ada.mutation("items:remove", itemId=gone)
    inner = create(ben, own, "inner")
    share(project, leaf, "cyd", "viewer")
    for caller in (ben, project):
        for item in (a, c, leaf, gone):
            for name, arguments in (
                ("share", {"user": "ben", "role": "editor"}),
                ("restrict", {"restricted": False}),
                ("remove", {}),
                ("move", {"parentId": own}),
                ("move", {"parentId": item}),
            ):
                with project.fails(data=NOT_FOUND):
                    caller.mutation(f"items:{name}", itemId=item, **arguments)
            with project.fails(data=NOT_FOUND):
                create(caller, item, "new")
            with project.fails(data=NOT_FOUND):
                move(caller, inner, item)
            assert caller.query("items:get", itemId=item) is None
    share(project, b, "ben", "viewer")
    with project.fails(data=NOT_FOUND):
        move(ben, b, a)
    with project.fails(data={"code": "UNAUTHENTICATED"}):
        create(project, None, "new")


def test_roles_are_needed(project: Deployment) -> None:
    a, b, c, _, leaf = chain(project)
    ada, ben, cyd = (project.as_user(user) for user in ("ada", "ben", "cyd"))
    other = create(ada, a, "other")
    share(project, a, "ben", "viewer")
    share(project, b, "ben", "editor")
    share(project, b, "cyd", "viewer")
    for caller, name, arguments in (
        (ben, "share", {"itemId": b, "user": "dan", "role": "viewer"}),
        (ben, "restrict", {"itemId": b, "restricted": True}),
        (ben, "move", {"itemId": c, "parentId": other}),
        (ben, "move", {"itemId": other, "parentId": b}),
        (ben, "move", {"itemId": a, "parentId": leaf}),
        (ben, "remove", {"itemId": other}),
        (cyd, "remove", {"itemId": leaf}),
        (cyd, "share", {"itemId": b, "user": "cyd", "role": None}),
        (cyd, "create", {"parentId": leaf, "name": "new", "kind": "folder"}),
    ):
        with project.fails(data=FORBIDDEN):
            caller.mutation(f"items:{name}", arguments)
    new = create(ben, c, "by ben")
    assert (role(project, "ben", new), role(project, "ada", new), role(project, "cyd", new)) == (
        "editor",
        "owner",
        "viewer",
    )
    assert ada.mutation("items:remove", itemId=new) is None


def test_trees_stay_trees(project: Deployment) -> None:
    a, b, c, d, leaf = chain(project)
    ada, ben = project.as_user("ada"), project.as_user("ben")
    foreign = create(ben, None, "foreign")
    share(project, foreign, "ada", "editor", owner="ben")
    share(project, b, "ben", "editor")
    second = create(ada, None, "second")
    for item, parent in ((b, b), (b, c), (b, d), (c, d), (a, second), (a, d), (c, leaf), (c, foreign)):
        with project.fails(data=INVALID):
            move(ada, item, parent)
    with project.fails(data=INVALID):
        create(ada, leaf, "new")
    with project.fails(data=INVALID):
        move(ben, c, foreign)
    move(ada, d, b)
    move(ada, c, d)
    assert ada.query("items:get", itemId=c)["path"] == ["level0", "level1", "level3"]
    move(ada, d, second)
    assert ada.query("items:get", itemId=c)["path"] == ["second", "level3"]
    assert (role(project, "ben", c), role(project, "ben", b)) == (None, "editor")
    assert [ada.query("items:count", itemId=item) for item in (a, second)] == [0, 1]


def test_what_is_removed_is_gone_with_everything_in_it(project: Deployment) -> None:
    a, b, c, d, leaf = chain(project)
    ben = project.as_user("ben")
    share(project, b, "ben", "editor")
    share(project, d, "cyd", "viewer")
    restrict(project, c)
    assert ben.mutation("items:remove", itemId=b) is None
    assert [role(project, "ada", item) for item in (a, b, c, d, leaf)] == ["owner", *[None] * 4]
    assert [document["_id"] for document in project.documents("items")] == [a]
    assert (ben.query("items:shared"), project.as_user("cyd").query("items:shared")) == ([], [])
    assert project.as_user("ada").query("items:children", itemId=a) == []


def test_arguments_are_checked(project: Deployment) -> None:
    ada = project.as_user("ada")
    top = create(ada, None, "top")
    good: dict[str, dict[str, Any]] = {
        "create": {"parentId": None, "name": "a", "kind": "folder"},
        "share": {"itemId": top, "user": "ben", "role": None},
        "restrict": {"itemId": top, "restricted": True},
        "move": {"itemId": top, "parentId": top},
        "remove": {"itemId": top},
    }
    for name, arguments in good.items():
        for argument in arguments:
            rest = {key: value for key, value in arguments.items() if key != argument}
            for bad in (rest, {**rest, argument: 5}):
                with project.fails("ArgumentValidationError"):
                    ada.mutation(f"items:{name}", bad)
    for name, change in (("share", {"role": "owner"}), ("create", {"kind": "link"}), ("move", {"parentId": None})):
        with project.fails("ArgumentValidationError"):
            ada.mutation(f"items:{name}", {**good[name], **change})
    for name in ("get", "children", "count"):
        with project.fails("ArgumentValidationError"):
            ada.query(f"items:{name}", itemId="nonsense")


@dataclass
class Item:
    parent: str | None
    name: str
    kind: str
    owner: str = "ada"
    restricted: bool = False
    roles: dict[str, str] = field(default_factory=dict)


class Truth(dict[str, Item]):
    """All items by their IDs, in the order of their creation."""

    def role(self, user: str, item: str | None) -> str | None:
        if item is not None and self[item].owner == user:
            return "owner"
        best: str | None = None
        while item is not None:
            best = max(best, self[item].roles.get(user), key=lambda each: RANKS[each])
            item = None if self[item].restricted else self[item].parent
        return best

    def above(self, item: str) -> list[str]:
        """The folders it is in, from the top."""
        parent = self[item].parent
        return [] if parent is None else [*self.above(parent), parent]

    def listed(self, items: list[str]) -> list[dict[str, str]]:
        return [{"itemId": item, "name": self[item].name} for item in sorted(items, key=lambda each: self[each].name)]

    def shared(self, user: str) -> list[dict[str, str]]:
        seen = [item for item in self if self.role(user, item) not in (None, "owner")]
        return self.listed([item for item in seen if self.role(user, self[item].parent) is None])


def change(project: Deployment, truth: Truth, chance: random.Random) -> str:
    """Something by the owner or an editor, on both sides; a text that says what."""
    item, user = chance.choice(list(truth)), chance.choice(USERS[1:])
    folders = [each for each in truth if truth[each].kind == "folder"]
    owner = truth[item].owner
    kind = chance.choice(["create"] * 3 + ["share"] * 4 + ["restrict", "restrict", "move", "move", "remove"])
    if kind == "create":
        parent, name = chance.choice(folders), chance.choice("pqr")
        shape, owner = chance.choice(["folder", "document"]), truth[parent].owner
        truth[create(project.as_user(owner), parent, name, shape)] = Item(parent, name, shape, owner)
    elif kind == "share" and user != owner:
        given = chance.choice([None, "viewer", "editor"])
        share(project, item, user, given, owner)
        truth[item].roles.pop(user, None)
        truth[item].roles.update({user: given} if given else {})
    elif kind == "restrict":
        truth[item].restricted = not truth[item].restricted
        project.as_user(owner).mutation("items:restrict", itemId=item, restricted=truth[item].restricted)
    elif kind == "move":
        try_to_move(project, truth, user if chance.random() < 0.5 else owner, item, chance.choice(folders))
    elif kind == "remove" and truth[item].parent is not None and len(truth) > 6:
        project.as_user(owner).mutation("items:remove", itemId=item)
        for each in [each for each in truth if each == item or item in truth.above(each)]:
            del truth[each]
    return f"{kind} {truth[item].name if item in truth else ''} {user}"


def try_to_move(project: Deployment, truth: Truth, user: str, item: str, parent: str) -> None:
    ranks = [RANKS[truth.role(user, each)] for each in (item, parent)]
    is_loop = parent == item or item in truth.above(parent)
    code = None
    if min(ranks) < 2:
        code = FORBIDDEN if min(ranks) else NOT_FOUND
    elif is_loop or truth[item].parent is None or truth[item].owner != truth[parent].owner:
        code = INVALID
    if code is None:
        move(project.as_user(user), item, parent)
        truth[item].parent = parent
    else:
        with project.fails(data=code):
            move(project.as_user(user), item, parent)


def check(project: Deployment, truth: Truth, user: str, item: str, after: str) -> None:
    caller, own = project.as_user(user), truth.role(user, item)
    received = [caller.query(f"items:{name}", itemId=item) for name in ("get", "children", "count")]
    if own is None:
        assert received == [None, None, None], after
    else:
        path = [truth[each].name for each in truth.above(item) if truth.role(user, each)]
        shown = {"name": truth[item].name, "kind": truth[item].kind, "role": own, "path": path}
        inside = [each for each in truth if truth.role(user, each)]
        documents = [each for each in inside if truth[each].kind == "document" and item in truth.above(each)]
        below = truth.listed([each for each in inside if truth[each].parent == item])
        assert received == [shown, below, len(documents)], after
    assert caller.query("items:shared") == truth.shared(user), after


@pytest.mark.parametrize("seed", range(4))
def test_everybody_sees_just_what_they_may(project: Deployment, seed: int) -> None:
    chance, truth, done = random.Random(seed), Truth(), []
    for owner in ("ada", "ada", "dan"):
        truth[create(project.as_user(owner), None, owner)] = Item(None, owner, "folder", owner)
    for _ in range(45):
        done.append(change(project, truth, chance))
        for _ in range(2):
            check(project, truth, chance.choice(USERS), chance.choice(list(truth)), f"after {done}")

"""IDs replaced by the documents they refer to: the types of every result, and what is read for it."""

# ruff: noqa: E501 (snippets of TypeScript)

import random
from typing import Any

import pytest

from convex_evals.pipeline.grading.kit import Deployment, TypeChecks

Document = dict[str, Any]

HEAD = """
import { populate, type Populated } from "./lib/populate";
import type { Doc, Id } from "./_generated/dataModel";
import type { DatabaseReader, MutationCtx, QueryCtx } from "./_generated/server";
type Same<A, B> = [A] extends [B] ? ([B] extends [A] ? true : false) : false;
type IsAny<T> = 0 extends 1 & T ? true : false;
declare const ctx: QueryCtx;
declare const post: Doc<"posts">;
declare const posts: Doc<"posts">[];
declare const user: Doc<"users">;
declare const events: Doc<"events">[];
declare const visit: Extract<Doc<"events">, { kind: "visit" }>;
"""


def snippet(body: str) -> str:
    return HEAD + body + "\nexport {};\n"


AUTHOR = """
const done = await populate(ctx, "posts", post, { author: true });
const author: Doc<"users"> | null = done.author;
"""
MANAGER = 'const done = await populate(ctx, "posts", post, { author: { manager: { home: true } } });\n'
SUBJECT = 'const done = await populate(ctx, "posts", post, { subject: true });\n'
EVENTS = 'const done = await populate(ctx, "events", events, { who: true, by: true, "place.city": true });\n'

COMPILES = {
    "a reference is a document or null": snippet(
        AUTHOR + "const same: Same<typeof done.author, Doc<'users'> | null> = true;"
    ),
    "the other fields keep their types": snippet(
        AUTHOR
        + "const tags: Id<'tags'>[] = done.tags; const city: Id<'cities'> = done.address.city; const id: Id<'posts'> = done._id;"
        + "const reviewer: Same<typeof done.reviewer, Id<'users'> | undefined> = true; const title: string = done.title;"
        + "const created: number = done._creationTime; const roles: Record<string, Id<'users'>> = done.roles;"
    ),
    "an optional reference stays optional": snippet(
        'const done = await populate(ctx, "posts", post, { reviewer: true });\n'
        "const same: Same<typeof done.reviewer, Doc<'users'> | null | undefined> = true;\n"
        "const without: Pick<typeof done, 'reviewer'> = {};"
    ),
    "a null that the schema allows": snippet(
        'const done = await populate(ctx, "users", user, { home: true });\n'
        "const same: Same<typeof done.home, Doc<'cities'> | null> = true;"
    ),
    "an array of references": snippet(
        'const done = await populate(ctx, "posts", post, { tags: true });\n'
        "const same: Same<typeof done.tags, (Doc<'tags'> | null)[]> = true;"
    ),
    "a record of references": snippet(
        'const done = await populate(ctx, "posts", post, { roles: true });\n'
        "const same: Same<typeof done.roles, Record<string, Doc<'users'> | null>> = true;"
    ),
    "a path into an object": snippet(
        'const done = await populate(ctx, "posts", post, { "address.city": true });\n'
        "const same: Same<typeof done.address, { street: string; city: Doc<'cities'> | null }> = true;\n"
        "const author: Id<'users'> = done.author;"
    ),
    "two paths into an optional object": snippet(
        'const done = await populate(ctx, "posts", post, { "venue.city": true, "venue.host": true });\n'
        "type Venue = { name: string; city: Doc<'cities'> | null; host?: Doc<'users'> | null };\n"
        "const same: Same<typeof done.venue, Venue | undefined> = true;"
    ),
    "a path into an array of objects": snippet(
        'const done = await populate(ctx, "posts", post, { "related.post": true });\n'
        "const same: Same<typeof done.related, { post: Doc<'posts'> | null; note: string }[]> = true;"
    ),
    "a reference to one of two tables": snippet(
        SUBJECT + "const same: Same<typeof done.subject, Doc<'users'> | Doc<'cities'> | null> = true;"
    ),
    "references of references": snippet(
        MANAGER
        + "const home: Doc<'cities'> | null | undefined = done.author?.manager?.home;\n"
        + "const own: Id<'cities'> | null | undefined = done.author?.home;\n"
        + "const avatar: Id<'_storage'> | undefined = done.author?.avatar;"
    ),
    "four steps from table to table": snippet(
        'const done = await populate(ctx, "posts", posts, { "related.post": { author: { manager: { home: { country: true } } } } });\n'
        "const name: string | undefined = done[0]?.related[0]?.post?.author?.manager?.home?.country?.name;\n"
        "const title: string | undefined = done[0]?.related[0]?.post?.title;"
    ),
    "documents of several kinds": snippet(
        EVENTS
        + """
for (const event of done) {
  if (event.kind === "visit") {
    const same: Same<typeof event.who, Doc<"users"> | null> = true;
    const where: Id<"cities"> = event.where;
  } else if (event.kind === "retag") {
    const same: Same<typeof event.who, Doc<"tags"> | null> = true;
    const by: Same<typeof event.by, Doc<"users"> | null | undefined> = true;
  } else if (event.kind === "guest") {
    const who: string = event.who;
    const same: Same<typeof event.who, string> = true;
  } else {
    const cast: Id<"users">[] = event.cast;
    if (event.place.type === "city") {
      const same: Same<typeof event.place.city, Doc<"cities"> | null> = true;
    } else {
      const url: string = event.place.url;
    }
  }
}
"""
    ),
    "documents of a kind that is known": snippet(
        'const done = await populate(ctx, "events", visit, { who: { manager: true }, where: true });\n'
        "const kind: 'visit' = done.kind; const manager: Doc<'users'> | null | undefined = done.who?.manager;\n"
        "const where: Same<typeof done.where, Doc<'cities'> | null> = true;"
    ),
    "a list gives a list": snippet(
        'const done = await populate(ctx, "posts", posts, { author: true });\n'
        "const names: (string | undefined)[] = done.map((each) => each.author?.name);\n"
        "const same: Same<typeof done[number]['author'], Doc<'users'> | null> = true;"
    ),
    "a readonly list with gaps": snippet(
        'const some: readonly (Doc<"posts"> | null)[] = posts;\n'
        'const done = await populate(ctx, "posts", some, { author: true });\n'
        "const first = done[0]; const gap: null extends typeof first ? true : false = true;\n"
        "const name: string | undefined = first?.author?.name;"
    ),
    "a document or null": snippet(
        'const done = await populate(ctx, "posts", await ctx.db.get("posts", post._id), { author: true });\n'
        "const gap: null extends typeof done ? true : false = true;\n"
        "const name: string | undefined = done?.author?.name;"
    ),
    "additional fields stay": snippet(
        'const done = await populate(ctx, "posts", { ...post, rank: 1 }, { author: true });\n'
        "const rank: number = done.rank; const author: Doc<'users'> | null = done.author;"
    ),
    "fields of any type are no obstacle": snippet(
        AUTHOR + "const any: IsAny<typeof done.meta> = true; const known: IsAny<typeof done.author> = false;"
    ),
    "nothing to populate": snippet(
        'const done = await populate(ctx, "posts", post, {});\nconst same: Same<typeof done, Doc<"posts">> = true;'
    ),
    "in a mutation, and with a reader only": snippet(
        "declare const writing: MutationCtx; declare const db: DatabaseReader;\n"
        'const one = await populate(writing, "posts", post, { author: true });\n'
        'const two = await populate({ db }, "posts", post, { author: true });\n'
        "const names: (string | undefined)[] = [one.author?.name, two.author?.name];"
    ),
    "the type of the result has a name": snippet(
        'type Card = Populated<"posts", { author: { home: true }; tags: true }>;\n'
        'const card: Card = await populate(ctx, "posts", post, { author: { home: true }, tags: true });\n'
        "const city: Doc<'cities'> | null | undefined = card.author?.home;\n"
        "const same: Same<Card['tags'], (Doc<'tags'> | null)[]> = true;"
    ),
    "a specification of its own": snippet(
        'const done = await populate(ctx, "users", user, { manager: { manager: true } });\n'
        "const top: Doc<'users'> | null | undefined = done.manager?.manager;"
    ),
}

REFUSED = {
    "a reference without a look at null": snippet(AUTHOR + "const name: string = done.author.name;"),
    "a reference as the ID that it was": snippet(AUTHOR + "const id: Id<'users'> | null = done.author;"),
    "a reference as a document of another table": snippet(AUTHOR + "const city: Doc<'cities'> | null = done.author;"),
    "a field that was not populated": snippet(
        AUTHOR + "const reviewer: Doc<'users'> | null | undefined = done.reviewer;"
    ),
    "an optional reference as a required one": snippet(
        'const done = await populate(ctx, "posts", post, { reviewer: true });\n'
        "const reviewer: Doc<'users'> | null = done.reviewer;"
    ),
    "a name that is not there": snippet('await populate(ctx, "posts", post, { autor: true });'),
    "a name that is not there beside one that is": snippet(
        'await populate(ctx, "posts", post, { author: true, autor: true });'
    ),
    "a field that is no reference": snippet('await populate(ctx, "posts", post, { author: true, title: true });'),
    "the document's own ID": snippet('await populate(ctx, "posts", post, { author: true, _id: true });'),
    "an object that contains a reference": snippet(
        'await populate(ctx, "posts", post, { author: true, address: true });'
    ),
    "an array of objects": snippet('await populate(ctx, "posts", post, { author: true, related: true });'),
    "a path that is not there": snippet(
        'await populate(ctx, "posts", post, { "address.city": true, "address.town": true });'
    ),
    "a path to no reference": snippet(
        'await populate(ctx, "posts", post, { "address.city": true, "address.street": true });'
    ),
    "a path into a record": snippet('await populate(ctx, "posts", post, { roles: true, "roles.editor": true });'),
    "a field of any type": snippet('await populate(ctx, "posts", post, { author: true, meta: true });'),
    "a path into a field of any type": snippet(
        'await populate(ctx, "posts", post, { author: true, "meta.author": true });'
    ),
    "a file": snippet('await populate(ctx, "users", user, { manager: true, avatar: true });'),
    "false": snippet('await populate(ctx, "posts", post, { author: false });'),
    "a nested name that is not there": snippet(
        'await populate(ctx, "posts", post, { author: { manager: { home: true, hoem: true } } });'
    ),
    "a nested field that is no reference": snippet(
        'await populate(ctx, "posts", post, { author: { manager: true, name: true } });'
    ),
    "a nested document's own ID": snippet(
        'await populate(ctx, "posts", post, { author: { manager: true, _id: true } });'
    ),
    "more of one of two tables": snippet('await populate(ctx, "posts", post, { subject: { home: true } });'),
    "a field of one of two tables": snippet(
        SUBJECT + "const home: Id<'cities'> | null | undefined = done.subject?.home;"
    ),
    "a field of another table": snippet('await populate(ctx, "users", user, { author: true });'),
    "a document of another table": snippet('await populate(ctx, "posts", user, {});'),
    "a field of another kind of document": snippet('await populate(ctx, "events", visit, { who: true, cast: true });'),
    "a field of one kind without a look at the kind": snippet(
        EVENTS + "const where: Id<'cities'> | undefined = done[0]?.where;"
    ),
    "a plain string as a document": snippet(
        EVENTS
        + 'for (const event of done) if (event.kind === "guest") { const who: Doc<"users"> | Doc<"tags"> | null = event.who; }'
    ),
    "the name of a result with another specification": snippet(
        'type Card = Populated<"posts", { author: { home: true }; tags: true }>;\n'
        'const card: Card = await populate(ctx, "posts", post, { author: true, tags: true });'
    ),
}


SNIPPETS = COMPILES | REFUSED


def errors_of(type_checks: TypeChecks, name: str) -> tuple[str, ...]:
    return type_checks.errors(SNIPPETS)[name]


@pytest.mark.parametrize("name", COMPILES)
def test_compiles(type_checks: TypeChecks, name: str) -> None:
    assert errors_of(type_checks, name) == ()


@pytest.mark.parametrize("name", REFUSED)
def test_does_not_compile(type_checks: TypeChecks, name: str) -> None:
    assert errors_of(type_checks, name) != ()


class World:
    """Documents to refer to, as they are stored."""

    def __init__(self, project: Deployment) -> None:
        self.project = project
        self.norway = self.add("countries", name="Norway")
        self.oslo = self.add("cities", name="Oslo", country=self.norway)
        self.bergen = self.add("cities", name="Bergen", country=self.norway)
        self.ada = self.add("users", name="Ada", home=self.oslo)
        self.ben = self.add("users", name="Ben", home=None, manager=self.ada)
        self.eve = self.add("users", name="Eve", home=self.bergen, manager=self.ben)
        self.root = self.add("tags", label="root", parent=None)
        self.leaf = self.add("tags", label="leaf", parent=self.root)

    def add(self, table: str, **fields: Any) -> str:
        return self.project.insert(table, **fields)

    def lost(self, table: str, **fields: Any) -> str:
        """The ID of a document that no longer exists."""
        lost = self.add(table, **fields)
        self.project.delete(table, lost)
        return lost

    def post(self, **fields: Any) -> str:
        rest: Document = {
            "title": "On joins",
            "author": self.ada,
            "tags": [],
            "address": {"street": "Main", "city": self.oslo},
            "related": [],
            "roles": {},
            "subject": self.ada,
            "meta": None,
        }
        return self.add("posts", **(rest | fields))

    def get(self, identifier: str, **populated: Any) -> Document:
        document = self.project.get(identifier)
        assert document is not None
        return document | populated


def test_references_are_replaced(project: Deployment) -> None:
    world = World(project)
    one = world.post(reviewer=world.ben, tags=[world.leaf, world.root, world.leaf])
    two = world.post(author=world.eve, address={"street": "Side", "city": world.bergen}, meta={"author": world.ada})
    oslo, bergen = world.get(world.oslo), world.get(world.bergen)
    leaf, root = world.get(world.leaf), world.get(world.root)
    assert project.query("reading:feed") == [
        world.get(
            one,
            author=world.get(world.ada),
            reviewer=world.get(world.ben),
            tags=[leaf, root, leaf],
            address={"street": "Main", "city": oslo},
        ),
        world.get(two, author=world.get(world.eve), address={"street": "Side", "city": bergen}),
    ]


def test_absent_fields_stay_absent(project: Deployment) -> None:
    world = World(project)
    post_id = world.post()
    [received] = project.query("reading:feed")
    assert "reviewer" not in received
    assert "venue" not in project.query("reading:post", id=post_id)
    world.project.replace(post_id, world.get(post_id, venue={"name": "Hall", "city": world.oslo}))
    assert project.query("reading:post", id=post_id)["venue"].keys() == {"name", "city"}


def test_documents_that_no_longer_exist_are_null(project: Deployment) -> None:
    world = World(project)
    nobody = world.lost("users", name="Nobody", home=None)
    nowhere = world.lost("cities", name="Nowhere", country=world.norway)
    gone = world.lost("tags", label="gone", parent=None)
    world.post(
        author=nobody, reviewer=nobody, tags=[gone, world.leaf, gone], address={"street": "Main", "city": nowhere}
    )
    [received] = project.query("reading:feed")
    assert (received["author"], received["reviewer"]) == (None, None)
    assert received["tags"] == [None, world.get(world.leaf), None]
    assert received["address"] == {"street": "Main", "city": None}


def test_references_of_references(project: Deployment) -> None:
    world = World(project)
    other = world.post(title="Other", author=world.ben)
    lost = world.lost("posts", **{k: v for k, v in world.get(other).items() if not k.startswith("_")})
    post_id = world.post(
        author=world.eve,
        tags=[world.root, world.leaf],
        venue={"name": "Hall", "city": world.bergen, "host": world.ben},
        related=[{"post": other, "note": "before"}, {"post": lost, "note": "gone"}, {"post": other, "note": "again"}],
        roles={"editor": world.eve, "critic": world.ben},
        subject=world.bergen,
    )
    ada, ben, root = world.get(world.ada), world.get(world.ben), world.get(world.root)
    norwegian = world.get(world.bergen, country=world.get(world.norway))
    related = world.get(other, author=ben, address={"street": "Main", "city": world.get(world.oslo)})
    assert project.query("reading:post", id=post_id) == world.get(
        post_id,
        author=world.get(world.eve, manager=world.get(world.ben, manager=ada), home=norwegian),
        tags=[root, world.get(world.leaf, parent=root)],
        venue={"name": "Hall", "city": norwegian, "host": ben},
        related=[
            {"post": related, "note": "before"},
            {"post": None, "note": "gone"},
            {"post": related, "note": "again"},
        ],
        roles={"editor": world.get(world.eve, home=world.get(world.bergen)), "critic": ben},
        subject=world.get(world.bergen),
    )


def test_a_reference_to_either_of_two_tables(project: Deployment) -> None:
    world = World(project)
    for subject in (world.ada, world.oslo):
        assert project.query("reading:post", id=world.post(subject=subject))["subject"] == world.get(subject)
    lost = world.lost("cities", name="Lost", country=world.norway)
    assert project.query("reading:post", id=world.post(subject=lost))["subject"] is None


def test_null_gives_null(project: Deployment) -> None:
    world = World(project)
    post_id = world.post()
    project.delete("posts", post_id)
    assert project.query("reading:post", id=post_id) is None
    assert project.query("reading:feed") == []


def test_each_kind_of_document_has_its_own_references(project: Deployment) -> None:
    world = World(project)
    visit = world.add("events", kind="visit", who=world.ada, where=world.oslo)
    retag = world.add("events", kind="retag", who=world.leaf, by=world.ben)
    unknown = world.add("events", kind="retag", who=world.root)
    guest = world.add("events", kind="guest", who="Zed")
    city = {"type": "city", "city": world.bergen}
    show = world.add("events", kind="show", place=city, cast=[world.eve, world.ada])
    online = world.add("events", kind="show", place={"type": "online", "url": "x"}, cast=[])
    norway = world.get(world.norway)
    assert project.query("reading:timeline") == [
        world.get(visit, who=world.get(world.ada), where=world.get(world.oslo, country=norway)),
        world.get(retag, who=world.get(world.leaf), by=world.get(world.ben)),
        world.get(unknown, who=world.get(world.root)),
        world.get(guest),
        world.get(
            show,
            place={"type": "city", "city": world.get(world.bergen, country=norway)},
            cast=[world.get(world.eve, manager=world.get(world.ben)), world.get(world.ada)],
        ),
        world.get(online),
    ]
    assert project.query("reading:visits") == ["Ada in Oslo, Norway"]


def test_a_string_that_reads_like_an_id_stays_a_string(project: Deployment) -> None:
    world = World(project)
    guests = [world.add("events", kind="guest", who=who) for who in (world.ada, world.leaf, world.oslo)]
    assert project.query("reading:timeline") == [world.get(guest) for guest in guests]
    place = {"type": "online", "url": world.oslo}
    show = world.add("events", kind="show", place=place, cast=[])
    assert project.query("reading:timeline")[-1] == world.get(show)


def test_additional_fields_are_kept(project: Deployment) -> None:
    world = World(project)
    world.post(author=world.ben)
    world.post(author=world.lost("users", name="Nobody", home=None))
    assert project.query("reading:ranked") == [{"rank": 1, "author": None}, {"rank": 2, "author": "Ben"}]


def test_mutations_see_what_they_have_written(project: Deployment) -> None:
    world = World(project)
    received = project.mutation("reading:rename", id=world.ada, name="Lady Ada")
    assert received == [world.get(world.ben, manager=world.get(world.ada))]
    assert received[0]["manager"]["name"] == "Lady Ada"


def test_no_document_is_read_twice(project: Deployment) -> None:
    world = World(project)
    users = [world.ada, world.ben, world.eve]
    for number in range(40):
        world.post(author=users[number % 3], reviewer=world.ada, tags=[world.leaf, world.root, world.leaf])
    with project.trace() as work:
        project.query("reading:feed")
    assert work.documents_read <= 40 + 3 + 2 + 1


def test_no_document_is_read_twice_at_any_depth(project: Deployment) -> None:
    world = World(project)
    other = world.post(author=world.eve)
    post_id = world.post(
        author=world.eve,
        tags=[world.leaf, world.root] * 5,
        venue={"name": "Hall", "city": world.bergen, "host": world.ada},
        related=[{"post": other, "note": str(number)} for number in range(10)],
        roles={f"r{number}": [world.ada, world.ben, world.eve][number % 3] for number in range(12)},
        subject=world.oslo,
    )
    with project.trace() as work:
        project.query("reading:post", id=post_id)
    # The post, the other one, three users, two cities, one country, two tags
    assert work.documents_read <= 10


def test_only_what_was_asked_for_is_read(project: Deployment) -> None:
    world = World(project)
    world.post(author=world.ada, roles={"editor": world.eve}, related=[{"post": world.post(), "note": ""}])
    with project.trace() as work:
        project.query("reading:ranked")
    assert work.documents_read <= 2 + 1


def test_reads_do_not_wait_for_one_another(project: Deployment) -> None:
    world = World(project)
    for number in range(30):
        manager = world.add("users", name=f"m{number}", home=None)
        actor = world.add("users", name=f"a{number}", home=None, manager=manager)
        world.add("events", kind="show", place={"type": "online", "url": ""}, cast=[actor, world.ada])
    with project.trace() as work:
        project.query("reading:timeline")
    assert work.round_trips <= 10, "30 documents should not take more round trips than one does"


@pytest.mark.parametrize("seed", range(4))
def test_random_documents(project: Deployment, seed: int) -> None:
    chance = random.Random(seed)
    world = World(project)
    users = [world.ada, world.ben, world.eve, world.lost("users", name="x", home=None)]
    cities = [world.oslo, world.bergen, world.lost("cities", name="x", country=world.norway)]
    tags = [world.root, world.leaf, world.lost("tags", label="x", parent=None)]

    def found(identifier: str | None, **paths: Any) -> Document | None:
        """The document, in which each of these references is replaced in turn."""
        document = None if identifier is None else project.get(identifier)
        for name, nested in paths.items():
            if document is not None and name in document:
                document[name] = found(document[name], **nested)
        return document

    posts: list[str] = []
    for _ in range(8):
        fields: Document = {
            "author": chance.choice(users),
            "tags": chance.choices(tags, k=chance.randrange(4)),
            "address": {"street": "s", "city": chance.choice(cities)},
            "related": [{"post": each, "note": "n"} for each in chance.sample(posts, min(2, len(posts)))],
            "roles": {name: chance.choice(users) for name in chance.sample("abc", chance.randrange(4))},
            "subject": chance.choice(users + cities),
        }
        if chance.random() < 0.5:
            fields["reviewer"] = chance.choice(users)
        if chance.random() < 0.7:
            host = {"host": chance.choice(users)} if chance.random() < 0.5 else {}
            fields["venue"] = {"name": "v", "city": chance.choice(cities), **host}
        posts.append(world.post(**fields))
    assert project.query("reading:feed") == [
        found(post, author={}, reviewer={})
        | {
            "tags": [found(tag) for tag in stored["tags"]],
            "address": stored["address"] | {"city": found(stored["address"]["city"])},
        }
        for post in posts
        for stored in [world.get(post)]
    ]
    for post in posts:
        stored = world.get(post)
        expected = found(post, author={"manager": {"manager": {}}, "home": {"country": {}}}, subject={})
        assert expected is not None
        expected["tags"] = [found(tag, parent={}) for tag in stored["tags"]]
        expected["roles"] = {name: found(user, home={}) for name, user in stored["roles"].items()}
        for each in expected["related"]:
            each["post"] = found(each["post"], author={})
            each["post"]["address"]["city"] = found(each["post"]["address"]["city"])
        if "venue" in stored:
            venue = expected["venue"]
            venue["city"] = found(venue["city"], country={})
            if "host" in venue:
                venue["host"] = found(venue["host"])
        assert project.query("reading:post", id=post) == expected

"""Addresses that keep working when pages are renamed, merged and removed, and when others take them over."""

import random
from typing import Any

import pytest

from convex_evals.pipeline.grading.kit import Deployment, GivenDeployment

TITLES = ("Foo", "Foo!", "Bar", "Bar 2", "Big Foo")
SLUGS = ("foo", "foo-2", "foo-3", "bar", "bar-2", "bar-2-2", "big-foo", "big-foo-2", "nowhere")


def slug_of(title: str) -> str:
    return "".join(letter if letter.isalnum() else " " for letter in title.lower()).strip().replace(" ", "-")


class Wiki:
    """A deployment and a model of it: pages by ID, oldest first, and slugs that were given up, in this order."""

    def __init__(self, deployment: Deployment, seed: int = 0) -> None:
        self.deployment, self.chance, self.done = deployment, random.Random(seed), list[str]()
        self.pages: dict[str, dict[str, str]] = {}
        self.former: list[tuple[str, str]] = []

    def free(self, title: str, page: str | None = None) -> str:
        taken = {each["slug"] for id, each in self.pages.items() if id != page}
        base = slug_of(title)
        return next(slug for slug in [base, *(f"{base}-{number}" for number in range(2, 99))] if slug not in taken)

    def leads_to(self, slug: str) -> str | None:
        holders = [page for page, each in self.pages.items() if each["slug"] == slug]
        former = [page for given_up, page in self.former if given_up == slug]
        return next(iter(holders or former[-1:]), None)

    # ------------------------------------------------------------------ what people do

    def create(self, title: str, body: str = "") -> str:
        slug = self.free(title)
        created = self.deployment.mutation("pages:create", title=title, body=body)
        assert created == {"id": created.get("id"), "slug": slug}, self.what()
        self.pages[created["id"]] = {"title": title, "slug": slug, "body": body}
        self.done.append(f"create {slug}")
        return str(created["id"])

    def rename(self, page: str, title: str) -> None:
        before, slug = self.pages[page]["slug"], self.free(title, page)
        renamed = self.deployment.mutation("pages:rename", pageId=page, title=title)
        assert renamed == {"id": page, "slug": slug}, self.what()
        if slug != before:
            self.former.append((before, page))
        self.pages[page] |= {"title": title, "slug": slug}
        self.done.append(f"rename {before} to {slug}")

    def edit(self, page: str, body: str) -> None:
        assert self.deployment.mutation("pages:edit", pageId=page, body=body) is None
        self.pages[page]["body"] = body

    def remove(self, page: str) -> None:
        assert self.deployment.mutation("pages:remove", pageId=page) is None
        self.done.append(f"remove {self.pages.pop(page)['slug']}")
        self.former = [(slug, each) for slug, each in self.former if each != page]

    def merge(self, page: str, into: str) -> None:
        assert self.deployment.mutation("pages:merge", pageId=page, into=into) is None
        self.done.append(f"merge {self.pages[page]['slug']} into {self.pages[into]['slug']}")
        self.former = [(slug, into if each == page else each) for slug, each in self.former]
        self.former.append((self.pages.pop(page)["slug"], into))

    def act(self) -> None:
        pages = [*self.pages]
        names = ["create", "create", "rename", "rename", "rename", "rename", "edit", "remove", "merge", "merge"]
        name = self.chance.choice(names if len(pages) > 2 else names[:5])
        page, title = self.chance.choice(pages or [""]), self.chance.choice(TITLES)
        if name == "create" or not pages:
            self.create(title, self.body())
        elif name == "rename":
            self.rename(page, title)
        elif name == "edit":
            self.edit(page, self.body())
        elif name == "remove":
            self.remove(page)
        else:
            self.merge(page, self.chance.choice([each for each in pages if each != page]))

    def body(self) -> str:
        return " and ".join(f"[[{self.chance.choice(SLUGS)}]]" for _ in range(3))

    # ------------------------------------------------------------------ what it must show

    def check(self) -> None:
        for slug in SLUGS:
            page = self.leads_to(slug)
            expected = {"id": page, **self.pages[page]} if page else None
            assert self.deployment.query("pages:bySlug", slug=slug) == expected, f"{slug} {self.what()}"

    def check_links(self) -> None:
        links = {page: self.links(page) for page in self.pages}
        for page, expected in links.items():
            assert self.deployment.query("links:from", pageId=page) == expected, f"links:from {self.what()}"
            titles = [
                self.pages[other]["title"]
                for other, found in links.items()
                if page in [link["pageId"] for link in found]
            ]
            assert self.deployment.query("links:to", pageId=page) == titles, f"links:to {self.what()}"

    def links(self, page: str) -> list[dict[str, Any]]:
        slugs = [part.strip("[]") for part in self.pages[page]["body"].split(" and ") if part]
        return [{"slug": slug, "pageId": self.leads_to(slug)} for slug in dict.fromkeys(slugs)]

    def what(self) -> str:
        return f"after {', '.join(self.done)}"


@pytest.mark.parametrize("seed", range(3))
def test_slugs_lead_to_the_page_that_holds_or_last_held_them(given: GivenDeployment, seed: int) -> None:
    wiki = Wiki(given, seed)
    for title in TITLES:
        wiki.create(title, wiki.body())
    wiki.deployment = given.upgrade()
    wiki.check()
    for step in range(30):
        wiki.act()
        wiki.check()
        if step % 3 == 0:
            wiki.check_links()


def test_what_pages_held_at_the_deployment_is_known(given: GivenDeployment) -> None:
    wiki = Wiki(given)
    foo, bar = wiki.create("Foo"), wiki.create("Bar", "[[foo]]")
    wiki.rename(foo, "Big Foo")
    wiki.former = []
    wiki.deployment = project = given.upgrade()
    wiki.check()
    assert project.query("pages:bySlug", slug="foo") is None
    wiki.rename(foo, "Foo")
    wiki.rename(bar, "Big Foo")
    wiki.check()
    wiki.remove(bar)
    wiki.check()
    wiki.check_links()
    assert project.query("pages:bySlug", slug="big-foo")["id"] == foo


def test_a_slug_that_was_taken_over_goes_back_when_its_last_holder_is_removed(project: Deployment) -> None:
    wiki = Wiki(project)
    first, second = wiki.create("Foo"), wiki.create("Bar")
    wiki.rename(first, "Big Foo")
    wiki.rename(second, "Foo")
    wiki.rename(second, "Bar 2")
    third = wiki.create("Foo")
    wiki.check()
    wiki.remove(third)
    assert project.query("pages:bySlug", slug="foo")["id"] == second
    wiki.remove(second)
    assert project.query("pages:bySlug", slug="foo")["id"] == first
    wiki.check()
    wiki.remove(first)
    assert project.query("pages:bySlug", slug="foo") is None
    wiki.check()


def test_a_merged_page_keeps_its_place_in_the_history(project: Deployment) -> None:
    wiki = Wiki(project)
    early, late, target = wiki.create("Foo"), wiki.create("Bar"), wiki.create("Big Foo", "[[foo]] and [[bar]]")
    wiki.rename(early, "Bar 2")
    wiki.rename(late, "Foo")
    wiki.rename(late, "Bar")
    wiki.merge(early, target)
    wiki.check()
    assert project.query("pages:bySlug", slug="foo")["id"] == late
    wiki.remove(late)
    assert project.query("pages:bySlug", slug="foo")["id"] == target
    wiki.check()
    last = wiki.create("Bar")
    wiki.merge(target, last)
    wiki.check()
    wiki.check_links()
    assert [project.query("pages:bySlug", slug=slug)["id"] for slug in ("foo", "bar-2", "big-foo")] == [last] * 3
    wiki.remove(last)
    wiki.check()


def test_a_page_keeps_its_slug_when_the_new_title_has_the_same(project: Deployment) -> None:
    wiki = Wiki(project)
    foo, other = wiki.create("Foo"), wiki.create("Foo")
    wiki.rename(foo, "Foo!")
    wiki.rename(other, "Foo!")
    wiki.check()
    wiki.rename(foo, "Bar")
    wiki.rename(other, "Foo")
    wiki.check()
    wiki.rename(foo, "Foo")
    wiki.rename(foo, "Bar")
    wiki.check()


def test_pages_that_cannot_be_merged_stay_as_they_are(project: Deployment) -> None:
    wiki = Wiki(project)
    foo, bar, gone = wiki.create("Foo"), wiki.create("Bar"), wiki.create("Big Foo")
    wiki.rename(foo, "Foo 2")
    wiki.rename(gone, "Foo 3")
    wiki.remove(gone)
    for page, into, code in (
        (foo, foo, "SAME_PAGE"),
        (foo, gone, "NOT_FOUND"),
        (gone, foo, "NOT_FOUND"),
    ):
        with project.fails(data={"code": code}):
            project.mutation("pages:merge", pageId=page, into=into)
        wiki.check()
    for arguments in ({"pageId": foo}, {"into": bar}, {"pageId": foo, "into": "bar"}, {"pageId": None, "into": bar}):
        with project.fails("ArgumentValidationError"):
            project.mutation("pages:merge", arguments)
    for name, more in (("pages:rename", {"title": "a"}), ("pages:edit", {"body": "a"}), ("pages:remove", {})):
        with project.fails(data={"code": "NOT_FOUND"}):
            project.mutation(name, more, pageId=gone)
    wiki.check()


def test_a_slug_with_a_long_history_is_found_with_few_reads(project: Deployment) -> None:
    wiki = Wiki(project)
    project.insert_many("pages", [{"title": "x", "slug": f"x{number}", "body": ""} for number in range(200)])
    pages = [wiki.create("Bar") for _ in range(12)]
    for page in pages:
        wiki.rename(page, "Foo")
        wiki.rename(page, "Big Foo")
    for page in pages[6:]:
        wiki.remove(page)
    wiki.merge(pages[2], pages[5])
    wiki.merge(pages[5], pages[1])
    for slug, found in (("foo", pages[1]), ("bar", pages[0]), ("x7", None)):
        with project.trace() as work:
            page = project.query("pages:bySlug", slug=slug)
        assert found is None or page["id"] == found
        assert work.documents_read <= 5, f"it read {work.documents_read} documents for the slug {slug}"
    wiki.check()


def test_the_functions_are_the_old_ones_and_merge(project: Deployment, given: GivenDeployment) -> None:
    functions = project.functions()
    for name, spec in given.functions().items():
        assert name in functions, f"{name} is gone"
        new = functions[name]
        assert (new.kind, new.visibility, new.arguments) == (spec.kind, spec.visibility, spec.arguments), name
    public = {name for name, spec in functions.items() if spec.is_public}
    assert public == {*(name for name, spec in given.functions().items() if spec.is_public), "pages:merge"}

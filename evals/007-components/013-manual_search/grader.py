"""Manuals in the RAG component. The embedding service is this grader: a text is embedded as its counted words."""

# ruff: noqa: E501 (snippets of TypeScript)

import math
import random
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from convex_evals.pipeline.grading.kit import Deployment, Reply, TypeChecks, WebRequest, WebServer, wait_until

PUBLIC = {
    "manuals:publish": "mutation",
    "manuals:withdraw": "mutation",
    "manuals:stateOf": "query",
    "manuals:list": "query",
    "manuals:read": "query",
    "manuals:search": "action",
}
DIMENSION = 128
LANGUAGES = ["en", "de"]
AUDIENCES = ["customer", "technician"]
WORDS = ["pump", "valve", "seal", "lamp", "wire", "belt", "gear", "hose"]

Row = dict[str, Any]


class Service:
    """Embeds texts. What contains the word "slow" waits until it may go on, what contains "broken" is refused."""

    def __init__(self) -> None:
        self.words: dict[str, int] = {}
        self.inputs: list[list[str]] = []
        self.problems: list[str] = []
        self.gates: dict[str, threading.Event] = {}

    def embed(self, text: str) -> list[float]:
        vector = [0.0] * DIMENSION
        for word in text.lower().split():
            vector[self.words.setdefault(word, len(self.words))] += 1
        return vector

    def cosine(self, one: str, other: str) -> float:
        first, second = self.embed(one), self.embed(other)
        product = sum(a * b for a, b in zip(first, second, strict=True))
        return product / math.hypot(*first) / math.hypot(*second)

    def reply(self, request: WebRequest) -> Reply:
        body = request.json()
        texts = [body["input"]] if isinstance(body["input"], str) else list(body["input"])
        if body["model"] != "words-1" or len(texts) > 100:
            self.problems.append(f"a request for {len(texts)} texts of the model {body['model']}")
        if request.headers.get("authorization") != "Bearer sesame":
            self.problems.append("a request without the key")
            return Reply.json({"error": {"message": "no", "type": "error", "code": "401"}}, 401)
        self.inputs.append(texts)
        for word, gate in list(self.gates.items()):
            if any(word in text.split() for text in texts):
                gate.wait(20)
        if any("broken" in text.split() for text in texts):
            return Reply.json({"error": {"message": "no", "type": "error", "code": "400"}}, 400)
        data = [{"object": "embedding", "index": n, "embedding": self.embed(text)} for n, text in enumerate(texts)]
        usage = {"prompt_tokens": len(texts), "total_tokens": len(texts)}
        return Reply.json({"object": "list", "data": data, "model": "words-1", "usage": usage})

    @contextmanager
    def holding(self, word: str) -> Iterator[None]:
        """In the block, requests with this word get no reply."""
        self.gates[word] = threading.Event()
        try:
            yield
        finally:
            self.gates.pop(word).set()

    def texts(self) -> list[str]:
        return [text for texts in list(self.inputs) for text in texts]

    def asked_for(self, word: str) -> bool:
        return any(word in text.split() for text in self.texts())


def manual(slug: str, *texts: str, **more: Any) -> Row:
    sections = [{"heading": f"Part {slug}{n}", "text": text} for n, text in enumerate(texts, 1)]
    usual = {"shop": "acme", "title": f"The {slug}", "language": "en", "audience": "customer", "importance": 1}
    return {**usual, "slug": slug, "sections": sections, **more}


class Library:
    """What has to be current, and what searches have to find."""

    def __init__(self, project: Deployment, service: Service) -> None:
        self.project, self.service = project, service
        self.current: dict[tuple[str, str], Row] = {}
        """In the order in which they became current."""

    def publish(self, *manuals: Row) -> list[str]:
        """One after the other, waiting for each."""
        versions = []
        for each in manuals:
            versions.append(self.project.mutation("manuals:publish", each))
            self.settle()
            self.is_current(each)
        assert [self.state(version) for version in versions] == ["current"] * len(versions)
        return versions

    def is_current(self, each: Row) -> None:
        key = each["shop"], each["slug"]
        if self.current.get(key) != each:
            self.current.pop(key, None)
            self.current[key] = each

    def settle(self) -> None:
        self.project.advance(seconds=1)

    def withdraw(self, slug: str, shop: str = "acme") -> bool:
        self.current.pop((shop, slug), None)
        had: bool = self.project.mutation("manuals:withdraw", shop=shop, slug=slug)
        return had

    def state(self, version: str) -> str:
        received: str = self.project.query("manuals:stateOf", version=version)
        return received

    def search(self, text: str, **more: Any) -> list[Row]:
        usual = {"shop": "acme", "reader": "technician", "by": "meaning", "limit": 20, "around": 0}
        received: list[Row] = self.project.action("manuals:search", {**usual, "text": text, **more})
        return received

    def found(self, text: str, **more: Any) -> list[tuple[str, int]]:
        return [(passage["slug"], passage["found"]) for passage in self.search(text, **more)]

    def check(self, text: str, **more: Any) -> None:
        """By meaning: the scores are right, and the best are there. Which of equal ones come first is open."""
        wanted = {"shop": "acme", "reader": "technician", "limit": 20, "around": 0, **more}
        scores: dict[tuple[str, int], float] = {}
        for (shop, slug), each in self.current.items():
            readable = wanted["reader"] == "technician" or each["audience"] == "customer"
            spoken = wanted.get("language", each["language"]) == each["language"]
            if shop == wanted["shop"] and readable and spoken:
                for number, section in enumerate(each["sections"], 1):
                    score = each["importance"] * self.service.cosine(text, section["text"])
                    scores[slug, number] = score
        scores = {key: score for key, score in scores.items() if score >= wanted.get("atLeast", -1)}
        best = sorted(scores.values(), reverse=True)[: wanted["limit"]]
        passages = self.search(text, **more)
        assert [passage["score"] for passage in passages] == pytest.approx(best, abs=1e-4)
        keys = [(passage["slug"], passage["found"]) for passage in passages]
        assert set(keys) <= set(scores)
        assert len(set(keys)) == len(keys)
        assert [passage["score"] for passage in passages] == pytest.approx([scores[key] for key in keys], abs=1e-4)
        self.check_passages(passages, wanted["around"], wanted["shop"])

    def check_passages(self, passages: list[Row], around: int, shop: str = "acme") -> None:
        for passage in passages:
            each = self.current[shop, passage["slug"]]
            others = {other["found"] for other in passages if other["slug"] == passage["slug"]} - {passage["found"]}
            numbers = context(passage["found"], others, around, len(each["sections"]))
            sections = [{"number": number, **each["sections"][number - 1]} for number in numbers]
            about = {key: each[key] for key in ("slug", "title", "language", "audience")}
            score = passage["score"]
            assert passage == {**about, "score": score, "found": passage["found"], "sections": sections}

    def check_list(self, size: int = 10, shop: str = "acme") -> None:
        fields = ("slug", "title", "language", "audience", "importance")
        expected = [
            {field: each[field] for field in fields}
            for (owner, _), each in reversed(self.current.items())
            if owner == shop
        ]
        pages = self.project.pages("manuals:list", num_items=size, shop=shop)
        assert [item for page in pages for item in page.items] == expected

    def read(self, slug: str, size: int = 100, shop: str = "acme") -> list[list[Row]]:
        pages = self.project.pages("manuals:read", num_items=size, shop=shop, slug=slug)
        return [page.items for page in pages]

    def check_component(self) -> None:
        """It holds what is current and nothing else, after a minute."""
        self.project.advance(seconds=60)
        texts = sorted(section["text"] for each in self.current.values() for section in each["sections"])
        assert sorted(row["text"] for row in self.project.documents("content", component="rag")) == texts
        assert len(self.project.documents("chunks", component="rag")) == len(texts)
        entries = sorted(row["key"] for row in self.project.documents("entries", component="rag"))
        assert entries == sorted(slug for _, slug in self.current)


def context(found: int, others: set[int], around: int, last: int) -> list[int]:
    """What comes with a section: what is near enough, and not nearer to the one after it, or behind the one before."""
    before = max((other for other in others if other < found), default=0)
    after = min((other for other in others if other > found), default=math.inf)
    first = max(found - around, before + 1)
    return [
        number for number in range(first, min(found + around, last) + 1) if number <= found or number < after - around
    ]


@pytest.fixture
def service(project: Deployment, web_server: WebServer) -> Iterator[Service]:
    made = Service()
    url = web_server.reply("POST", "/v1/embeddings", made.reply)
    project.env.set(EMBEDDINGS_URL=url.removesuffix("/embeddings"), EMBEDDINGS_KEY="sesame")
    yield made
    for gate in made.gates.values():
        gate.set()
    assert made.problems == []


@pytest.fixture
def library(project: Deployment, service: Service) -> Library:
    return Library(project, service)


def test_a_manual_is_found_by_meaning_when_it_is_indexed(library: Library, service: Service) -> None:
    (version,) = library.publish(manual("pump", "clean the pump", "close the valve", "open"))
    assert sorted(service.texts()) == ["clean the pump", "close the valve", "open"]
    (passage,) = library.search("pump clean", limit=1)
    assert passage.pop("score") == pytest.approx(math.sqrt(2 / 3), abs=1e-4)
    section = {"number": 1, "heading": "Part pump1", "text": "clean the pump"}
    about = {"slug": "pump", "title": "The pump", "language": "en", "audience": "customer"}
    assert passage == {**about, "found": 1, "sections": [section]}
    assert service.texts()[3:] == ["pump clean"]
    library.check("close valve the", around=1)
    library.check_list()
    assert library.state(version) == "current"


@pytest.mark.parametrize("seed", range(2))
def test_searches_by_meaning_find_what_is_current_whatever_happens(library: Library, seed: int) -> None:
    chance = random.Random(seed)

    def texts() -> list[str]:
        return [" ".join(chance.choices(WORDS, k=chance.randrange(1, 5))) for _ in range(chance.randrange(1, 7))]

    for _ in range(5):
        slug, step = chance.choice("abc"), chance.random()
        if step < 0.75 or ("acme", slug) not in library.current:
            library.publish(
                manual(
                    slug,
                    *texts(),
                    language=chance.choice(LANGUAGES),
                    audience=chance.choice(AUDIENCES),
                    importance=chance.choice([1, 0.75, 0.3]),
                )
            )
        else:
            assert library.withdraw(slug)
        asked: Row = {
            "limit": chance.randrange(1, 9),
            "around": chance.randrange(4),
            "reader": chance.choice(AUDIENCES),
        }
        if chance.random() < 0.5:
            asked["language"] = chance.choice(LANGUAGES)
        if chance.random() < 0.5:
            asked["atLeast"] = chance.choice([0.21, 0.43])
        library.check(" ".join(chance.choices(WORDS, k=3)), **asked)
    library.check_list(2)
    for slug in "abc":
        each = library.current.get(("acme", slug))
        expected = [] if each is None else [{"number": n, **row} for n, row in enumerate(each["sections"], 1)]
        assert [section for page in library.read(slug) for section in page] == expected
    library.check_component()


def test_language_and_audience_have_to_fit_both(library: Library) -> None:
    for language in LANGUAGES:
        for audience in AUDIENCES:
            library.publish(manual(f"{language}-{audience}", "pump pump", language=language, audience=audience))
    everything = ["de-customer", "de-technician", "en-customer", "en-technician"]
    for by, asked, slugs in (
        ("meaning", {"reader": "customer", "language": "en"}, ["en-customer"]),
        ("meaning", {"reader": "technician", "language": "de"}, ["de-customer", "de-technician"]),
        ("meaning", {"reader": "customer"}, ["de-customer", "en-customer"]),
        ("meaning", {"reader": "technician"}, everything),
        ("words", {"reader": "customer", "language": "de"}, ["de-customer"]),
        ("words", {"reader": "technician", "language": "en"}, ["en-customer", "en-technician"]),
        ("words", {"reader": "customer"}, ["de-customer", "en-customer"]),
        ("words", {"reader": "technician"}, everything),
    ):
        assert sorted(library.found("pump", by=by, **asked)) == [(slug, 1) for slug in slugs]


def test_what_a_reader_may_not_find_takes_nobodys_place(library: Library) -> None:
    library.publish(
        manual("inside", *["pump valve"] * 25, audience="technician"),
        manual("german", *["pump valve"] * 25, language="de"),
        manual("outside", "pump lamp", "pump lamp wire", "pump lamp wire belt"),
    )
    for by in ("meaning", "words"):
        found = library.found("pump", reader="customer", language="en", limit=2, by=by)
        assert len(found) == 2
        assert {slug for slug, _ in found} == {"outside"}
    library.check("pump valve", reader="customer", language="en", limit=2)


def test_the_score_is_multiplied_by_the_importance(library: Library) -> None:
    library.publish(manual("minor", "pump", importance=0.4), manual("major", "pump valve"), manual("full", "lamp"))
    library.check("pump")
    assert library.found("pump", limit=2) == [("major", 1), ("minor", 1)]


def test_passages_have_the_sections_around_and_share_none(library: Library) -> None:
    texts = [f"filler{number}" for number in range(1, 13)]
    for number, text in ((4, "pump pump"), (7, "pump valve"), (8, "pump valve seal")):
        texts[number - 1] = text
    library.publish(manual("long", *texts), manual("short", "pump"))

    def numbers(around: int, limit: int) -> list[list[int]]:
        passages = [each for each in library.search("pump", around=around, limit=limit) if each["slug"] == "long"]
        return [[section["number"] for section in passage["sections"]] for passage in passages]

    assert numbers(0, 4) == [[4], [7], [8]]
    assert numbers(1, 3) == [[3, 4, 5], [6, 7, 8]]
    assert numbers(1, 4) == [[3, 4, 5], [6, 7], [8, 9]]
    assert numbers(2, 4) == [[2, 3, 4], [5, 6, 7], [8, 9, 10]]
    assert numbers(5, 2) == [[1, 2, 3, 4, 5, 6, 7, 8, 9]]
    assert numbers(5, 4) == [[1, 2, 3, 4], [5, 6, 7], [8, 9, 10, 11, 12]]


def test_a_search_by_words_looks_at_headings_and_texts_and_requests_nothing(library: Library, service: Service) -> None:
    sections = [
        {"heading": "Cleaning", "text": "open the housing"},
        {"heading": "Assembly", "text": "cleaning is not necessary"},
        {"heading": "Storage", "text": "keep it dry"},
    ]
    library.publish(manual("pump", sections=sections), manual("lamp", "dry it", importance=0.2))
    count = len(service.inputs)
    passages = library.search("cleaning", by="words", around=0)
    assert sorted(passage["found"] for passage in passages) == [1, 2]
    assert [passage["score"] for passage in passages] == [None, None]
    library.check_passages(passages, 0)
    passages = library.search("assembly", by="words", around=1, atLeast=0.9)
    assert [passage["found"] for passage in passages] == [2]
    library.check_passages(passages, 1)
    assert sorted(library.found("dry", by="words")) == [("lamp", 1), ("pump", 3)]
    assert len(library.found("dry", by="words", limit=1)) == 1
    assert library.found("housing", by="words", language="de") == []
    assert library.found("screwdriver", by="words") == []
    assert len(service.inputs) == count


def test_a_later_version_takes_the_place_of_the_current_one(library: Library) -> None:
    (first,) = library.publish(manual("pump", "pump", "valve", "seal"))
    library.publish(manual("lamp", "lamp pump"))
    (second,) = library.publish(
        manual("pump", "pump lamp", "wire", title="The new pump", language="de", importance=0.5)
    )
    assert [library.state(version) for version in (first, second)] == ["replaced", "current"]
    library.check("pump valve", around=1)
    assert library.found("seal", by="words") == []
    assert library.found("wire", by="words") == [("pump", 2)]
    assert library.found("pump", language="en") == [("lamp", 1)]
    assert [section["text"] for page in library.read("pump") for section in page] == ["pump lamp", "wire"]
    library.check_list()
    library.check_component()


def test_the_current_version_is_found_while_a_later_one_is_indexed(library: Library, service: Service) -> None:
    (first,) = library.publish(manual("pump", "pump"))
    with service.holding("slow"):
        second = library.project.mutation("manuals:publish", manual("pump", "slow valve"))
        wait_until(lambda: service.asked_for("slow"), "the request for the second version")
        assert [library.state(version) for version in (first, second)] == ["current", "indexing"]
        library.check("pump")
        library.check_list()
        assert [section["text"] for page in library.read("pump") for section in page] == ["pump"]
    wait_until(lambda: library.state(second) == "current", "the second version")
    library.is_current(manual("pump", "slow valve"))
    assert library.state(first) == "replaced"
    library.check("valve")
    library.check_component()


def test_the_version_that_was_published_last_wins_in_whatever_order_the_service_responds(
    library: Library, service: Service
) -> None:
    publish = library.project.mutation
    (first,) = library.publish(manual("pump", "pump"))
    with service.holding("slow"):
        second = publish("manuals:publish", manual("pump", "slow valve", "slow"))
        wait_until(lambda: service.asked_for("slow"), "the request for the second version")
        third = publish("manuals:publish", manual("pump", "lamp", "seal"))
        assert library.state(second) == "replaced"
        wait_until(lambda: library.state(third) == "current", "the third version")
        library.is_current(manual("pump", "lamp", "seal"))
        states = [library.state(version) for version in (first, second, third)]
        assert states == ["replaced", "replaced", "current"]
    library.check_component()
    library.check("valve lamp slow")
    states = [library.state(version) for version in (first, second, third)]
    assert states == ["replaced", "replaced", "current"]
    library.check_list()


def test_a_version_that_is_withdrawn_while_it_is_indexed_never_becomes_current(
    library: Library, service: Service
) -> None:
    (first,) = library.publish(manual("pump", "pump"))
    with service.holding("slow"):
        second = library.project.mutation("manuals:publish", manual("pump", "slow pump"))
        other = library.project.mutation("manuals:publish", manual("lamp", "slow lamp"))
        wait_until(lambda: service.asked_for("lamp") and service.asked_for("slow"), "the requests")
        assert library.withdraw("pump") is True
        assert library.withdraw("lamp") is True
        states = [library.state(version) for version in (first, second, other)]
        assert states == ["withdrawn"] * 3
        assert library.search("pump") == []
    library.check_component()
    assert [library.state(version) for version in (first, second, other)] == ["withdrawn"] * 3
    assert library.search("pump") == []
    library.check_list()
    assert library.withdraw("lamp") is False


def test_a_version_fails_with_its_request_and_the_one_before_it_stays(library: Library, service: Service) -> None:
    (first,) = library.publish(manual("pump", "pump"))
    failing = manual("pump", "valve", "broken seal")
    failed = library.project.mutation("manuals:publish", failing)
    new = library.project.mutation("manuals:publish", manual("lamp", "broken lamp"))
    wait_until(lambda: [library.state(each) for each in (failed, new)] == ["failed", "failed"], "the failures")
    assert library.state(first) == "current"
    library.check("pump valve")
    library.check_list()
    assert service.texts().count("broken seal") == 1
    again = library.project.mutation("manuals:publish", failing)
    wait_until(lambda: library.state(again) == "failed", "the failure of the repetition")
    assert again != failed
    assert service.texts().count("broken seal") == 2
    library.publish(manual("pump", "valve", "seal"), manual("lamp", "lamp"))
    assert [library.state(version) for version in (first, failed, new)] == ["replaced", "failed", "failed"]
    library.check("pump lamp")
    library.check_component()
    assert library.project.mutation("manuals:withdraw", shop="acme", slug="nothing") is False


def test_a_search_fails_with_its_request(library: Library, service: Service) -> None:
    library.publish(manual("pump", "pump"))
    with library.project.fails():
        library.search("broken pump")


def test_what_is_current_already_is_not_published_again(library: Library, service: Service) -> None:
    pump = manual("pump", "pump", "valve")
    library.publish(pump)
    (lamp,) = library.publish(manual("lamp", "lamp"))
    (version,) = library.publish({**pump, "title": "The other pump"})
    count = len(service.inputs)
    assert library.project.mutation("manuals:publish", manual("lamp", "lamp")) == lamp
    library.settle()
    assert library.state(lamp) == "current"
    assert len(service.inputs) == count
    library.check_list()
    swapped = [pump["sections"][1], pump["sections"][0]]
    renamed = [{**pump["sections"][0], "heading": "Other"}, pump["sections"][1]]
    for change in (
        {"importance": 0.5},
        {"audience": "technician"},
        {"language": "de"},
        {"sections": renamed},
        {"sections": swapped},
    ):
        changed = {**pump, **change}
        (later,) = library.publish(changed)
        assert later != version
        version = later
    library.check("pump valve")
    library.check_list()


def test_what_is_current_is_published_again_if_something_else_is_being_indexed(
    library: Library, service: Service
) -> None:
    pump = manual("pump", "pump")
    (first,) = library.publish(pump)
    with service.holding("slow"):
        second = library.project.mutation("manuals:publish", manual("pump", "slow valve"))
        wait_until(lambda: service.asked_for("slow"), "the request for the second version")
        third = library.project.mutation("manuals:publish", pump)
        assert third not in (first, second)
        wait_until(lambda: library.state(third) == "current", "the third version")
        assert [library.state(version) for version in (first, second)] == ["replaced", "replaced"]
    library.check_component()
    library.check("pump valve")
    assert library.state(third) == "current"


def test_a_manual_that_is_withdrawn_is_gone_at_once(library: Library) -> None:
    (version,) = library.publish(manual("pump", *["pump"] * 60))
    library.publish(manual("lamp", "pump lamp"))
    assert library.withdraw("pump") is True
    library.check("pump")
    assert library.found("pump", by="words") == [("lamp", 1)]
    assert library.read("pump") == [[]]
    library.check_list()
    assert library.state(version) == "withdrawn"
    assert library.withdraw("pump") is False
    library.check_component()
    (again,) = library.publish(manual("pump", "pump"))
    assert again != version
    library.check("pump")


def test_shops_have_nothing_to_do_with_each_other(library: Library) -> None:
    library.publish(manual("pump", "pump valve"), manual("pump", "pump lamp", shop="other"))
    for shop in ("acme", "other"):
        library.check("pump", shop=shop)
        library.check_list(shop=shop)
    assert library.withdraw("pump", shop="other") is True
    library.check("pump")
    library.check_list(shop="other")
    assert [section["text"] for page in library.read("pump") for section in page] == ["pump valve"]
    for shop in ("other", "nowhere"):
        assert library.search("pump", shop=shop) == []
        assert library.search("pump", shop=shop, by="words") == []
        assert library.read("pump", shop=shop) == [[]]
    library.check_list(shop="nowhere")


def test_a_long_manual_is_read_page_by_page(library: Library, service: Service) -> None:
    each = manual("long", *(f"pump {' '.join(['valve'] * (number % 7))}".strip() for number in range(60)))
    library.publish(each)
    assert len(service.texts()) == 60
    pages = library.read("long", 25)
    assert [len(page) for page in pages if page] == [25, 25, 10]
    assert [section for page in pages for section in page] == [
        {"number": number, **section} for number, section in enumerate(each["sections"], 1)
    ]
    library.check("pump valve valve", limit=20, around=0)


def test_manuals_are_listed_page_by_page(library: Library) -> None:
    library.publish(*(manual(slug, "pump") for slug in "abc"))
    library.publish(manual("b", "valve"))
    pages = library.project.pages("manuals:list", num_items=2, shop="acme")
    assert [[item["slug"] for item in page.items] for page in pages if page.items] == [["b", "c"], ["a"]]
    library.check_list(3)
    for name, more in (("list", {}), ("read", {"slug": "a"})):
        options = {"numItems": 1, "cursor": None, "id": 7}
        result = library.project.query(f"manuals:{name}", shop="acme", paginationOpts=options, **more)
        assert {"page", "isDone", "continueCursor"} <= set(result)
        assert set(result) <= {"page", "isDone", "continueCursor", "splitCursor", "pageStatus"}


def test_own_tables_contain_no_sections(library: Library, service: Service) -> None:
    project = library.project
    library.publish(manual("pump", "grommet"), manual("lamp", "grommet lamp"))
    project.mutation("manuals:publish", manual("pump", "grommet broken"))
    library.settle()
    with service.holding("slow"):
        project.mutation("manuals:publish", manual("pump", "grommet slow"))
        stored = [row for table in project.tables() for row in project.documents(table)]
    assert not any("grommet" in str(row) or "Part pump1" in str(row) for row in stored)
    assert len(project.documents("versions")) >= 4


def test_clients_can_call_these_functions_and_no_others_and_arguments_are_validated(library: Library) -> None:
    project = library.project
    functions = project.functions()
    assert {name: spec.kind for name, spec in functions.items() if spec.is_public} == PUBLIC
    (version,) = library.publish(manual("pump", "pump"))
    options = {"numItems": 1, "cursor": None}
    asked = {"shop": "acme", "reader": "customer", "text": "pump", "by": "words", "limit": 1, "around": 0}
    bad_manual = {
        "shop": 1,
        "slug": 1,
        "title": 1,
        "language": "fr",
        "audience": "all",
        "importance": "1",
        "sections": [{"text": "a"}],
    }
    calls: list[tuple[str, Row, Row]] = [
        ("publish", manual("pump", "pump"), bad_manual),
        ("withdraw", {"shop": "acme", "slug": "other"}, {"shop": 1, "slug": None}),
        ("stateOf", {"version": version}, {"version": "x"}),
        ("list", {"shop": "acme", "paginationOpts": options}, {"shop": 1, "paginationOpts": 5}),
        (
            "read",
            {"shop": "acme", "slug": "pump", "paginationOpts": options},
            {"shop": 1, "slug": 1, "paginationOpts": 5},
        ),
        ("search", asked, {"shop": 1, "reader": "all", "text": 1, "by": "chance", "limit": "1", "around": None}),
    ]
    for name, good, wrong in calls:
        call = getattr(project, PUBLIC[f"manuals:{name}"])
        for key in good:
            with project.fails("ArgumentValidationError"):
                call(f"manuals:{name}", {**good, key: wrong[key]})
            with project.fails("ArgumentValidationError"):
                call(f"manuals:{name}", {other: value for other, value in good.items() if other != key})
    for more in ({"language": "fr"}, {"language": None}, {"atLeast": "1"}):
        with project.fails("ArgumentValidationError"):
            project.action("manuals:search", {**asked, **more})


HEAD = """
import { RAG, type EntryId } from "@convex-dev/rag";
import type { FunctionArgs, FunctionReturnType, PaginationOptions } from "convex/server";
import { api } from "./_generated/api";
import type { Id } from "./_generated/dataModel";
import type { ActionCtx, QueryCtx } from "./_generated/server";
import { rag } from "./rag";

type Flat<T> = T extends string | number | boolean | bigint | null | undefined ? T
  : T extends readonly (infer E)[] ? Flat<E>[] : T extends object ? { [K in keyof T]: Flat<T[K]> } : T;
type Equal<A, B> = (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2 ? true : false;
type Same<A, B> = Equal<Flat<A>, Flat<B>>;
type IsAny<T> = 0 extends 1 & T ? true : false;
function yes<T extends true>(): T | undefined { return undefined; }
function no<T extends false>(): T | undefined { return undefined; }
function is<T>(value: T): T { return value; }

type Language = "en" | "de";
type Audience = "customer" | "technician";
type Section = { number: number; heading: string; text: string };
type Passage = FunctionReturnType<typeof api.manuals.search>[number];
type Listed = FunctionReturnType<typeof api.manuals.list>;
type Read = FunctionReturnType<typeof api.manuals.read>;
declare const action: ActionCtx;
declare const query: QueryCtx;
declare const entryId: EntryId;
const title = "t", language = "en" as const, audience = "customer" as const;
"""
COMPILES: dict[str, str] = {
    "passages are typed": """
yes<Same<Passage, { slug: string; title: string; language: Language; audience: Audience; score: number | null; found: number; sections: Section[] }>>();
no<IsAny<Passage>>(); no<IsAny<Passage["sections"][number]>>(); no<IsAny<Passage["sections"][number]["heading"]>>(); no<IsAny<Passage["title"]>>();
""",
    "lists are typed": """
yes<Same<Listed["page"][number], { slug: string; title: string; language: Language; audience: Audience; importance: number }>>();
no<IsAny<Listed>>(); no<IsAny<Listed["page"][number]["title"]>>(); is<boolean>({} as Listed["isDone"]); is<string>({} as Listed["continueCursor"]);
""",
    "sections are typed": """
yes<Same<Read["page"][number], Section>>(); no<IsAny<Read>>(); no<IsAny<Read["page"][number]["heading"]>>(); no<IsAny<Read["page"][number]["number"]>>();
""",
    "states are typed": """
yes<Same<FunctionReturnType<typeof api.manuals.stateOf>, "indexing" | "current" | "failed" | "replaced" | "withdrawn">>();
yes<Same<FunctionArgs<typeof api.manuals.stateOf>, { version: Id<"versions"> }>>();
""",
    "publish and withdraw are typed": """
yes<Same<FunctionArgs<typeof api.manuals.publish>, { shop: string; slug: string; title: string; language: Language; audience: Audience; importance: number; sections: { heading: string; text: string }[] }>>();
yes<Same<FunctionReturnType<typeof api.manuals.publish>, Id<"versions">>>(); no<IsAny<FunctionReturnType<typeof api.manuals.publish>>>();
yes<Same<FunctionArgs<typeof api.manuals.withdraw>, { shop: string; slug: string }>>(); yes<Same<FunctionReturnType<typeof api.manuals.withdraw>, boolean>>();
""",
    "arguments of searches are typed": """
type Asked = FunctionArgs<typeof api.manuals.search>;
is<Asked>({ shop: "s", reader: "customer", text: "t", by: "words", limit: 1, around: 0 });
is<Asked>({ shop: "s", reader: "technician", language: "de", text: "t", by: "meaning", limit: 1, around: 0, atLeast: 0.5 });
no<IsAny<Asked["by"]>>(); no<IsAny<Asked["reader"]>>(); yes<Equal<Asked["by"], "meaning" | "words">>(); yes<Equal<Asked["reader"], Audience>>();
""",
    "arguments of pages are typed": """
declare const paginationOpts: PaginationOptions;
is<FunctionArgs<typeof api.manuals.list>>({ shop: "s", paginationOpts }); is<FunctionArgs<typeof api.manuals.read>>({ shop: "s", slug: "p", paginationOpts });
no<IsAny<FunctionArgs<typeof api.manuals.list>["shop"]>>(); no<IsAny<FunctionArgs<typeof api.manuals.read>["slug"]>>();
""",
    "rag knows the metadata of entries": """
export async function f() {
  is<typeof rag extends RAG<infer _F, infer _M> ? true : false>(true); no<IsAny<typeof rag>>();
  const entry = await rag.getEntry(query, { entryId });
  if (entry?.metadata === undefined) throw new Error();
  no<IsAny<typeof entry.metadata>>(); yes<Same<typeof entry.metadata, { title: string; language: Language; audience: Audience }>>();
  const { entries } = await rag.search(action, { namespace: "s", query: "q" });
  for (const { metadata } of entries) { is<Language | undefined>(metadata?.language); no<IsAny<typeof metadata>>(); }
}
""",
    "rag gets metadata": """
type Added = Parameters<typeof rag.add>[1];
is<Added["metadata"]>({ title, language, audience });
""",
}
REFUSED: dict[str, str] = {
    "a passage has no other fields": "is<string>(({} as Passage).text);",
    "another language": "is<FunctionArgs<typeof api.manuals.search>>({ shop: 's', reader: 'customer', language: 'fr', text: 't', by: 'words', limit: 1, around: 0 });",
    "another way to search": "is<FunctionArgs<typeof api.manuals.search>>({ shop: 's', reader: 'customer', text: 't', by: 'hybrid', limit: 1, around: 0 });",
    "other metadata": "type Added = Parameters<typeof rag.add>[1]; is<Added['metadata']>({ title, language, audience, colour: 'red' });",
    "metadata of another type": "type Added = Parameters<typeof rag.add>[1]; is<Added['metadata']>({ title, language: 'fr', audience });",
    "less metadata": "type Added = Parameters<typeof rag.add>[1]; is<Added['metadata']>({ title, language });",
    "a filter of a name that is not used": "export async function f() { await rag.search(action, { namespace: 's', query: 'q', filters: [{ name: 'no such filter', value: 'x' }] }); }",
}
SNIPPETS = {name: HEAD + body for name, body in (COMPILES | REFUSED).items()}


@pytest.mark.parametrize("name", COMPILES)
def test_compiles(type_checks: TypeChecks, name: str) -> None:
    assert type_checks.errors(SNIPPETS)[name] == ()


@pytest.mark.parametrize("name", REFUSED)
def test_does_not_compile(type_checks: TypeChecks, name: str) -> None:
    assert type_checks.errors(SNIPPETS)[name] != ()

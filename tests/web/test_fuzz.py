"""Requests that nobody would think of, sent to a real `serve` by what its own OpenAPI document says."""

import json
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

import httpx2
import msgspec
import pytest
import schemathesis
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as some
from hypothesis.errors import Unsatisfiable
from schemathesis import GenerationMode
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    response_headers_conformance,
    response_schema_conformance,
    status_code_conformance,
)
from tests.scores.chaos import ServeProcess

from convex_evals.scores import Benchmark, LabelRecord, ScoresStore, batch_of, encode

FEW, MANY = 1, 100
ENDLESS = "/api/v1/events"
CHECKS = [
    schemathesis.checks.not_a_server_error,
    status_code_conformance,
    content_type_conformance,
    response_headers_conformance,
    response_schema_conformance,
]
OPTIONS: dict[str, Any] = {
    "derandomize": True,
    "deadline": None,
    "suppress_health_check": list(HealthCheck),
    "database": None,
}


@dataclass
class Fuzzed:
    """A server, what it can be asked for, and a token that may do everything."""

    url: str
    schema: schemathesis.BaseSchema
    known: Mapping[str, str]
    batch: dict[str, Any]
    token: Mapping[str, str]


@pytest.fixture(scope="module")
def fuzzed(tmp_path_factory: pytest.TempPathFactory, recorder: Any) -> Iterator[Fuzzed]:
    folder = tmp_path_factory.mktemp("fuzzed")
    service = ServeProcess(str(folder / "scores.db"), folder, "--read", "open")
    with ScoresStore.open(folder / "scores.db") as store:
        known, batch = _record(store, recorder(store, folder))
        token = {"authorization": f"Bearer {store.tokens.create('fuzz', ['admin'], 'development').token}"}
        service.start()
        url = f"http://127.0.0.1:{service.port}"
        try:
            schema = schemathesis.openapi.from_url(f"{url}/api/openapi.json")
            yield Fuzzed(url, schema, known, batch, token)
        finally:
            service.kill()


def _record(store: ScoresStore, record: Any) -> tuple[dict[str, str], dict[str, Any]]:
    """Values that lead somewhere, by the names of the parameters that take them; and a batch that was sent before."""
    run, other = record.run(), record.run("other")
    planned = store.planned(run)
    store.mint_benchmark(Benchmark("v1", planned, {"default": "p"}, "pi", "to", datetime.now(UTC)))
    failed = next(each for each in store.results(run) if each.status == "failed")
    store.labels.add(LabelRecord(run, failed.eval, 1, "KNOWN_GAP", "said so", "ann", datetime.now(UTC)))
    artifact = store.generations(run)[0].prompt
    assert artifact is not None
    found = {"run": run, "id": failed.id, "sha256": artifact, "category": "000-fundamentals"}
    batch = msgspec.json.decode(encode(batch_of(run, store.outbox.records(run))))
    return {**found, "name": "000-empty_functions", "runs": f"{run},{other}"}, batch


def strategies(operation: Any, known: Mapping[str, str]) -> list[some.SearchStrategy[Any]]:
    """What fits the document, what does not, and what fits and leads somewhere."""
    fixed = {
        place: {each.name: known[each.name] for each in parameters if each.name in known}
        for place, parameters in (("path_parameters", operation.path_parameters), ("query", operation.query))
    }
    made = [operation.as_strategy(), operation.as_strategy(GenerationMode.NEGATIVE)]
    return [*made, operation.as_strategy(**{place: values for place, values in fixed.items() if values})]


def fuzz(fuzzed: Fuzzed, headers: Mapping[str, str], examples: int, kinds: slice) -> dict[str, Counter[int]]:
    """How often each operation answered what, to those `kinds` of the strategies."""
    operations = [each.ok() for each in fuzzed.schema.exclude(path=ENDLESS).get_all_operations()]
    answers = {each.label: Counter[int]() for each in operations}
    for operation in operations:
        for strategy in strategies(operation, fuzzed.known)[kinds]:
            with suppress(Unsatisfiable):  # nothing can be wrong with a request that takes nothing
                answers[operation.label].update(asked(strategy, headers, examples))
    return answers


def asked(strategy: some.SearchStrategy[Any], headers: Mapping[str, str], examples: int) -> list[int]:
    """The statuses of the answers."""
    statuses = []

    @settings(max_examples=examples, **OPTIONS)
    @given(case=strategy)
    def check(case: Any) -> None:
        response = case.call_and_validate(checks=CHECKS, headers=dict(headers), timeout=60)
        statuses.append(response.status_code)

    check()
    return statuses


AMOUNTS = [FEW, pytest.param(MANY, marks=[pytest.mark.exhaustive, pytest.mark.timeout(3600)])]


@pytest.mark.parametrize("examples", AMOUNTS)
def test_every_route_answers_what_it_documents(fuzzed: Fuzzed, examples: int) -> None:
    answers = fuzz(fuzzed, fuzzed.token, examples, slice(None))
    assert len(answers) >= 27
    silent = [label for label, counted in answers.items() if not counted[200] and label.startswith("GET ")]
    assert silent == []


@pytest.mark.parametrize("examples", AMOUNTS)
def test_nobody_records_without_a_token(fuzzed: Fuzzed, examples: int) -> None:
    answers = fuzz(fuzzed, {}, examples, slice(2, None))
    for label, counted in answers.items():
        assert bool({200, 201} & counted.keys()) == label.startswith("GET "), (label, counted)


def places(value: Any, way: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    yield way
    inside = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, each in inside:
        yield from places(each, (*way, key))


def changed(value: Any, way: tuple[Any, ...], new: Any) -> Any:
    if not way:
        return new
    copy = value.copy()
    copy[way[0]] = changed(value[way[0]], way[1:], new)
    return copy


ANYTHING = some.one_of(
    some.none(),
    some.booleans(),
    some.integers(),
    some.floats(allow_nan=False, allow_infinity=False),
    some.text(),
    some.sampled_from(["0" * 64, "a" * 32, "2026-01-01T00:00:00Z", "null", "\ud800", "\x00", "passed", "[]", "{}"]),
    some.lists(some.integers(), max_size=2),
)


@pytest.mark.parametrize("examples", [FEW * 10, pytest.param(MANY * 20, marks=pytest.mark.exhaustive)])
def test_records_that_are_not_quite_right_are_refused_or_taken(fuzzed: Fuzzed, examples: int) -> None:
    """Real ones, with one value of them changed."""
    ways, seen = list(places(fuzzed.batch)), Counter[int]()
    with httpx2.Client(base_url=fuzzed.url, headers=dict(fuzzed.token), timeout=60) as client:

        @settings(max_examples=examples, **OPTIONS)
        @given(way=some.sampled_from(ways), new=ANYTHING)
        def check(way: tuple[Any, ...], new: Any) -> None:
            body = json.dumps(changed(fuzzed.batch, way, new)).encode()
            answer = client.post("/api/v1/records", content=body)
            assert answer.status_code in (200, 409, 422), (way, new, answer.text)
            seen[answer.status_code] += 1

        check()
    assert seen[409] and seen[422]

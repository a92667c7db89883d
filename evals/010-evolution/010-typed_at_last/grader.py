"""A backend is rewritten with exact types: what it does stays, what is there stays, and the compiler knows what is what."""

# ruff: noqa: E501 (snippets of TypeScript)

import json
from typing import Any

import pytest

from convex_evals.pipeline.grading.kit import CallFailed, Deployment, GivenDeployment, Sources, TypeChecks

Data = dict[str, Any]
DAY = 24 * 60 * 60 * 1000

HEAD = """
import type { FunctionArgs, FunctionReturnType } from "convex/server";
import { api } from "./_generated/api";
import type { Doc, Id } from "./_generated/dataModel";
import type { MutationCtx, QueryCtx } from "./_generated/server";
import type * as contract from "./contract";
import type { Arguments, Bench, Bill, Kind, Outcomes, Payloads, Phase, Results, Settings, State } from "./contract";
import { execute } from "./lib/commands";
import { label } from "./lib/labels";
import { saveSetting, setting } from "./lib/settings";
import { match } from "./lib/states";
import { groupBy, insertAll, must, sortBy, sum } from "./lib/util";
type IsAny<A> = 0 extends 1 & A ? true : false;
type Same<A, B> = IsAny<A> extends true ? false : IsAny<B> extends true ? false : [A] extends [B] ? ([B] extends [A] ? true : false) : false;
declare const ctx: MutationCtx;
declare const reader: QueryCtx;
declare const jobId: Id<"jobs">;
declare const customerId: Id<"customers">;
declare const state: State;
declare const jobs: Doc<"jobs">[];
declare const parts: readonly contract.Part[];
declare const bills: Bill[];
declare const yes: boolean;
const is = <T extends true>(): T | undefined => undefined;
export async function use() {
%s
}
export const used = [is, execute, label, saveSetting, setting, match, groupBy, insertAll, must, sortBy, sum, api];
"""

FUNCTIONS = (
    *("customers.add", "customers.get", "customers.change", "instruments.add", "instruments.get"),
    *("instruments.ofCustomer", "jobs.open", "jobs.get", "jobs.list", "jobs.run", "jobs.history", "jobs.timeline"),
    *("parts.put", "parts.find", "settings.get", "settings.set", "settings.all", "reports.summary"),
    *("reports.statement", "imports.load"),
)
COMPILES = {
    **{
        f"arguments of {name}": f'return is<Same<FunctionArgs<typeof api.{name}>, Arguments["{name}"]>>();'
        for name in FUNCTIONS
    },
    **{
        f"result of {name}": f'return is<Same<FunctionReturnType<typeof api.{name}>, Results["{name}"]>>();'
        for name in FUNCTIONS
    },
    "must": 'const job = await must(reader, "jobs", jobId); is<Same<typeof job, Doc<"jobs">>>(); return (await must(ctx, "customers", customerId)).name;',
    "insertAll": 'const ids = await insertAll(ctx, "parts", [...parts, { sku: "a", name: "b", cents: 3, stock: null }]); return is<Same<typeof ids, Id<"parts">[]>>();',
    "groupBy": 'const groups = groupBy(jobs, (job) => job.phase); is<Same<keyof typeof groups, Phase>>(); const { done } = groups; return is<Same<typeof done, Doc<"jobs">[] | undefined>>();',
    "groupBy of literals": 'const groups = groupBy(parts, (part) => part.cents > 5 ? "dear" : "cheap"); is<Same<keyof typeof groups, "dear" | "cheap">>(); const { dear } = groups; return is<Same<typeof dear, contract.Part[] | undefined>>();',
    "groupBy of numbers": 'const groups = groupBy([state], (each) => each.phase === "working" ? each.bench : 1); return groups[3]?.length;',
    "sortBy": 'const sorted = sortBy(parts, "sku"); is<Same<typeof sorted, contract.Part[]>>(); return [sortBy(parts, "cents"), sortBy(bills, "vat"), sortBy(bills, "currency"), sortBy(jobs, "_creationTime")];',
    "sum": "return is<Same<ReturnType<typeof sum>, number>>() ?? sum(parts, ({ cents }) => cents).toFixed();",
    "match": 'const found = match(state, { waiting: () => null, quoted: (s) => s.validUntil, working: (s) => ({ at: s.bench }), done: () => "x" as const, declined: (s) => s.reason }); return is<Same<typeof found, null | number | { at: Bench } | string>>();',
    "match with literals": 'const found = match(state, { waiting: () => "a" as const, quoted: () => "b" as const, working: () => 1 as const, done: () => undefined, declined: () => true as const }); return is<Same<typeof found, "a" | "b" | 1 | undefined | true>>();',
    "match of promises": 'const found = await match(state, { waiting: async () => await must(ctx, "jobs", jobId), quoted: () => 3, working: () => 3, done: () => 4, declined: () => 3 }); return is<Same<typeof found, Doc<"jobs"> | number>>();',
    "label": 'const text = label("phase", "working"); is<Same<typeof text, string>>(); return label("family", "wind") + label("priority", yes ? "normal" : "urgent");',
    "setting": 'const vat = await setting(reader, "vat"); is<Same<typeof vat, { percent: number; included: boolean }>>(); const some = await setting(ctx, yes ? "benches" : "currency"); return is<Same<typeof some, Bench[] | "EUR" | "CHF">>();',
    "setting of any key": "return async <K extends keyof Settings>(key: K): Promise<Settings[K]> => await setting(reader, key);",
    "saveSetting": 'await saveSetting(ctx, "benches", [1, 4]); await saveSetting(ctx, "vat", { percent: 3, included: yes });',
    **{
        f"execute {kind}": f'return async (payload: Payloads["{kind}"]) => {{ const outcome = await execute(ctx, jobId, "{kind}", payload); return is<Same<typeof outcome, Outcomes["{kind}"]>>(); }};'
        for kind in ("quote", "start", "use", "note", "finish", "decline")
    },
}
REFUSED = {
    "must of an id of another table": 'return must(ctx, "jobs", customerId);',
    "must of a table that is not there": 'return must(ctx, "job", jobId);',
    "insertAll of another table's rows": 'return insertAll(ctx, "customers", parts);',
    "insertAll without a field": 'return insertAll(ctx, "parts", [{ sku: "a", name: "b", cents: 3 }]);',
    "insertAll with a text for a number": 'return insertAll(ctx, "parts", [{ sku: "a", name: "b", cents: "3", stock: null }]);',
    "insertAll in a query": 'return insertAll(reader, "parts", parts);',
    "groupBy of another key": "return groupBy(jobs, (job) => job.phase).ready;",
    "groupBy of what may be missing": "return groupBy(jobs, (job) => job.phase).done.length;",
    "groupBy of objects": "return groupBy([state], (each) => each);",
    "sortBy of an object": 'return sortBy(bills, "parts");',
    "sortBy of what may be null": 'return sortBy(parts, "stock");',
    "sortBy of an unknown field": 'return sortBy(parts, "price");',
    "match without a case": "return match(state, { waiting: () => 1, quoted: () => 1, working: () => 1, done: () => 1 });",
    "match with another case": "return match(state, { waiting: () => 1, quoted: () => 1, working: () => 1, done: () => 1, declined: () => 1, lost: () => 1 });",
    "match with a field of another state": "return match(state, { waiting: () => 1, quoted: (s) => s.reason, working: () => 1, done: () => 1, declined: () => 1 });",
    "match uses the result": 'return match(state, { waiting: () => 1, quoted: () => "a", working: () => 1, done: () => 1, declined: () => 1 }).toFixed();',
    "label of another group's value": 'return label("family", "waiting");',
    "label of an unknown group": 'return label("bench", 1);',
    "label of any text": 'return label("phase", String(yes));',
    "an unknown setting": 'return setting(reader, "tax");',
    "a setting as another": 'const rate: string = await setting(reader, "hourlyCents"); return rate;',
    "saving another setting's value": 'return saveSetting(ctx, "currency", 5);',
    "saving an unknown literal": 'return saveSetting(ctx, "benches", [5]);',
    "executing an unknown kind": 'return execute(ctx, jobId, "open", {});',
    "executing with another payload": 'return execute(ctx, jobId, "start", { cents: 1, days: 2 });',
    "executing without a field": 'return execute(ctx, jobId, "note", { text: "a" });',
    "executing with undefined": 'return execute(ctx, jobId, "finish", { minutes: 3, discount: undefined });',
    "executing with what fits one of two kinds": 'return execute(ctx, jobId, yes ? "note" : "decline", { reason: null });',
    "saving what fits one of two settings": 'return saveSetting(ctx, yes ? "currency" : "hourlyCents", 5);',
    "label of what fits one of two groups": 'return label(yes ? "family" : "phase", "wind");',
    "insertAll of what fits one of two tables": 'return insertAll(ctx, yes ? "customers" : "parts", parts);',
    "executing in a query": 'return execute(reader, jobId, "decline", { reason: null });',
    "outcomes of another kind": 'return (await execute(ctx, jobId, "use", { sku: "a", count: 1 })).validUntil;',
}
SNIPPETS = {name: HEAD % body for name, body in (COMPILES | REFUSED).items()}


@pytest.mark.parametrize("name", COMPILES)
def test_compiles(type_checks: TypeChecks, name: str) -> None:
    assert type_checks.errors(SNIPPETS)[name] == ()


@pytest.mark.parametrize("name", REFUSED)
def test_does_not_compile(type_checks: TypeChecks, name: str) -> None:
    assert type_checks.errors(SNIPPETS)[name] != ()


# How it is written.


def test_there_is_no_type_assertion(files: Sources) -> None:
    found = [
        f"{path}: {node.text()}"
        for path in files.paths("convex/**/*.ts")
        for kind in ("as_expression", "type_assertion", "non_null_expression")
        for node in files.module(path).node.find_all(kind=kind)
        if not node.text().endswith("as const")
    ]
    assert found == []


def validators(value: Any) -> list[str]:
    """The types of all validators in the JSON of one."""
    if isinstance(value, dict):
        own = [value["type"]] if isinstance(value.get("type"), str) else []
        return own + [each for part in value.values() for each in validators(part)]
    return [each for part in value for each in validators(part)] if isinstance(value, list) else []


def test_all_functions_declare_their_arguments_and_results(project: Deployment) -> None:
    functions = project.functions()
    internal = {"jobs:expire": "mutation", "parts:deliver": "mutation", "reports:jobsOfCustomer": "query"}
    for name, kind in internal.items():
        assert (functions[name].kind, functions[name].is_public) == (kind, False), name
    for name in FUNCTIONS:
        assert functions[name.replace(".", ":")].is_public, name
    for name, spec in functions.items():
        assert spec.has_args, name
        assert "any" not in validators(spec.args), name
        assert spec.returns is not None, name
        assert "any" not in validators(spec.returns), name


def test_the_schema_has_no_any(project: Deployment) -> None:
    for table in ("customers", "instruments", "jobs", "events", "parts", "settings"):
        assert "any" not in validators(project.schema().table(table).document_type), table


# What it does.

EMAIL = {"kind": "email", "address": "ada@x.example"}
PHONE = {"kind": "phone", "number": "0123", "texts": True}
VIOLIN = {"family": "strings", "strings": 4, "fretted": False}
FLUTE = {"family": "wind", "material": "silver", "pitch": "C"}
HORN = {"family": "wind", "material": "brass", "pitch": None}
PIANO = {"family": "keys", "keys": 88, "power": None}
SYNTH = {"family": "keys", "keys": 61, "power": {"volts": 12}}
PHASES = ("waiting", "quoted", "working", "done", "declined")
DEFAULTS = {"benches": [1, 2], "currency": "EUR", "hourlyCents": 6000, "vat": {"percent": 20, "included": False}}


def customer(to: Deployment, name: str = "Ada", contact: Data = EMAIL, **more: Any) -> str:
    return str(to.mutation("customers:add", name=name, contact=contact, **more))


def instrument(to: Deployment, owner: str, spec: Data = VIOLIN, label: str = "x", **more: Any) -> str:
    return str(to.mutation("instruments:add", ownerId=owner, label=label, spec=spec, **more))


def job(to: Deployment, of: str, title: str = "crack", **more: Any) -> str:
    return str(to.mutation("jobs:open", instrumentId=of, title=title, **more))


def new_job(to: Deployment, **more: Any) -> str:
    return job(to, instrument(to, customer(to)), **more)


def run(to: Deployment, job_id: str, kind: str, **payload: Any) -> Any:
    return to.mutation("jobs:run", jobId=job_id, command={"kind": kind, "payload": payload})


def part(to: Deployment, sku: str, cents: int = 100, stock: int | None = None) -> str:
    return str(to.mutation("parts:put", sku=sku, name=sku.upper(), cents=cents, stock=stock))


def set_value(to: Deployment, key: str, value: Any) -> None:
    assert to.mutation("settings:set", setting={"key": key, "value": value}) is None


def state(to: Deployment, job_id: str) -> Any:
    return to.query("jobs:get", jobId=job_id)["state"]


def test_customers(project: Deployment) -> None:
    shown: list[tuple[Data, Data]] = [
        ({}, {"note": None}),
        ({"discountPercent": None}, {"note": None}),
        ({"discountPercent": 0, "note": ""}, {"discountPercent": 0, "note": ""}),
        ({"discountPercent": 12.5, "note": "late"}, {"discountPercent": 12.5, "note": "late"}),
    ]
    for contact in (EMAIL, PHONE):
        for given, expected in shown:
            id = customer(project, "Ada", contact, **given)
            received = project.query("customers:get", customerId=id)
            assert received == {"customerId": id, "name": "Ada", "contact": contact} | expected
    project.delete("customers", id)
    assert project.query("customers:get", customerId=id) is None


def test_changes_of_customers(project: Deployment) -> None:
    id, other = customer(project, note="a", discountPercent=5), customer(project, "Ben")
    expected: Data = {"customerId": id, "name": "Ada", "contact": EMAIL, "note": "a", "discountPercent": 5}
    for changes in (
        {},
        {"name": "Eve"},
        {"contact": PHONE},
        {"note": None},
        {"note": "b", "name": "Ida"},
        {"discountPercent": 0},
        {"discountPercent": None},
        {"discountPercent": None, "name": "Uma"},
        {"discountPercent": 7},
    ):
        assert project.mutation("customers:change", customerId=id, changes=changes) is None
        expected |= changes
        if expected.get("discountPercent", 0) is None:
            del expected["discountPercent"]
        assert project.query("customers:get", customerId=id) == expected, changes
    assert project.query("customers:get", customerId=other)["name"] == "Ben"
    project.delete("customers", id)
    with project.fails(data={"code": "NOT_FOUND", "table": "customers"}):
        project.mutation("customers:change", customerId=id, changes={})


def test_instruments(project: Deployment) -> None:
    owner, other = customer(project), customer(project)
    shown: list[Data] = []
    for spec in (VIOLIN, FLUTE, HORN, PIANO, SYNTH):
        for more in ({}, {"serial": "17"}):
            id = instrument(project, owner, spec, "mine", **more)
            shown.append({"instrumentId": id, "label": "mine", "spec": spec} | more)
            assert project.query("instruments:get", instrumentId=id) == shown[-1]
    instrument(project, other)
    assert project.query("instruments:ofCustomer", customerId=owner) == shown
    for family in ("strings", "wind", "keys"):
        expected = [each for each in shown if each["spec"]["family"] == family]
        assert project.query("instruments:ofCustomer", customerId=owner, family=family) == expected
    assert project.query("instruments:ofCustomer", customerId=other, family="keys") == []
    project.delete("instruments", id)
    assert project.query("instruments:get", instrumentId=id) is None
    project.delete("customers", owner)
    with project.fails(data={"code": "NOT_FOUND", "table": "customers"}):
        instrument(project, owner)


def test_jobs(project: Deployment) -> None:
    owner = customer(project)
    violin = instrument(project, owner, label="Violin", serial="4")
    shown = {"instrumentId": violin, "label": "Violin", "spec": VIOLIN, "serial": "4"}
    for priority in (None, "normal", "urgent"):
        id = job(project, violin, "crack", **({"priority": priority} if priority else {}))
        assert project.query("jobs:get", jobId=id) == {
            "jobId": id,
            "title": "crack",
            "priority": priority or "normal",
            "state": {"phase": "waiting"},
            "parts": {},
            "instrument": shown,
        }
    project.delete("instruments", violin)
    assert project.query("jobs:get", jobId=id)["instrument"] is None
    with project.fails(data={"code": "NOT_FOUND", "table": "instruments"}):
        job(project, violin)
    project.delete("jobs", id)
    assert project.query("jobs:get", jobId=id) is None
    with project.fails(data={"code": "NOT_FOUND", "table": "jobs"}):
        project.query("jobs:timeline", jobId=id)
    with project.fails(data={"code": "NOT_FOUND", "table": "jobs"}):
        run(project, id, "note", text="a", author=None)
    assert project.query("jobs:history", jobId=id) == []


def test_quotes(project: Deployment) -> None:
    id = new_job(project)
    with project.stopped_clock():
        start = project.now()
        outcome = run(project, id, "quote", cents=5000, days=3)
        assert 0 <= outcome["validUntil"] - start - 3 * DAY <= 1000
        assert list(outcome) == ["validUntil"]
        assert state(project, id) == {"phase": "quoted", "cents": 5000} | outcome
        project.advance(days=2)
        second = run(project, id, "quote", cents=0, days=2)
        project.advance(days=1, hours=1)
        assert state(project, id) == {"phase": "quoted", "cents": 0} | second
        project.advance(days=1)
        assert state(project, id) == {"phase": "waiting"}
    moves = [each["entry"] for each in project.query("jobs:history", jobId=id)]
    steps = [("waiting", "quoted"), ("quoted", "quoted"), ("quoted", "waiting")]
    assert moves == [{"type": "moved", "from": old, "to": new} for old, new in steps]
    for cents, days in ((-1, 1), (0.5, 1), (1, 0), (1, 1.5), (1, -1)):
        with project.fails(data={"code": "INVALID"}):
            run(project, id, "quote", cents=cents, days=days)


def test_a_quote_that_was_accepted_does_not_expire(project: Deployment) -> None:
    started, declined = new_job(project), new_job(project)
    for id in (started, declined):
        run(project, id, "quote", cents=5000, days=1)
    assert run(project, started, "start", bench=2) == {"quote": 5000, "ahead": []}
    assert run(project, declined, "decline", reason="too dear") == {"wasQuoted": True}
    before = [state(project, id) for id in (started, declined)]
    project.advance(days=2)
    assert [state(project, id) for id in (started, declined)] == before
    assert before[0] | {"since": 0} == {"phase": "working", "bench": 2, "since": 0, "quote": 5000}
    assert before[1] == {"phase": "declined", "reason": "too dear"}


def test_starts(project: Deployment) -> None:
    calm, urgent = new_job(project), new_job(project, priority="urgent")
    other, late = new_job(project, priority="urgent"), new_job(project)
    with project.fails(data={"code": "INVALID"}):
        run(project, calm, "start", bench=3)
    start = project.now()
    assert run(project, calm, "start", bench=1) == {"quote": None, "ahead": [urgent, other]}
    assert start <= state(project, calm)["since"] <= project.now()
    with project.fails(data={"code": "TAKEN", "bench": 1, "by": calm}):
        run(project, urgent, "start", bench=1)
    set_value(project, "benches", [4, 2])
    assert run(project, urgent, "start", bench=4) == {"quote": None, "ahead": []}
    with project.fails(data={"code": "INVALID"}):
        run(project, late, "start", bench=1)
    assert run(project, late, "start", bench=2) == {"quote": None, "ahead": [other]}


def test_parts_are_used(project: Deployment) -> None:
    part(project, "peg", stock=5)
    part(project, "glue")
    id = new_job(project)
    with project.fails(data={"code": "WRONG_PHASE", "phase": "waiting"}):
        run(project, id, "use", sku="peg", count=1)
    run(project, id, "start", bench=1)
    assert run(project, id, "use", sku="peg", count=2) == {"left": 3}
    assert run(project, id, "use", sku="glue", count=9) == {"left": None}
    assert run(project, id, "use", sku="peg", count=3) == {"left": 0}
    assert project.query("jobs:get", jobId=id)["parts"] == {"peg": 5, "glue": 9}
    with project.fails(data={"code": "OUT_OF_STOCK", "sku": "peg", "stock": 0}):
        run(project, id, "use", sku="peg", count=1)
    with project.fails(data={"code": "NOT_FOUND", "table": "parts"}):
        run(project, id, "use", sku="pin", count=1)
    for count in (0, -1, 1.5):
        with project.fails(data={"code": "INVALID"}):
            run(project, id, "use", sku="glue", count=count)
    used = [each["entry"] for each in project.query("jobs:history", jobId=id, type="part")]
    assert used == [
        {"type": "part", "sku": sku, "count": count} for sku, count in (("peg", 2), ("glue", 9), ("peg", 3))
    ]


@pytest.mark.parametrize(
    ("quote", "vat", "payload", "cents", "tax"),
    [
        (None, None, {"minutes": 90}, 11640, 1940),
        (None, None, {"minutes": 0}, 840, 140),
        (None, None, {"minutes": 1, "discount": 100}, 840, 140),
        (None, None, {"minutes": 10, "discount": 5000}, 0, 0),
        (5000, None, {"minutes": 90}, 6000, 1000),
        (5000, None, {"minutes": 90, "discount": 1}, 5999, 1000),
        (0, None, {"minutes": 90}, 0, 0),
        (5000, {"percent": 10, "included": True}, {"minutes": 1}, 5000, 455),
        (5000, {"percent": 8.1, "included": False}, {"minutes": 1}, 5405, 405),
    ],
)
def test_bills(project: Deployment, quote: int | None, vat: Data | None, payload: Data, cents: int, tax: int) -> None:
    part(project, "peg", cents=300)
    part(project, "glue", cents=50)
    gone = part(project, "wax", cents=999)
    id = new_job(project)
    if quote is not None:
        run(project, id, "quote", cents=quote, days=1)
    run(project, id, "start", bench=1)
    for sku, count in (("peg", 2), ("wax", 1), ("glue", 2)):
        run(project, id, "use", sku=sku, count=count)
    project.delete("parts", gone)
    set_value(project, "currency", "CHF")
    if vat is not None:
        set_value(project, "vat", vat)
    assert run(project, id, "finish", **payload) == {
        "cents": cents,
        "vat": tax,
        "currency": "CHF",
        "parts": [
            {"sku": "glue", "count": 2, "cents": 100},
            {"sku": "peg", "count": 2, "cents": 600},
            {"sku": "wax", "count": 1, "cents": 0},
        ],
    }
    received = state(project, id)
    assert received | {"at": 0} == {"phase": "done", "at": 0, "cents": cents}
    assert abs(received["at"] - project.now()) < DAY


def test_what_cannot_be_done_in_a_phase(project: Deployment) -> None:
    part(project, "peg")
    may: dict[str, Data] = {
        "quote": {"cents": 1, "days": 1},
        "start": {"bench": 1},
        "use": {"sku": "peg", "count": 1},
        "finish": {"minutes": 1},
        "decline": {"reason": None},
    }
    ways: list[tuple[str, list[str]]] = [
        ("waiting", []),
        ("quoted", ["quote"]),
        ("working", ["start"]),
        ("done", ["start", "finish"]),
        ("declined", ["decline"]),
    ]
    open_kinds = ("quote", "start", "decline")
    allowed: dict[str, tuple[str, ...]] = {
        "waiting": open_kinds,
        "quoted": open_kinds,
        "working": ("use", "finish"),
        "done": (),
        "declined": (),
    }
    for phase, kinds in ways:
        id = new_job(project)
        for kind in kinds:
            run(project, id, kind, **may[kind])
        for kind, payload in may.items():
            if kind not in allowed[phase]:
                with project.fails(data={"code": "WRONG_PHASE", "phase": phase}):
                    run(project, id, kind, **payload)
        assert run(project, id, "note", text="seen", author="Ben") is None
        assert project.query("jobs:history", jobId=id, type="note")[-1]["entry"]["author"] == "Ben"
        if phase == "working":
            for wrong in (
                {"minutes": 1.5},
                {"minutes": -1},
                {"minutes": 1, "discount": -1},
                {"minutes": 1, "discount": 0.5},
            ):
                with project.fails(data={"code": "INVALID"}):
                    run(project, id, "finish", **wrong)
            run(project, id, "finish", minutes=0)
    id = new_job(project)
    assert run(project, id, "decline", reason=None) == {"wasQuoted": False}
    assert state(project, id) == {"phase": "declined", "reason": None}


def test_history_and_timeline(project: Deployment) -> None:
    part(project, "peg")
    id, other = new_job(project, priority="urgent", title="neck"), new_job(project, title="bow ")
    run(project, other, "note", text="other", author=None)
    start = project.now()
    run(project, id, "quote", cents=5, days=1)
    run(project, id, "note", text="call back", author="Eve")
    run(project, id, "start", bench=1)
    run(project, id, "use", sku="peg", count=3)
    run(project, id, "note", text="", author=None)
    run(project, id, "finish", minutes=5)
    entries = [
        {"type": "moved", "from": "waiting", "to": "quoted"},
        {"type": "note", "text": "call back", "author": "Eve"},
        {"type": "moved", "from": "quoted", "to": "working"},
        {"type": "part", "sku": "peg", "count": 3},
        {"type": "note", "text": "", "author": None},
        {"type": "moved", "from": "working", "to": "done"},
    ]
    received = project.query("jobs:history", jobId=id)
    assert [each["entry"] for each in received] == entries
    assert all(set(each) == {"at", "entry"} and start <= each["at"] <= project.now() for each in received)
    for kind in ("moved", "note", "part"):
        some = project.query("jobs:history", jobId=id, type=kind)
        assert some == [each for each in received if each["entry"]["type"] == kind]
    assert project.query("jobs:timeline", jobId=id) == [
        *("URGENT neck", "from waiting to quoted", "call back (Eve)", "from quoted to on the bench", "3 x peg", ""),
        "from on the bench to done",
    ]
    assert project.query("jobs:timeline", jobId=other) == ["bow", "other"]


def test_lists_of_jobs(project: Deployment) -> None:
    ids = [new_job(project, title=str(number)) for number in range(5)]
    run(project, ids[1], "decline", reason=None)
    pages = project.pages("jobs:list", num_items=2, phase="waiting")
    assert [each["jobId"] for page in pages for each in page.items] == [ids[4], ids[3], ids[2], ids[0]]
    assert len(pages[0].items) == 2
    assert pages[0].items[0] == project.query("jobs:get", jobId=ids[4])
    assert [
        each["jobId"] for page in project.pages("jobs:list", num_items=9, phase="declined") for each in page.items
    ] == [ids[1]]
    assert [page.items for page in project.pages("jobs:list", num_items=9, phase="done")] == [[]]


def test_settings(project: Deployment) -> None:
    current = dict(DEFAULTS)
    assert project.query("settings:all") == current
    for key, value in (
        ("vat", {"percent": 7.7, "included": True}),
        ("currency", "CHF"),
        ("benches", [4, 1, 3]),
        ("hourlyCents", 0),
        ("benches", []),
        ("currency", "EUR"),
    ):
        set_value(project, key, value)
        current[key] = value
        assert project.query("settings:all") == current
        assert {each: project.query("settings:get", key=each) for each in current} == current


def test_parts(project: Deployment) -> None:
    peg = part(project, "peg", 100, 5)
    glue = part(project, "glue", 0, None)
    assert part(project, "peg", 200, 0) == peg
    assert project.query("parts:find", skus=["glue", "pin", "peg", "glue"]) == {
        "glue": {"sku": "glue", "name": "GLUE", "cents": 0, "stock": None},
        "pin": None,
        "peg": {"sku": "peg", "name": "PEG", "cents": 200, "stock": 0},
    }
    assert project.query("parts:find", skus=[]) == {}
    assert {each["_id"] for each in project.documents("parts")} == {peg, glue}
    for cents, stock in ((-1, 1), (0.5, 1), (1, -1), (1, 0.5)):
        with project.fails(data={"code": "INVALID"}):
            project.mutation("parts:put", sku="peg", name="a", cents=cents, stock=stock)


def stocks(project: Deployment, *skus: str) -> Data:
    found = project.query("parts:find", skus=skus)
    return {sku: each and each["stock"] for sku, each in found.items()}


def test_deliveries(project: Deployment) -> None:
    part(project, "peg", stock=5)
    part(project, "glue")
    items = [{"sku": "peg", "count": 2, "note": "x"}, {"sku": "glue", "count": 1}, {"sku": "peg", "count": 1}]
    response = project.http.post("/deliveries", json=items)
    assert (response.status, response.json()) == (200, {"items": 3})
    assert stocks(project, "peg", "glue") == {"peg": 8, "glue": None}
    response = project.http.post("/deliveries", json=[*items, {"sku": "pin", "count": 1}])
    assert (response.status, response.json()) == (404, {"code": "NOT_FOUND", "sku": "pin"})
    for text in ("", "{", "[1"):
        response = project.http.post("/deliveries", body=text.encode())
        assert (response.status, response.text) == (400, "not JSON"), text
    bodies: list[Any] = [[], {}, {"length": 1}, "peg", 5, None, True]
    for body in bodies:
        response = project.http.post("/deliveries", body=json.dumps(body).encode())
        assert (response.status, response.text) == (400, "no items"), body
    for item in (
        *(None, 5, "peg", [], {}, ["peg", 1]),
        *({"sku": "peg"}, {"count": 1}, {"sku": 5, "count": 1}, {"sku": None, "count": 1}),
        *({"sku": "peg", "count": count} for count in (0, -1, 1.5, "1", None, [1])),
    ):
        response = project.http.post("/deliveries", json=[items[0], item])
        assert (response.status, response.text) == (400, "bad item"), item
    assert stocks(project, "peg", "glue") == {"peg": 8, "glue": None}


def test_deliveries_cannot_be_made_by_clients(project: Deployment) -> None:
    part(project, "peg", stock=5)
    for path, arguments in (
        ("parts:deliver", {"items": [{"sku": "peg", "count": 1}]}),
        ("jobs:expire", {"jobId": new_job(project), "validUntil": 5}),
    ):
        with project.fails():
            project.mutation(path, arguments)
    assert stocks(project, "peg") == {"peg": 5}


def test_summary(project: Deployment) -> None:
    owner = customer(project)
    start = project.now()
    part(project, "peg")
    jobs = {}
    for name, spec in (("a", VIOLIN), ("b", VIOLIN), ("c", FLUTE), ("d", PIANO), ("e", HORN), ("f", SYNTH)):
        jobs[name] = job(project, instrument(project, owner, spec))
    set_value(project, "benches", [1, 2, 3, 4])
    run(project, jobs["a"], "quote", cents=1000, days=1)
    run(project, jobs["a"], "start", bench=1)
    run(project, jobs["a"], "finish", minutes=0)
    run(project, jobs["b"], "decline", reason=None)
    run(project, jobs["c"], "quote", cents=500, days=1)

    def summary(since: float = start, until: float = project.now() + DAY) -> Any:
        return project.query("reports:summary", {"from": since, "to": until})

    families = {"strings": {"jobs": 2, "cents": 1200}, "wind": {"jobs": 2, "cents": 0}, "keys": {"jobs": 2, "cents": 0}}
    phases = {"waiting": 3, "quoted": 1, "working": 0, "done": 1, "declined": 1}
    assert summary() == {"phases": phases, "families": families, "busiest": None}
    for name, bench in (("d", 4), ("e", 3), ("f", 2)):
        run(project, jobs[name], "start", bench=bench)
    phases |= {"waiting": 0, "working": 3}
    assert summary() == {"phases": phases, "families": families, "busiest": 2}
    run(project, jobs["d"], "use", sku="peg", count=3)
    run(project, jobs["e"], "use", sku="peg", count=3)
    assert summary()["busiest"] == 3
    run(project, jobs["d"], "use", sku="peg", count=1)
    assert summary()["busiest"] == 4
    first = (project.get(jobs["a"]) or {})["_creationTime"]
    last = (project.get(jobs["f"]) or {})["_creationTime"]
    assert sum(summary(first, last)["phases"].values()) == 5
    assert sum(summary(first + 0.001, last + 0.001)["phases"].values()) == 5
    nothing = {"jobs": 0, "cents": 0}
    empty = {"phases": dict.fromkeys(PHASES, 0), "families": dict.fromkeys(families, nothing), "busiest": None}
    assert summary(start - 2 * DAY, start - DAY) == empty
    project.delete("instruments", project.query("jobs:get", jobId=jobs["a"])["instrument"]["instrumentId"])
    families["strings"] = {"jobs": 1, "cents": 0}
    assert summary() == {"phases": phases, "families": families, "busiest": 4}


def test_statement(project: Deployment) -> None:
    owner, other = customer(project, contact=PHONE), customer(project)
    violin, piano = instrument(project, owner, VIOLIN, "Old"), instrument(project, owner, PIANO, "Big")
    flute = instrument(project, owner, FLUTE, "Thin")
    jobs = [
        job(project, of, title)
        for of, title in ((piano, "a"), (violin, "b"), (flute, "c"), (violin, "d"), (piano, "e"), (flute, "f"))
    ]
    job(project, instrument(project, other), "other")
    run(project, jobs[1], "quote", cents=1000, days=1)
    run(project, jobs[1], "start", bench=1)
    run(project, jobs[2], "quote", cents=500, days=1)
    run(project, jobs[3], "decline", reason="no time")
    run(project, jobs[4], "decline", reason=None)
    run(project, jobs[5], "start", bench=2)
    assert project.action("reports:statement", customerId=owner) == {
        "to": PHONE,
        "lines": [
            "String instrument Old, b: is on bench 1",
            "String instrument Old, d: was declined: no time",
            "Keyboard Big, a: is waiting",
            "Keyboard Big, e: was declined",
            "Wind instrument Thin, c: would cost 500",
            "Wind instrument Thin, f: is on bench 2",
        ],
        "openCents": 1500,
    }
    run(project, jobs[1], "finish", minutes=1)
    received = project.action("reports:statement", customerId=owner)
    assert (received["lines"][0], received["openCents"]) == ("String instrument Old, b: is done for 1200", 500)
    project.delete("customers", owner)
    office = {"kind": "email", "address": "office@workshop.example"}
    assert project.action("reports:statement", customerId=owner) == {"to": office, "lines": [], "openCents": 0}


def test_imports(project: Deployment) -> None:
    rows: list[Data] = [
        {"name": "Ada", "contact": PHONE, "note": None},
        {"name": "Ben", "contact": EMAIL, "note": "x", "discountPercent": 5},
    ]
    ids = project.mutation("imports:load", batch={"table": "customers", "rows": rows})
    assert [project.query("customers:get", customerId=id) for id in ids] == [
        row | {"customerId": id} for id, row in zip(ids, rows, strict=True)
    ]
    parts = [{"sku": sku, "name": sku, "cents": 5, "stock": stock} for sku, stock in (("b", 3), ("a", None))]
    ids = project.mutation("imports:load", batch={"table": "parts", "rows": parts})
    assert [part(project, sku, 5, stock) for sku, stock in (("b", 3), ("a", None))] == ids
    with project.fails(data={"code": "TAKEN", "sku": "a"}):
        project.mutation("imports:load", batch={"table": "parts", "rows": [parts[0] | {"sku": "c"}, parts[1]]})
    assert stocks(project, "b", "a") == {"b": 3, "a": None}
    assert project.query("parts:find", skus=["c"]) == {"c": None}
    for table in ("parts", "customers"):
        assert project.mutation("imports:load", batch={"table": table, "rows": []}) == []


# What is there already.


def old_rows(given: GivenDeployment) -> Data:
    """What the first version has stored, as `convex/schema.ts` describes it."""
    owner = given.insert("customers", name="Old Ada", contact="old@x.example")
    saver = given.insert("customers", name="Old Ben", contact="ben@x.example", discountPercent=10)
    texts = {
        "violin": VIOLIN,
        "flute": FLUTE,
        "horn": HORN,
        "oboe": {"family": "wind", "material": "wood"},
        "piano": PIANO,
        "synth": SYNTH,
    }
    specs = {
        name: given.insert("instruments", ownerId=owner, label=name, spec=json.dumps(spec))
        for name, spec in texts.items()
    }
    serial = given.insert("instruments", ownerId=saver, label="s", spec=json.dumps(PIANO), serial="7")
    first = {"title": "old", "parts": json.dumps({"peg": 2})}
    jobs = {
        "calm": given.insert("jobs", first | {"instrumentId": specs["oboe"], "phase": "waiting", "urgent": False}),
        "urgent": given.insert("jobs", first | {"instrumentId": specs["violin"], "phase": "waiting", "urgent": True}),
        "done": given.insert(
            "jobs",
            first
            | {"instrumentId": specs["piano"], "phase": "done", "urgent": True, "cents": 900, "finishedAt": 1234567.5},
        ),
        "touched": given.insert("jobs", first | {"instrumentId": specs["synth"], "phase": "waiting", "urgent": True}),
        "finished": given.insert("jobs", first | {"instrumentId": specs["horn"], "phase": "waiting", "urgent": False}),
    }
    for type, data in (
        ("moved", {"from": "waiting", "to": "working"}),
        ("part", {"sku": "peg", "count": 2}),
        ("note", {"text": "first"}),
        ("note", {"text": "second", "author": "Eve"}),
        ("moved", {"from": "working", "to": "done"}),
    ):
        given.insert("events", jobId=jobs["done"], at=12345, type=type, data=json.dumps(data))
    return {"customers": [owner, saver], "instruments": [*specs.values(), serial], "jobs": jobs}


def everything(to: Deployment, customers: list[str], instruments: list[str], jobs: list[str]) -> list[Any]:
    """What all queries say."""
    skus = ["peg", "glue", "pin"]
    return [
        *(to.query("customers:get", customerId=id) for id in customers),
        *(to.query("instruments:ofCustomer", customerId=id) for id in customers),
        *(to.action("reports:statement", customerId=id) for id in customers),
        *(to.query("instruments:get", instrumentId=id) for id in instruments),
        *(to.query("jobs:get", jobId=id) for id in jobs),
        *(to.query("jobs:history", jobId=id) for id in jobs),
        *(to.query("jobs:timeline", jobId=id) for id in jobs),
        *(page.items for phase in PHASES for page in to.pages("jobs:list", num_items=50, phase=phase)),
        to.query("parts:find", skus=skus),
        to.query("settings:all"),
        *(to.query("settings:get", key=key) for key in DEFAULTS),
        to.query("reports:summary", {"from": 0, "to": to.now() + DAY}),
    ]


def test_rows_of_the_first_version(given: GivenDeployment) -> None:
    old = old_rows(given)
    part(given, "peg", 10, 5)
    run(given, old["jobs"]["touched"], "quote", cents=5, days=1)
    run(given, old["jobs"]["finished"], "start", bench=1)
    run(given, old["jobs"]["finished"], "use", sku="peg", count=1)
    run(given, old["jobs"]["finished"], "finish", minutes=1)
    ids = (old["customers"], old["instruments"], list(old["jobs"].values()))
    before = everything(given, *ids)
    assert before[0] == {
        "customerId": ids[0][0],
        "name": "Old Ada",
        "contact": {"kind": "email", "address": "old@x.example"},
        "note": None,
    }
    rows = {table: given.documents(table) for table in ("customers", "instruments", "jobs", "events")}
    project = given.upgrade()
    assert everything(project, *ids) == before
    assert {table: project.documents(table) for table in rows} == rows
    jobs = old["jobs"]
    project.mutation("customers:change", customerId=ids[0][0], changes={"name": "New Ada"})
    project.mutation("customers:change", customerId=ids[0][1], changes={"discountPercent": None, "contact": PHONE})
    received = [project.query("customers:get", customerId=id) for id in ids[0]]
    assert received == [
        before[0] | {"name": "New Ada"},
        {"customerId": ids[0][1], "name": "Old Ben", "contact": PHONE, "note": None},
    ]
    assert run(project, jobs["calm"], "start", bench=2) == {"quote": None, "ahead": [jobs["urgent"]]}
    assert run(project, jobs["calm"], "use", sku="peg", count=1) == {"left": 3}
    assert project.query("jobs:get", jobId=jobs["calm"])["parts"] == {"peg": 3}
    assert run(project, jobs["urgent"], "quote", cents=7, days=1)["validUntil"] > project.now()
    assert run(project, jobs["touched"], "decline", reason="old") == {"wasQuoted": True}
    with project.fails(data={"code": "WRONG_PHASE", "phase": "done"}):
        run(project, jobs["done"], "decline", reason=None)
    shown = project.query("jobs:get", jobId=jobs["urgent"])
    assert (shown["priority"], shown["state"]["phase"]) == ("urgent", "quoted")
    assert project.query("reports:summary", {"from": 0, "to": project.now() + DAY})["phases"] == {
        "waiting": 0,
        "quoted": 1,
        "working": 1,
        "done": 2,
        "declined": 1,
    }


def test_rows_and_scheduled_calls_of_the_given_code(given: GivenDeployment) -> None:
    owners = [customer(given, note="a", discountPercent=3), customer(given, "Ben", PHONE)]
    instruments = [instrument(given, owner, spec) for owner in owners for spec in (VIOLIN, FLUTE, HORN, PIANO, SYNTH)]
    instruments.append(instrument(given, owners[0], serial="9"))
    jobs = [job(given, each, priority="urgent") for each in instruments]
    part(given, "peg", 10, 5)
    part(given, "glue", 10)
    set_value(given, "vat", {"percent": 5, "included": True})
    set_value(given, "benches", [1, 2, 3])
    run(given, jobs[0], "quote", cents=5, days=2)
    run(given, jobs[1], "decline", reason=None)
    run(given, jobs[2], "decline", reason="x")
    run(given, jobs[3], "start", bench=1)
    run(given, jobs[3], "use", sku="peg", count=2)
    run(given, jobs[3], "note", text="a", author=None)
    run(given, jobs[4], "quote", cents=6, days=1)
    run(given, jobs[4], "start", bench=3)
    run(given, jobs[4], "note", text="b", author="Eve")
    run(given, jobs[5], "start", bench=2)
    run(given, jobs[5], "finish", minutes=9, discount=3)
    run(given, jobs[6], "quote", cents=5, days=9)
    given.delete("instruments", instruments[-2])
    before = everything(given, owners, instruments, jobs)
    project = given.upgrade()
    assert everything(project, owners, instruments, jobs) == before
    project.advance(days=3)
    assert [each.state for each in project.scheduled()] == ["success", "success", "pending"]
    assert [state(project, jobs[each])["phase"] for each in (0, 4, 6)] == ["waiting", "working", "quoted"]
    assert run(project, jobs[3], "use", sku="peg", count=3) == {"left": 0}
    assert run(project, jobs[4], "finish", minutes=50)["cents"] == 6


# What is refused.


def test_wrong_arguments_are_refused(project: Deployment) -> None:
    owner = customer(project)
    violin = instrument(project, owner)
    id = job(project, violin)
    page = {"numItems": 5, "cursor": None}
    right: dict[str, Data] = {
        "customers:add": {"name": "a", "contact": EMAIL},
        "customers:get": {"customerId": owner},
        "customers:change": {"customerId": owner, "changes": {}},
        "instruments:add": {"ownerId": owner, "label": "a", "spec": VIOLIN},
        "instruments:get": {"instrumentId": violin},
        "instruments:ofCustomer": {"customerId": owner},
        "jobs:open": {"instrumentId": violin, "title": "a"},
        "jobs:get": {"jobId": id},
        "jobs:list": {"phase": "waiting", "paginationOpts": page},
        "jobs:run": {"jobId": id, "command": {"kind": "note", "payload": {"text": "a", "author": None}}},
        "jobs:history": {"jobId": id},
        "jobs:timeline": {"jobId": id},
        "parts:put": {"sku": "a", "name": "a", "cents": 1, "stock": 1},
        "parts:find": {"skus": ["a"]},
        "settings:get": {"key": "vat"},
        "settings:set": {"setting": {"key": "currency", "value": "EUR"}},
        "settings:all": {},
        "reports:summary": {"from": 1, "to": 2},
        "reports:statement": {"customerId": owner},
        "imports:load": {"batch": {"table": "parts", "rows": []}},
    }
    wrong: list[tuple[str, Data]] = [
        *((path, arguments | {"extra": 1}) for path, arguments in right.items()),
        *(
            (path, {k: v for k, v in arguments.items() if k != name})
            for path, arguments in right.items()
            for name in arguments
        ),
        *((path, arguments | {name: None}) for path, arguments in right.items() for name in arguments),
        *((path, arguments | {name: [5]}) for path, arguments in right.items() for name in arguments),
        *(("customers:add", right["customers:add"] | {"contact": contact}) for contact in CONTACTS),
        ("customers:add", right["customers:add"] | {"note": None}),
        ("customers:add", right["customers:add"] | {"discountPercent": "5"}),
        *(("customers:change", {"customerId": owner, "changes": {"contact": contact}}) for contact in CONTACTS),
        ("customers:change", {"customerId": owner, "changes": {"name": None}}),
        ("customers:change", {"customerId": owner, "changes": {"phone": "5"}}),
        ("customers:change", {"customerId": owner, "changes": {"note": 5}}),
        *((path, {"customerId": violin}) for path in ("customers:get", "instruments:ofCustomer", "reports:statement")),
        *(("instruments:add", right["instruments:add"] | {"spec": spec}) for spec in SPECS),
        ("instruments:add", right["instruments:add"] | {"serial": None}),
        ("instruments:add", right["instruments:add"] | {"serial": 5}),
        ("instruments:add", right["instruments:add"] | {"ownerId": violin}),
        ("instruments:ofCustomer", {"customerId": owner, "family": "drums"}),
        ("instruments:ofCustomer", {"customerId": owner, "family": None}),
        ("instruments:get", {"instrumentId": owner}),
        ("jobs:open", right["jobs:open"] | {"priority": "high"}),
        ("jobs:open", right["jobs:open"] | {"priority": None}),
        ("jobs:open", right["jobs:open"] | {"instrumentId": id}),
        ("jobs:get", {"jobId": violin}),
        ("jobs:list", {"phase": "lost", "paginationOpts": page}),
        ("jobs:list", {"phase": "done", "paginationOpts": {"numItems": "5", "cursor": None}}),
        ("jobs:history", {"jobId": id, "type": "quoted"}),
        ("jobs:history", {"jobId": id, "type": None}),
        *(("jobs:run", {"jobId": id, "command": command}) for command in COMMANDS),
        ("parts:put", right["parts:put"] | {"stock": "1"}),
        ("parts:put", right["parts:put"] | {"cents": "1"}),
        ("parts:find", {"skus": ["a", 5]}),
        ("settings:get", {"key": "tax"}),
        *(("settings:set", {"setting": setting}) for setting in SETTINGS),
        ("reports:summary", {"from": "1", "to": 2}),
        *(("imports:load", {"batch": batch}) for batch in BATCHES),
    ]
    for path, arguments in right.items():
        call(project, path, arguments)
    nullable = {"parts:put": {"stock"}}
    for path, arguments in wrong:
        if any(arguments.get(name, 0) is None for name in nullable.get(path, ())):
            continue
        try:
            received = call(project, path, arguments)
        except CallFailed as failure:
            assert "ArgumentValidationError" in failure.message, (path, arguments)
        else:
            pytest.fail(f"{path} accepts {arguments} and returns {received}")


def call(project: Deployment, path: str, arguments: Data) -> Any:
    kind = project.functions()[path].kind
    return {"query": project.query, "mutation": project.mutation, "action": project.action}[kind](path, arguments)


CONTACTS: list[Any] = [
    "ada@x.example",
    {"kind": "email", "number": "5"},
    {"kind": "email", "address": None},
    {"kind": "phone", "number": "5"},
    {"kind": "phone", "number": 5, "texts": True},
    {"kind": "phone", "number": "5", "texts": "yes"},
    {"kind": "phone", "number": "5", "texts": True, "address": "a"},
    {"kind": "fax", "number": "5"},
]
SPECS: list[Any] = [
    json.dumps(VIOLIN),
    {"family": "drums"},
    {"family": "strings", "strings": 4},
    {"family": "strings", "strings": "4", "fretted": True},
    {"family": "strings", "strings": 4, "fretted": None},
    {"family": "wind", "material": "silver"},
    {"family": "wind", "material": "gold", "pitch": None},
    {"family": "wind", "material": "wood", "pitch": 5},
    {"family": "keys", "keys": 88},
    {"family": "keys", "keys": 88, "power": 12},
    {"family": "keys", "keys": 88, "power": {}},
    {"family": "keys", "keys": 88, "power": {"volts": "12"}},
    PIANO | {"material": "wood"},
]
COMMANDS: list[Any] = [
    "note",
    {"kind": "note"},
    {"kind": "open", "payload": {}},
    {"kind": "quote", "payload": {"cents": 1}},
    {"kind": "quote", "payload": {"cents": 1, "days": "1"}},
    {"kind": "quote", "payload": {"bench": 1}},
    {"kind": "start", "payload": {"bench": 5}},
    {"kind": "start", "payload": {"bench": 0}},
    {"kind": "start", "payload": {"bench": "1"}},
    {"kind": "start", "payload": {"bench": 1, "cents": 5}},
    {"kind": "use", "payload": {"sku": "a"}},
    {"kind": "use", "payload": {"sku": 5, "count": 1}},
    {"kind": "note", "payload": {"text": "a"}},
    {"kind": "note", "payload": {"reason": None}},
    {"kind": "note", "payload": {"text": None, "author": "a"}},
    {"kind": "finish", "payload": {}},
    {"kind": "finish", "payload": {"minutes": 1, "discount": None}},
    {"kind": "decline", "payload": {}},
    {"kind": "decline", "payload": {"reason": 5}},
    {"kind": "decline", "payload": {"text": "a", "author": None}},
]
SETTINGS: list[Any] = [
    {"key": "currency"},
    {"key": "currency", "value": "USD"},
    {"key": "currency", "value": 5},
    {"key": "hourlyCents", "value": "EUR"},
    {"key": "hourlyCents", "value": None},
    {"key": "benches", "value": [5]},
    {"key": "benches", "value": 1},
    {"key": "vat", "value": 20},
    {"key": "vat", "value": {"percent": 20}},
    {"key": "vat", "value": {"percent": 20, "included": 1}},
    {"key": "tax", "value": 5},
]
PART = {"sku": "z", "name": "z", "cents": 1, "stock": None}
PERSON = {"name": "a", "contact": EMAIL, "note": None}
BATCHES: list[Any] = [
    {"table": "jobs", "rows": []},
    {"table": "parts"},
    {"table": "parts", "rows": [PERSON]},
    {"table": "customers", "rows": [PART]},
    {"table": "parts", "rows": [PART, PART | {"stock": "1"}]},
    {"table": "customers", "rows": [PERSON | {"contact": "ada@x.example"}]},
    {"table": "customers", "rows": [PERSON | {"discountPercent": None}]},
    {"table": "customers", "rows": [{"name": "a", "contact": EMAIL}]},
]


def test_wrong_documents_are_refused(project: Deployment) -> None:
    owner = project.insert("customers", PERSON)
    violin = project.insert("instruments", ownerId=owner, label="a", spec=VIOLIN)
    waiting = {
        "instrumentId": violin,
        "title": "a",
        "parts": "{}",
        "priority": "normal",
        "phase": "waiting",
        "state": {"phase": "waiting"},
    }
    id = project.insert("jobs", waiting)
    event = {"jobId": id, "at": 5}
    right: list[tuple[str, Data]] = [
        ("customers", PERSON | {"discountPercent": 5}),
        ("customers", {"name": "a", "contact": "a@x.example"}),
        ("instruments", {"ownerId": owner, "label": "a", "spec": json.dumps(FLUTE), "serial": "5"}),
        ("jobs", {"instrumentId": violin, "title": "a", "parts": "{}", "phase": "waiting", "urgent": False}),
        ("jobs", waiting | {"phase": "working", "state": {"phase": "working", "bench": 4, "since": 5, "quote": None}}),
        ("events", event | {"entry": {"type": "note", "text": "a", "author": None}}),
        ("events", event | {"type": "note", "data": "{}"}),
        ("parts", PART),
        ("settings", {"key": "hourlyCents", "value": 5}),
    ]
    for table, document in right:
        project.insert(table, document)
    wrong: list[tuple[str, Data]] = [
        *(("customers", PERSON | {"contact": contact}) for contact in CONTACTS if not isinstance(contact, str)),
        ("customers", PERSON | {"discountPercent": None}),
        ("customers", PERSON | {"note": 5}),
        *(
            ("instruments", {"ownerId": owner, "label": "a", "spec": spec})
            for spec in SPECS
            if not isinstance(spec, str)
        ),
        ("instruments", {"ownerId": violin, "label": "a", "spec": VIOLIN}),
        ("instruments", {"ownerId": owner, "label": "a", "spec": VIOLIN, "serial": None}),
        ("jobs", waiting | {"instrumentId": owner}),
        ("jobs", waiting | {"priority": "high"}),
        ("jobs", waiting | {"phase": "lost"}),
        *(("jobs", waiting | {"phase": state["phase"], "state": state}) for state in STATES),
        *(("events", event | {"entry": entry}) for entry in ENTRIES),
        ("events", event | {"type": "quoted", "data": "{}"}),
        ("events", event | {"type": "note", "data": {"text": "a"}}),
        ("parts", PART | {"stock": "1"}),
        ("parts", {"sku": "a", "name": "b", "cents": 5}),
        *(("settings", setting) for setting in SETTINGS),
    ]
    for table, document in wrong:
        assert is_refused(project, table, document), f"{table} takes {document}"


def is_refused(project: Deployment, table: str, document: Data) -> bool:
    try:
        project.insert(table, document)
    except CallFailed as failure:
        return "does not match the schema" in failure.message
    return False


STATES: list[Data] = [
    {"phase": "waiting", "cents": 5},
    {"phase": "quoted", "cents": 5},
    {"phase": "quoted", "reason": None},
    {"phase": "working", "bench": 5, "since": 1, "quote": None},
    {"phase": "working", "bench": 1, "since": 1},
    {"phase": "done", "cents": 5},
    {"phase": "done", "at": "5", "cents": 5},
    {"phase": "declined"},
]
ENTRIES: list[Any] = [
    "note",
    {"type": "moved", "from": "waiting", "to": "lost"},
    {"type": "moved", "from": "waiting"},
    {"type": "part", "sku": "a", "count": "1"},
    {"type": "note", "text": "a"},
    {"type": "note", "text": "a", "author": 5},
    {"type": "note", "sku": "a", "count": 1},
]

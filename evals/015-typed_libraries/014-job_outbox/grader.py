"""An outbox of jobs: what happens to them, and what the compiler knows about them."""

# ruff: noqa: E501 (snippets of TypeScript)

import random
from typing import Any

import pytest

from convex_evals.pipeline.grading.kit import Deployment, TypeChecks

Data = dict[str, Any]

HEAD = """
import { v, type Infer } from "convex/values";
import { api, internal } from "./_generated/api";
import type { Id } from "./_generated/dataModel";
import type { ActionCtx, MutationCtx, QueryCtx } from "./_generated/server";
import { outbox } from "./jobs";
import { createOutbox, job, type JobId, type JobName, type PayloadOf, type RequestOf, type ResultOf } from "./lib/outbox";
type Same<A, B> = [A] extends [B] ? ([B] extends [A] ? (0 extends 1 & A ? false : true) : false) : false;
declare const q: QueryCtx;
declare const m: MutationCtx;
declare const a: ActionCtx;
declare const id: Id<"jobs">;
declare const isLarge: boolean;
const rest = { attempts: 1, backoffMs: 1 };
export async function use() {
%s
}
"""
EMAIL = '{ to: ["a"], subject: "b", priority: "low" }'


def handled(
    handler: str, kind: str = '"mutation"', payload: str = "{ text: v.string() }", result: str = "v.number()"
) -> str:
    return f"""
  const box = createOutbox({{ it: job({{ ...rest, kind: {kind}, version: 1, payload: v.object({payload}), result: {result} }}) }});
  await box.run(a, id, {{ it: {handler} }});"""


def upgrades(old: str, upgrade: str) -> str:
    return f"""
  return job({{ ...rest, kind: "action", version: 3, result: v.null(),
    payload: v.object({{ to: v.array(v.string()), mode: v.union(v.literal("a"), v.literal("b")), note: v.optional(v.string()) }}) }})
    .from({old}, v.object({{ one: v.string() }}), {upgrade});"""


ALL = "sendEmail: internal.work.sendEmail, resize: internal.work.resize, report: internal.work.report"

COMPILES = {
    "names, payloads and results": """
  const same: [
    Same<JobName<typeof outbox>, "sendEmail" | "resize" | "report" | "cleanUp">,
    Same<PayloadOf<typeof outbox, "resize">, { image: string; width: number }>,
    Same<PayloadOf<typeof outbox, "sendEmail">["priority"], "low" | "high">,
    Same<PayloadOf<typeof outbox, "report">, { since?: number }>,
    Same<ResultOf<typeof outbox, "sendEmail">, { messageId: string }>,
    Same<ResultOf<typeof outbox, "cleanUp">, null>,
  ] = [true, true, true, true, true, true];
  return same;""",
    "requests": """
  type Request = RequestOf<typeof outbox>;
  const same: [
    Same<Request, Infer<typeof outbox.request>>,
    Same<Request["name"], JobName<typeof outbox>>,
    Same<Extract<Request, { name: "sendEmail" }>["version"], 1 | 2 | 3>,
    Same<Extract<Request, { name: "resize"; version: 1 }>["payload"], { image: string; size: "small" | "large" }>,
    Same<Extract<Request, { name: "resize"; version: 2 }>["payload"], { image: string; width: number }>,
    Same<Extract<Request, { name: "report" }>["version"], 1>,
  ] = [true, true, true, true, true, true];
  const use = (request: Request) =>
    request.name === "sendEmail" && request.version === 1 ? request.payload.address.length : request.name === "cleanUp" ? request.version : 0;
  return [same, use];""",
    "enqueued jobs": f"""
  const one: JobId<"sendEmail"> = await outbox.enqueue(m, "sendEmail", {EMAIL});
  const two = await outbox.enqueue(m, "resize", {{ image: "a", width: 5 }}, {{ delayMs: 5 }});
  const three: JobId<"report"> = await outbox.enqueue(m, "report", {{ since: 5 }});
  const four = [await outbox.enqueue(m, "report"), await outbox.enqueue(m, "report", {{}}, {{ delayMs: 1 }})];
  const five: JobId<"cleanUp">[] = [await outbox.enqueue(m, "cleanUp"), await outbox.enqueue(m, "cleanUp", {{}}, {{}})];
  const plain: Id<"jobs">[] = [one, two, three, ...four, ...five];
  return plain;""",
    "a name that is one of several": """
  const payload: PayloadOf<typeof outbox, "resize"> = { image: "a", width: 1 };
  await outbox.enqueue(m, isLarge ? "report" : "cleanUp");
  return outbox.enqueue(m, "resize", payload);""",
    "enqueued requests": f"""
  const one: JobId<"resize"> = await outbox.enqueueRequest(m, {{ name: "resize", version: 1, payload: {{ image: "a", size: "small" }} }});
  const two = await outbox.enqueueRequest(m, {{ name: "sendEmail", version: 3, payload: {EMAIL} }}, {{ delayMs: 4 }});
  const request: RequestOf<typeof outbox> = {{ name: "cleanUp", version: 1, payload: {{}} }};
  return [one, two, await outbox.enqueueRequest(m, request)];""",
    "results": """
  const sent = await outbox.getResult(q, "sendEmail", id);
  const resized = await outbox.getResult(m, "resize", await outbox.enqueue(m, "resize", { image: "a", width: 5 }));
  if (sent?.status === "done") sent.result.messageId.trim();
  if (sent?.status === "failed") sent.error.trim();
  const width: number | undefined = resized?.status === "done" ? resized.result : resized?.attempts;
  const same: [Same<NonNullable<typeof sent>["status"], "waiting" | "done" | "failed">,
    Same<Extract<typeof resized, { status: "done" }>["result"], number>] = [true, true];
  return [width, same, sent === null];""",
    "old versions": """
  return job({ ...rest, kind: "mutation", version: 4, payload: v.object({ n: v.number(), unit: v.union(v.literal("m"), v.literal("ft")) }), result: v.null() })
    .from(3, v.object({ n: v.number() }), ({ n }) => ({ n: n + 1, unit: "m" }))
    .from(1, v.object({ text: v.string(), isOld: v.optional(v.boolean()) }), (old) => ({ n: old.text.length, unit: old.isOld ? "m" : "ft" }));""",
    "an upgrade": upgrades("1", '(old) => ({ to: [old.one.trim()], mode: "a" })'),
    "versions of another outbox": """
  const box = createOutbox({
    count: job({ ...rest, kind: "mutation", version: 7, payload: v.object({ by: v.number() }), result: v.string() })
      .from(5, v.object({ step: v.string() }), (old) => ({ by: Number(old.step) })),
    stop: job({ ...rest, kind: "action", version: 1, payload: v.object({}), result: v.null() }),
  });
  const same: [
    Same<RequestOf<typeof box>, { name: "count"; version: 7; payload: { by: number } } | { name: "count"; version: 5; payload: { step: string } } | { name: "stop"; version: 1; payload: {} }>,
    Same<JobName<typeof box>, "count" | "stop">,
    Same<ResultOf<typeof box, "count">, string>,
  ] = [true, true, true];
  const done: JobId<"count"> = await box.enqueue(m, "count", { by: 5 });
  return [same, done];""",
    "a handler that fits": handled("internal.work.note"),
    "a handler that returns less": handled("internal.work.note", result="v.union(v.number(), v.string())"),
    "a handler that takes more": handled(
        "internal.work.report", '"action"', "{ since: v.number() }", "v.array(v.string())"
    ),
    "a handler with one more optional argument": handled(
        "internal.work.resize", payload="{ image: v.string(), width: v.number() }"
    ),
    "a handler without arguments": handled("internal.work.cleanUp", payload="{}", result="v.null()"),
    "all handlers": f"return outbox.run(a, id, {{ {ALL}, cleanUp: internal.work.cleanUp }});",
}
REFUSED = {
    "a name that is not defined": 'return outbox.enqueue(m, "resizes", { image: "a", width: 5 });',
    "a payload of another job": 'return outbox.enqueue(m, "resize", { since: 5 });',
    "a payload of an old version": 'return outbox.enqueue(m, "resize", { image: "a", size: "small" });',
    "a value of another type in a payload": 'return outbox.enqueue(m, "resize", { image: "a", width: "5" });',
    "a wrong literal in a payload": 'return outbox.enqueue(m, "sendEmail", { to: ["a"], subject: "b", priority: "urgent" });',
    "a field too many in a payload": 'return outbox.enqueue(m, "resize", { image: "a", width: 5, height: 5 });',
    "a field too many beside optional ones": 'return outbox.enqueue(m, "report", { since: 5, until: 6 });',
    "a field in a payload that has none": 'return outbox.enqueue(m, "cleanUp", { since: 5 });',
    "a missing payload": 'return outbox.enqueue(m, "resize");',
    "a missing field": 'return outbox.enqueue(m, "resize", { image: "a" });',
    "enqueueing in a query": 'return outbox.enqueue(q, "cleanUp");',
    "a payload for one of two names": 'return outbox.enqueue(m, isLarge ? "resize" : "sendEmail", { image: "a", width: 5 });',
    "no payload for one of two names": 'return outbox.enqueue(m, isLarge ? "resize" : "cleanUp");',
    "a payload for a name that may be any": """
  const name: JobName<typeof outbox> = isLarge ? "resize" : "report";
  const any = (name: JobName<typeof outbox>) => outbox.enqueue(m, name, { image: "a", width: 5 });
  return [name, any];""",
    "a request with the payload of another version": 'return outbox.enqueueRequest(m, { name: "resize", version: 2, payload: { image: "a", size: "small" } });',
    "a request with a version that is not there": 'return outbox.enqueueRequest(m, { name: "resize", version: 3, payload: { image: "a", width: 5 } });',
    "a request with the version of another job": 'return outbox.enqueueRequest(m, { name: "report", version: 2, payload: {} });',
    "a plain ID as that of a job": 'const one: JobId<"resize"> = id;\n  return one;',
    "the ID of another job": 'const one: JobId<"report"> = await outbox.enqueue(m, "cleanUp");\n  return one;',
    "the result of another job": 'return outbox.getResult(q, "report", await outbox.enqueue(m, "cleanUp"));',
    "the result of a name that is not defined": 'return outbox.getResult(q, "reports", id);',
    "a result without a look at the status": 'return (await outbox.getResult(q, "resize", id))?.result;',
    "a result that may be null": 'return (await outbox.getResult(q, "resize", id)).status;',
    "a result of another type": """
  const found = await outbox.getResult(q, "resize", id);
  return found?.status === "done" ? found.result.messageId : "";""",
    "an error of a job that waits": """
  const found = await outbox.getResult(q, "resize", id);
  return found?.status === "waiting" ? found.error : "";""",
    "an upgrade without a field": upgrades("1", "(old) => ({ to: [old.one] })"),
    "an upgrade with a wrong literal": upgrades("1", '(old) => ({ to: [old.one.trim()], mode: "c" })'),
    "an upgrade that uses a field that is not there": upgrades("1", '(old) => ({ to: [old.two.trim()], mode: "a" })'),
    "the present version as an old one": upgrades("3", '(old) => ({ to: [old.one.trim()], mode: "a" })'),
    "an old version twice": upgrades("1", '(old) => ({ to: [old.one.trim()], mode: "a" })').rstrip(";")
    + '.from(1, v.object({ one: v.string() }), (old) => ({ to: [old.one], mode: "b" }));',
    "a payload that is not an object": handled("internal.work.note").replace(
        "v.object({ text: v.string() })", "v.string()"
    ),
    "an unknown kind": handled("internal.work.note", '"query"'),
    "a missing handler": f"return outbox.run(a, id, {{ {ALL} }});",
    "a handler too many": f"return outbox.run(a, id, {{ {ALL}, cleanUp: internal.work.cleanUp, note: internal.work.note }});",
    "handlers mixed up": "return outbox.run(a, id, { sendEmail: internal.work.report, resize: internal.work.resize, report: internal.work.sendEmail, cleanUp: internal.work.cleanUp });",
    "a handler of another kind": handled("internal.work.note", '"action"'),
    "a public handler": handled(
        "api.client.wrapUp", payload="{}", result='v.object({ report: v.id("jobs"), cleanUp: v.id("jobs") })'
    ),
    "a handler that needs more": handled("internal.work.note", payload="{}"),
    "a handler that needs what may be missing": handled(
        "internal.work.note", payload="{ text: v.optional(v.string()) }"
    ),
    "a handler that does not know a field": handled(
        "internal.work.note", payload="{ text: v.string(), more: v.number() }"
    ),
    "a handler that does not know any field": handled(
        "internal.work.cleanUp", payload="{ text: v.string() }", result="v.null()"
    ),
    "a handler that takes another type": handled("internal.work.note", payload="{ text: v.number() }"),
    "a handler that takes fewer types": handled(
        "internal.work.note", payload="{ text: v.union(v.string(), v.number()) }"
    ),
    "a handler that returns another type": handled("internal.work.note", result="v.string()"),
    "a handler that returns more": handled(
        "internal.work.sendEmail",
        '"action"',
        '{ to: v.array(v.string()), subject: v.string(), priority: v.literal("low") }',
        'v.object({ messageId: v.literal("m") })',
    ),
    "running in a mutation": f"return outbox.run(m, id, {{ {ALL}, cleanUp: internal.work.cleanUp }});",
}
COMPILES = {name: HEAD % body for name, body in COMPILES.items()}
REFUSED = {name: HEAD % f"  {body}" for name, body in REFUSED.items()}


@pytest.mark.parametrize("name", COMPILES)
def test_compiles(type_checks: TypeChecks, name: str) -> None:
    assert type_checks.errors(COMPILES | REFUSED)[name] == ()


@pytest.mark.parametrize("name", REFUSED)
def test_does_not_compile(type_checks: TypeChecks, name: str) -> None:
    assert type_checks.errors(COMPILES | REFUSED)[name] != ()


def submit(project: Deployment, name: str, version: int, delay: float | None = None, **payload: Any) -> str:
    arguments = {"request": {"name": name, "version": version, "payload": payload}}
    job: str = project.mutation("client:submit", arguments if delay is None else arguments | {"delayMs": delay})
    return job


def result(project: Deployment, name: str, job: str) -> Any:
    return project.query("client:result", name=name, id=job)


def log(project: Deployment) -> list[str]:
    return [each["text"] for each in project.documents("log")]


def test_a_job_is_done(project: Deployment) -> None:
    with project.stopped_clock():
        job = project.mutation("client:email", to="ada", subject="hi", failures=0)
        project.advance(seconds=1)
        assert project.query("client:messageId", id=job) == "m-hi"
        assert result(project, "sendEmail", job) == {"status": "done", "attempts": 1, "result": {"messageId": "m-hi"}}
    assert log(project) == ["hi to ada, high"]
    assert [each["_id"] for each in project.documents("jobs")] == [job]


def test_jobs_that_mutations_do(project: Deployment) -> None:
    job = submit(project, "resize", 2, image="a", width=50)
    project.advance(seconds=1)
    assert result(project, "resize", job) == {"status": "done", "attempts": 1, "result": 100}
    assert log(project) == ["a 50"]


def test_payloads_that_are_left_out_and_delays(project: Deployment) -> None:
    project.insert("log", text="x")
    with project.stopped_clock():
        jobs = project.mutation("client:wrapUp")
        project.advance(seconds=59)
        assert result(project, "report", jobs["report"]) == {
            "status": "done",
            "attempts": 1,
            "result": ["since ever", "x"],
        }
        assert result(project, "cleanUp", jobs["cleanUp"]) == {"status": "waiting", "attempts": 0}
        assert log(project) == ["x"]
        project.advance(seconds=2)
        assert result(project, "cleanUp", jobs["cleanUp"]) == {"status": "done", "attempts": 1, "result": None}
    assert log(project) == []


def test_requests_can_be_delayed(project: Deployment) -> None:
    with project.stopped_clock():
        job = submit(project, "report", 1, delay=5000, since=7)
        project.advance(seconds=4)
        assert result(project, "report", job) == {"status": "waiting", "attempts": 0}
        project.advance(seconds=2)
        assert result(project, "report", job) == {"status": "done", "attempts": 1, "result": ["since 7"]}


def test_attempts_are_repeated_with_doubled_delays(project: Deployment) -> None:
    with project.stopped_clock():
        job = project.mutation("client:email", to="ada", subject="hi", failures=3)
        expected = 1
        project.advance(seconds=1)
        for delay in (10, 20, 40):  # each time, the last attempt was a second ago
            assert project.query("client:messageId", id=job) == f"waiting after {expected}"
            project.advance(seconds=delay - 2)
            assert len(log(project)) == expected, f"before {delay} s"
            project.advance(seconds=2)
            expected += 1
            assert len(log(project)) == expected, f"after {delay} s"
        assert result(project, "sendEmail", job) == {"status": "done", "attempts": 4, "result": {"messageId": "m-hi"}}
        project.advance(minutes=10)
    assert len(log(project)) == 4


def test_after_the_last_attempt_a_job_has_failed(project: Deployment) -> None:
    job = project.mutation("client:email", to="ada", subject="hi", failures=9)
    project.advance(minutes=10)
    received = result(project, "sendEmail", job)
    assert received.keys() == {"status", "attempts", "error"}
    assert (received["status"], received["attempts"]) == ("failed", 4)
    assert "No luck (4)" in received["error"]
    assert len(log(project)) == 4
    assert {each.state for each in project.scheduled()} == {"success"}


def test_failed_mutations_leave_nothing(project: Deployment) -> None:
    with project.stopped_clock():
        job = submit(project, "resize", 2, image="a", width=0)
        project.advance(seconds=50)
        assert result(project, "resize", job) == {"status": "waiting", "attempts": 1}
        project.advance(seconds=20)
        received = result(project, "resize", job)
    assert (received["status"], received["attempts"]) == ("failed", 2)
    assert "Too small" in received["error"]
    assert log(project) == []


def test_old_versions_are_upgraded(project: Deployment) -> None:
    jobs = [
        submit(project, "sendEmail", 1, address="ada", subject="one"),
        submit(project, "sendEmail", 2, to=["b", "c"], subject="two", isUrgent=True),
        submit(project, "sendEmail", 2, to=[], subject="three", isUrgent=False),
        submit(project, "sendEmail", 3, to=["d"], subject="four", priority="high"),
    ]
    images = [submit(project, "resize", 1, image="i", size=size) for size in ("small", "large")]
    project.advance(seconds=5)
    assert [result(project, "sendEmail", job)["result"]["messageId"] for job in jobs] == [
        "m-one",
        "m-two",
        "m-three",
        "m-four",
    ]
    assert [result(project, "resize", job)["result"] for job in images] == [200, 2000]
    expected = ["one to ada, low", "two to b,c, high", "three to , low", "four to d, high", "i 100", "i 1000"]
    assert sorted(log(project)) == sorted(expected)


def test_results_belong_to_a_name(project: Deployment) -> None:
    job = submit(project, "resize", 2, image="a", width=5)
    for name in ("sendEmail", "report", "cleanUp"):
        assert result(project, name, job) is None
    assert project.query("client:messageId", id=job) == "none"
    project.advance(seconds=5)
    assert result(project, "report", job) is None
    assert result(project, "resize", job)["status"] == "done"
    project.delete("jobs", job)
    assert result(project, "resize", job) is None


def test_nothing_is_done_twice(project: Deployment) -> None:
    done = submit(project, "resize", 2, image="a", width=5)
    failed = project.mutation("client:email", to="ada", subject="hi", failures=9)
    project.advance(minutes=10)
    before, texts = [result(project, "resize", done), result(project, "sendEmail", failed)], log(project)
    for job in (done, failed):
        assert project.admin.action("runner:run", id=job) is None
    project.advance(minutes=10)
    assert [result(project, "resize", done), result(project, "sendEmail", failed)] == before
    assert log(project) == texts


def test_jobs_that_are_gone_are_not_done(project: Deployment) -> None:
    job = submit(project, "resize", 2, delay=5000, image="a", width=5)
    project.delete("jobs", job)
    project.advance(minutes=1)
    assert log(project) == []
    assert {each.state for each in project.scheduled()} == {"success"}


WRONG: list[Any] = [
    {"name": "resizes", "version": 2, "payload": {"image": "a", "width": 5}},
    {"name": "resize", "version": 3, "payload": {"image": "a", "width": 5}},
    {"name": "resize", "version": 1, "payload": {"image": "a", "width": 5}},
    {"name": "resize", "version": 2, "payload": {"image": "a", "size": "small"}},
    {"name": "resize", "version": 1, "payload": {"image": "a", "size": "medium"}},
    {"name": "resize", "version": 2, "payload": {"image": "a", "width": "5"}},
    {"name": "resize", "version": 2, "payload": {"image": "a"}},
    {"name": "resize", "version": 2, "payload": {"image": "a", "width": 5, "height": 5}},
    {"name": "resize", "version": 2},
    {"name": "resize", "payload": {"image": "a", "width": 5}},
    {"name": "resize", "version": 2, "payload": {"image": "a", "width": 5}, "delayMs": 5},
    {"name": "cleanUp", "version": 1, "payload": {"since": 5}},
    {"name": "cleanUp", "version": 1},
    {"name": "report", "version": 1, "payload": {"since": "5"}},
    {"name": "report", "version": 2, "payload": {}},
    {},
    None,
]


def test_other_requests_are_refused(project: Deployment) -> None:
    for request in WRONG:
        with project.fails("ArgumentValidationError"):
            project.mutation("client:submit", request=request)
    assert project.documents("jobs") == []


def test_what_clients_can_call(project: Deployment) -> None:
    public = {name for name, spec in project.functions().items() if spec.is_public}
    assert public == {f"client:{name}" for name in ("submit", "email", "wrapUp", "messageId", "result")}


@pytest.mark.parametrize("seed", range(3))
def test_every_job_comes_to_its_end(project: Deployment, seed: int) -> None:
    chance, expected, texts = random.Random(seed), dict[str, tuple[str, str, int]](), list[str]()
    for number in range(14):
        kind = chance.randrange(5)
        if kind == 0:
            width = chance.choice([-1, 3])
            job = submit(project, "resize", 2, image=str(number), width=width)
            expected[job] = ("resize", "done", 1) if width > 0 else ("resize", "failed", 2)
            texts += [f"{number} {width}"] if width > 0 else []
        elif kind == 1:
            job = submit(project, "resize", 1, image=str(number), size="large")
            expected[job] = ("resize", "done", 1)
            texts.append(f"{number} 1000")
        elif kind == 2:
            job = submit(project, "sendEmail", 1, address="x", subject=str(number))
            expected[job] = ("sendEmail", "done", 1)
            texts.append(f"{number} to x, low")
        else:
            failures = chance.randrange(6)
            job = submit(project, "sendEmail", 3, to=["x"], subject=str(number), priority="high", failures=failures)
            attempts = min(failures + 1, 4)
            expected[job] = ("sendEmail", "done" if failures < 4 else "failed", attempts)
            texts += [f"{number} to x, high"] * attempts
    project.advance(minutes=5)
    for job, (name, status, attempts) in expected.items():
        received = result(project, name, job)
        assert (received["status"], received["attempts"]) == (status, attempts), name
    assert sorted(log(project)) == sorted(texts)

"""Batches of calls: what they do, and what the compiler knows about them."""

# ruff: noqa: E501 (snippets of TypeScript)

import random
import threading
from typing import Any

import pytest

from convex_evals.pipeline.grading.kit import (
    Deployment,
    Reply,
    TypeChecks,
    WebRequest,
    WebServer,
)

HEAD = """
import { api, internal } from "./_generated/api";
import type { Doc, Id } from "./_generated/dataModel";
import type { ActionCtx, MutationCtx, QueryCtx } from "./_generated/server";
import {
  call,
  runActions,
  runMutations,
  runQueries,
  scheduleAll,
  scheduledCall,
  settleActions,
  settleMutations,
  settleQueries,
  type ScheduledId,
} from "./lib/batch";
type Same<A, B> = [A] extends [B] ? ([B] extends [A] ? (0 extends 1 & A ? false : true) : false) : false;
type Item = Doc<"items">;
declare const q: QueryCtx;
declare const m: MutationCtx;
declare const a: ActionCtx;
declare const id: Id<"items">;
declare const ids: Id<"items">[];
declare const job: Id<"_scheduled_functions">;
export async function use() {
%s
}
"""

CREATE = '{ title: "a", tags: ["x", "y"], size: "small" }'
SOME = "{ tags: ['a'], mode: { kind: 'some', atLeast: 1 } }"

COMPILES = {
    "results by position": f"""
  const found = await runQueries(q, [[internal.items.count], [api.items.get, {{ id }}], [internal.items.withTags, {SOME}]]);
  const same: Same<typeof found, [number, Item | null, {{ title: string; hits: number }}[]]> = true;
  const [total, item, [first]] = found;
  return [same, total.toFixed(), item?.tags.length, first?.hits];""",
    "results by name": f"""
  const done = await runMutations(m, {{ made: [api.items.create, {CREATE}], old: [internal.items.rename, {{ id, title: "b" }}] }});
  const made: Id<"items"> = done.made;
  const same: [Same<typeof done.made, Id<"items">>, Same<typeof done.old, {{ before: string }}>] = [true, true];
  return [made, done.old.before.length, same];""",
    "results of actions": """
  const [pong, size] = await runActions(a, [[api.work.ping], [internal.work.measure, { text: "a" }]]);
  const same: [Same<typeof pong, "pong">, Same<typeof size, { length: number; unit: string }>] = [true, true];
  return same;""",
    "queries from every context": """
  const calls = [call(internal.items.count)];
  const numbers: number[] = [...await runQueries(q, calls), ...await runQueries(m, calls), ...await runQueries(a, calls)];
  await runQueries(a, [[api.items.get, { id }]]);
  await runQueries(m, { item: [api.items.get, { id }] });
  return numbers;""",
    "mutations from mutations and actions": """
  await settleMutations(m, [[internal.items.clear]]);
  return [await runMutations(m, [[internal.items.clear]]), await runMutations(a, { all: [internal.items.clear, {}] })];""",
    "arguments left out": """
  const [n, all, none, small] = await runQueries(q, [
    [internal.items.count], [api.items.list], [internal.items.count, {}], [api.items.list, { size: "small" }],
  ]);
  const named = await runQueries(q, { n: [internal.items.count], all: [api.items.list], limit: [api.items.list, { limit: 2 }] });
  const same: Same<typeof named.all, string[]> = true;
  return [n + none, all.length, small.length, named.n + 1, same, call(api.items.list), call(internal.items.count, {})];""",
    "literals, arrays and unions in arguments": f"""
  const wish: "small" | "large" = Math.random() < 0.5 ? "small" : "large";
  await runMutations(m, [[api.items.create, {{ title: "a", tags: [], size: wish, note: undefined }}], [api.items.create, {CREATE}]]);
  await runQueries(q, {{ some: [internal.items.withTags, {SOME}], all: [internal.items.withTags, {{ tags: [], mode: {{ kind: "all" }} }}] }});
  return call(internal.items.withTags, {SOME});""",
    "an array of unknown length": """
  const found = await runQueries(q, ids.map((id) => call(api.items.get, { id })));
  const same: Same<typeof found, (Item | null)[]> = true;
  const settled = await settleQueries(q, ids.map((id) => call(internal.items.title, { id })));
  return [same, settled.map((each) => (each.ok ? each.value.toUpperCase() : each.message))];""",
    "constants": """
  const named = { n: call(internal.items.count), item: call(api.items.get, { id }) };
  const listed = [[internal.items.count], [api.items.list, { size: "large" }]] as const;
  const byName = { item: [api.items.get, { id }] } as const;
  const { n, item } = await runQueries(q, named);
  const [total, titles] = await runQueries(q, listed);
  const again = await runQueries(q, byName);
  const same: [Same<typeof n, number>, Same<typeof item, Item | null>, Same<typeof titles, string[]>, Same<typeof again.item, Item | null>] = [true, true, true, true];
  return [total.toFixed(), same];""",
    "settled results": f"""
  const [one, two] = await settleQueries(q, [[internal.items.count], [api.items.get, {{ id }}]]);
  const {{ made }} = await settleMutations(m, {{ made: [api.items.create, {CREATE}] }});
  const {{ pong }} = await settleActions(a, {{ pong: [api.work.ping] }});
  if (one.ok) one.value.toFixed();
  else one.message.trim();
  const item: Item | null = two.ok ? two.value : null;
  if (!two.ok && two.data !== undefined) return two.message;
  const word: "pong" | string = pong.ok ? pong.value : pong.message;
  const same: [Same<Extract<typeof made, {{ ok: true }}>["value"], Id<"items">>, Same<Extract<typeof pong, {{ ok: true }}>["value"], "pong">] = [true, true];
  return [item, word, same];""",
    "IDs of scheduled calls": f"""
  const [clear, ping] = await scheduleAll(m, 5, [[internal.items.clear], [api.work.ping]]);
  const {{ made }} = await scheduleAll(a, 5, {{ made: [api.items.create, {CREATE}] }});
  const typed: ScheduledId<typeof internal.items.clear> = clear;
  const made2: ScheduledId<typeof api.items.create> = made;
  const plain: Id<"_scheduled_functions">[] = [clear, ping, made];
  await m.scheduler.cancel(made);
  return [typed, made2, plain];""",
    "scheduled calls": f"""
  const found = await scheduledCall(q, api.items.create, job);
  const [made] = await scheduleAll(m, 5, [[api.items.create, {CREATE}]]);
  const again = await scheduledCall(m, api.items.create, made);
  const measured = await scheduledCall(q, internal.work.measure, job);
  if (found === null || again === null || measured === null) return;
  const same: [Same<typeof found.args.size, "small" | "large">, Same<typeof found.args.tags, string[]>, Same<typeof measured.args.unit, string | undefined>] = [true, true, true];
  const typed: ScheduledId<typeof api.items.create> = found.id;
  const failed = found.state.kind === "failed" ? found.state.error.length : 0;
  return [same, typed, failed, again.args.note?.length];""",
    "batches without calls": """
  const none = await runQueries(q, []);
  const nothing = await runMutations(m, {});
  return [none.length, Object.keys(nothing)];""",
}

REFUSED = {
    "a result used as another type": "return (await runQueries(q, [[internal.items.count], [api.items.list]]))[0].length;",
    "a position beyond the end": "return (await runQueries(q, [[internal.items.count], [api.items.list]]))[2];",
    "a name that is not in the batch": "return (await runQueries(q, { n: [internal.items.count] })).m;",
    "a required argument missing in an array": "return runQueries(q, [[internal.items.count], [api.items.get, {}]]);",
    "required arguments left out in an array": "return runQueries(q, [[internal.items.count], [api.items.get]]);",
    "required arguments left out in an object": "return runQueries(q, { n: [internal.items.count], item: [api.items.get] });",
    "required arguments left out in call": "return call(api.items.get);",
    "an argument too many in an array": "return runQueries(q, [[internal.items.count], [api.items.get, { id, size: 1 }]]);",
    "an argument too many in an object": "return runQueries(q, { item: [api.items.get, { id, size: 1 }] });",
    "an argument too many in call": "return call(api.items.get, { id, size: 1 });",
    "an argument for a function that has none": "return runQueries(q, [[internal.items.count, { id }]]);",
    "an argument for a function that has none, in call": "return call(internal.items.count, { id });",
    "an unknown argument beside optional ones": 'return runQueries(q, { all: [api.items.list, { tag: "a" }] });',
    "a wrong literal": 'return runQueries(q, [[api.items.list, { size: "medium" }]]);',
    "a wrong member of a union": "return runQueries(q, [[internal.items.withTags, { tags: ['a'], mode: { kind: 'some' } }]]);",
    "an ID of another table": "return runQueries(q, [[api.items.get, { id: job }]]);",
    "a wrong element of an array": 'return runMutations(m, { made: [api.items.create, { title: "a", tags: ["x", 1], size: "small" }] });',
    "an optional argument of a wrong type, scheduled": "return scheduleAll(m, 5, { clear: [internal.items.clear, { size: 3 }] });",
    "required arguments left out, scheduled": "return scheduleAll(m, 5, [[internal.items.clear], [internal.work.measure]]);",
    "a mutation among queries": "return runQueries(m, [[internal.items.count], [internal.items.clear]]);",
    "a mutation among queries, from call": "return settleQueries(m, [call(internal.items.clear)]);",
    "a query among mutations": "return runMutations(m, { clear: [internal.items.clear], n: [internal.items.count] });",
    "a mutation among actions": "return settleActions(a, { clear: [internal.items.clear] });",
    "a query scheduled": "return scheduleAll(m, 5, [[internal.items.clear], [internal.items.count]]);",
    "mutations from a query": "return runMutations(q, [[internal.items.clear]]);",
    "actions from a mutation": "return runActions(m, [[api.work.ping]]);",
    "scheduling from a query": "return scheduleAll(q, 5, [[internal.items.clear]]);",
    "a scheduled call from an action": "return scheduledCall(a, internal.items.clear, job);",
    "a value without a look at ok": "return (await settleQueries(q, [[internal.items.count]]))[0].value;",
    "a message of a success": """
  const [one] = await settleQueries(q, [[internal.items.count]]);
  return one.ok ? one.message : "";""",
    "a settled value used as another type": """
  const { n } = await settleQueries(q, { n: [internal.items.count] });
  return n.ok ? n.value.length : 0;""",
    "a plain ID as that of a call": "const typed: ScheduledId<typeof internal.items.clear> = job;\n  return typed;",
    "the ID of another function": """
  const [clear, ping] = await scheduleAll(m, 5, [[internal.items.clear], [internal.work.measure, { text: "a" }]]);
  const typed: ScheduledId<typeof internal.items.clear> = ping;
  return [clear, typed];""",
    "the scheduled call of another function": f"""
  const [made] = await scheduleAll(m, 5, [[api.items.create, {CREATE}]]);
  return scheduledCall(m, internal.work.measure, made);""",
    "a scheduled argument used as another type": """
  const found = await scheduledCall(q, api.items.create, job);
  return found?.args.size.toFixed();""",
    "an argument that is not among the scheduled ones": """
  const found = await scheduledCall(q, api.items.create, job);
  return found?.args.limit;""",
    "a scheduled call of a query": "return scheduledCall(q, api.items.list, job);",
}
COMPILES = {name: HEAD % body for name, body in COMPILES.items()}
REFUSED = {name: HEAD % f"  {body}" for name, body in REFUSED.items()}


@pytest.mark.parametrize("name", COMPILES)
def test_compiles(type_checks: TypeChecks, name: str) -> None:
    assert type_checks.errors(COMPILES | REFUSED)[name] == ()


@pytest.mark.parametrize("name", REFUSED)
def test_does_not_compile(type_checks: TypeChecks, name: str) -> None:
    assert type_checks.errors(COMPILES | REFUSED)[name] != ()


def create(project: Deployment, title: str, size: str = "small", tags: tuple[str, ...] = ()) -> str:
    return project.insert("items", title=title, size=size, tags=list(tags))


def log(project: Deployment) -> list[str]:
    return [each["text"] for each in project.documents("log")]


def test_results_come_by_position(project: Deployment) -> None:
    first = create(project, "a", tags=("x", "y"))
    create(project, "b", "large", tags=("x",))
    create(project, "c")
    received = project.query("uses:overview", id=first, tags=["x", "y", "z"])
    assert received == {"total": 3, "title": "a", "titles": ["a", "b", "c"], "hits": 3}
    project.delete("items", first)
    received = project.query("uses:overview", id=first, tags=["z"])
    assert received == {"total": 2, "title": "?", "titles": ["b", "c"], "hits": 0}


def test_results_come_by_name_and_mutations_run_in_order(project: Deployment) -> None:
    item = create(project, "old")
    create(project, "big", "large")
    create(project, "bigger", "large")
    received = project.mutation("uses:change", id=item, titles=["new", "renamed"])
    assert received == {"before": "old", "cleared": 2}
    assert sorted(each["title"] for each in project.documents("items")) == ["new", "renamed"]
    texts = log(project)
    assert texts[:3] == ["create new", "rename to renamed", "clear large"]
    assert texts[3].startswith("2 left, new is ")


def test_a_failure_is_a_failure_of_the_whole(project: Deployment) -> None:
    item, gone = create(project, "old"), create(project, "gone")
    project.delete("items", gone)
    with project.fails("An item needs a title"):
        project.mutation("uses:change", id=item, titles=["", "renamed"])
    with project.fails(data={"code": "NO_ITEM", "id": gone}):
        project.mutation("uses:change", id=gone, titles=["new", "renamed"])
    assert log(project) == []
    with project.fails(data={"code": "NO_ITEM", "id": gone}):
        project.query("uses:titles", ids=[item, gone])


def test_mutations_after_a_failed_one_do_not_begin(project: Deployment) -> None:
    with project.fails("An item needs a title"):
        project.action("uses:createManyInAction", titles=["a", "b", "", "c"], isStrict=True)
    assert log(project) == ["create a", "create b"]
    received = project.action("uses:createManyInAction", titles=["d", "e"], isStrict=True)
    assert received == [each["_id"] for each in project.documents("items")[2:]]


@pytest.mark.parametrize("is_strict", [True, False])
def test_mutations_run_one_after_another(project: Deployment, is_strict: bool) -> None:
    with project.stopped_clock(), project.overlapping(2):  # none of two that have begun commits before both have run
        project.action("uses:createManyInAction", titles=["a", "b"], isStrict=is_strict)
    first, second = project.documents("items")
    assert [first["title"], second["title"]] == ["a", "b"]
    assert second["_creationTime"] - first["_creationTime"] >= 1, "The second began before the first had ended"


def test_an_array_of_any_length(project: Deployment) -> None:
    items = [create(project, str(number)) for number in range(12)]
    assert project.query("uses:titles", ids=[]) == []
    assert project.query("uses:titles", ids=items[::-1]) == [str(number) for number in range(12)][::-1]


def test_queries_can_fail_one_by_one(project: Deployment) -> None:
    items = [create(project, title) for title in "abc"]
    project.delete("items", items[1])
    first, second, third = project.query("uses:titlesIfAny", ids=items)
    assert (first, third) == ({"ok": True, "value": "a"}, {"ok": True, "value": "c"})
    assert second.keys() == {"ok", "message", "data"}
    assert (second["ok"], second["data"]) == (False, {"code": "NO_ITEM", "id": items[1]})


@pytest.mark.parametrize("function", ["createMany", "createManyInAction"])
def test_mutations_can_fail_one_by_one(project: Deployment, function: str) -> None:
    titles = ["a", "", "b", "", "c"]
    received: list[dict[str, Any]] = (
        project.mutation("uses:createMany", titles=titles)
        if function == "createMany"
        else project.action("uses:createManyInAction", titles=titles, isStrict=False)
    )
    assert [each["ok"] for each in received] == [True, False, True, False, True]
    documents = project.documents("items")
    assert [each["value"] for each in received if each["ok"]] == [each["_id"] for each in documents]
    assert [each["title"] for each in documents] == ["a", "b", "c"]
    assert log(project) == ["create a", "create b", "create c"]
    for each in received:
        if not each["ok"]:
            assert each.keys() == {"ok", "message"}
            assert "An item needs a title" in each["message"]


def test_actions_can_fail_one_by_one(project: Deployment) -> None:
    create(project, "a")
    received = project.action("uses:measureBoth", text="abc")
    second = {"ok": True, "value": {"length": 4, "unit": "of 1"}}
    first = {"ok": True, "value": {"length": 3, "unit": "letters"}}
    assert received == {"ping": "pong", "first": first, "second": second}
    received = project.action("uses:measureBoth", text="")
    assert (received["second"], received["first"]["ok"]) == (second, False)
    assert received["first"]["data"] == "Nothing to measure"
    assert "Nothing to measure" in received["first"]["message"]


def test_actions_run_at_once(project: Deployment, web_server: WebServer) -> None:
    all_here = threading.Barrier(3)

    def meet(request: WebRequest) -> Reply:
        all_here.wait(timeout=15)
        return Reply.text(request.path)

    urls = [web_server.reply("GET", f"/{name}", meet) for name in "abc"]
    assert project.action("uses:askAll", urls=urls) == ["/a", "/b", "/c"]


def test_batches_are_scheduled(project: Deployment) -> None:
    create(project, "small one")
    create(project, "large one", "large")
    with project.stopped_clock():
        ids = project.mutation("uses:later", delayMs=60_000, size="small")
        planned = {each.id: each for each in project.scheduled()}
        assert {name: planned[each].function for name, each in ids.items()} == {
            "clear": "items:clear",
            "create": "items:create",
            "ping": "work:ping",
        }
        assert planned[ids["clear"]].args == {"size": "small"}
        assert planned[ids["create"]].args == {"title": "late", "tags": ["a"], "size": "large"}
        project.advance(seconds=59)
        assert log(project) == []
        project.advance(seconds=2)
    assert sorted(log(project)) == ["clear small", "create late"]
    assert {each.state for each in project.scheduled()} == {"success"}
    assert [each["title"] for each in project.documents("items")] == ["large one", "late"]


def test_actions_schedule_too(project: Deployment) -> None:
    create(project, "a")
    ids = project.action("uses:laterInAction", delayMs=1000)
    assert {each.id: each.function for each in project.scheduled()} == dict(
        zip(ids, ["items:clear", "work:measure"], strict=True)
    )
    project.advance(seconds=5)
    assert {each.state for each in project.scheduled()} == {"success"}
    assert project.documents("items") == []


def test_scheduled_calls_are_found_by_function(project: Deployment) -> None:
    ids = project.mutation("uses:later", delayMs=60_000)
    clear, measure = project.action("uses:laterInAction", delayMs=60_000)

    def look(scheduled: str) -> Any:
        return project.query("uses:look", id=scheduled)

    assert look(ids["clear"]) == {"what": "clear", "state": "pending"}
    assert look(clear) == {"what": "clear", "state": "pending"}
    assert look(ids["create"]) == {"what": "create late", "size": "large", "state": "pending"}
    assert [look(ids["ping"]), look(measure)] == [None, None]
    project.advance(minutes=2)
    assert look(ids["clear"]) == {"what": "clear", "state": "success"}
    small = project.mutation("uses:later", delayMs=60_000, size="small")
    assert look(small["clear"]) == {"what": "clear", "size": "small", "state": "pending"}


@pytest.mark.parametrize("seed", range(3))
def test_every_result_is_at_its_place(project: Deployment, seed: int) -> None:
    chance = random.Random(seed)
    for _ in range(6):
        titles = [chance.choice(["", f"t{chance.randrange(100)}"]) for _ in range(chance.randrange(7))]
        before = len(project.documents("items"))
        received = project.mutation("uses:createMany", titles=titles)
        assert [each["ok"] for each in received] == [title != "" for title in titles]
        made = [each["value"] for each in received if each["ok"]]
        assert [each["_id"] for each in project.documents("items")[before:]] == made
        chance.shuffle(made)
        expected = {each["_id"]: each["title"] for each in project.documents("items")}
        assert project.query("uses:titles", ids=made) == [expected[each] for each in made]

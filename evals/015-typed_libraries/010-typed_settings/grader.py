"""A settings store whose types, validators and defaults come from one object."""

# ruff: noqa: E501 (snippets of TypeScript)

import copy
import random
from typing import Any

import pytest

from convex_evals.pipeline.grading.kit import Deployment, TypeChecks, same_function_spec

DEFAULTS: dict[str, Any] = {
    "theme": "light",
    "pageSize": 20,
    "banner": None,
    "layout": {"sidebar": {"open": True, "width": 240}, "columns": ["name", "date"], "accent": "blue"},
    "limits": {"perDay": 100, "burst": {"size": 10, "window": 60}, "byPlan": {"free": 1, "pro": 50}},
    "mail": {"from": "team@example.com", "transport": {"kind": "none"}},
}
OTHERS: dict[str, Any] = {
    "theme": "dark",
    "pageSize": 50,
    "banner": {"text": "Hi"},
    "layout": {"sidebar": {"open": False, "width": 1}, "columns": []},
    "limits": {"perDay": 1, "burst": {"size": 2}, "byPlan": {"team": 3}},
    "mail": {
        "from": "a",
        "transport": {"kind": "smtp", "host": "h", "port": 25},
        "footer": {"text": "t", "html": True},
    },
}
PUBLIC = ["theme", "pageSize", "banner", "layout"]
KINDS = {
    "all": ("query", True),
    "one": ("query", True),
    "save": ("mutation", True),
    "read": ("query", False),
    "several": ("query", False),
    "write": ("mutation", False),
    "change": ("mutation", False),
    "clear": ("mutation", False),
    "reset": ("mutation", False),
}


def read(project: Deployment, key: str) -> Any:
    return project.admin.query("settings:read", key=key)


def write(project: Deployment, key: str, value: Any) -> None:
    assert project.admin.mutation("settings:write", entry={"key": key, "value": value}) is None


def change(project: Deployment, key: str, **changes: Any) -> None:
    assert project.admin.mutation("settings:change", entry={"key": key, "changes": changes}) is None


def stored(project: Deployment) -> dict[str, Any]:
    rows = project.documents("settings")
    assert all(row.keys() == {"_id", "_creationTime", "key", "value"} for row in rows)
    assert len({row["key"] for row in rows}) == len(rows)
    return {row["key"]: row["value"] for row in rows}


def test_there_are_these_functions(project: Deployment) -> None:
    wanted = {f"settings:{name}": kind for name, kind in KINDS.items()}
    declared = {name: (spec.kind, spec.is_public) for name, spec in project.functions().items()}
    assert {name: declared.get(name) for name in wanted} == wanted
    assert {name for name, (_, is_public) in declared.items() if is_public} <= wanted.keys()


def test_what_functions_without_arguments_declare(project: Deployment, answer: Deployment) -> None:
    same_function_spec(project, answer, ["settings:all"], returns=True)
    same_function_spec(project, answer, ["settings:several", "settings:clear"])


def test_settings_have_their_defaults(project: Deployment) -> None:
    assert {key: read(project, key) for key in DEFAULTS} == DEFAULTS
    assert project.query("settings:all") == {key: DEFAULTS[key] for key in PUBLIC}
    assert {key: project.query("settings:one", key=key) for key in PUBLIC} == {key: DEFAULTS[key] for key in PUBLIC}
    assert project.admin.query("settings:several") == [DEFAULTS[key] for key in ("limits", "theme", "mail")]
    assert stored(project) == {}


def test_settings_are_set_and_reset(project: Deployment) -> None:
    for key, value in OTHERS.items():
        write(project, key, DEFAULTS[key])
        write(project, key, value)
        assert read(project, key) == value
    assert stored(project) == OTHERS
    assert project.query("settings:all") == {key: OTHERS[key] for key in PUBLIC}
    assert project.admin.query("settings:several") == [OTHERS[key] for key in ("limits", "theme", "mail")]
    for key in OTHERS:
        for _ in range(2):
            assert project.admin.mutation("settings:reset", key=key) is None
        assert read(project, key) == DEFAULTS[key]
        assert key not in stored(project)


def test_clients_see_and_set_public_settings_only(project: Deployment) -> None:
    for key in PUBLIC:
        assert project.mutation("settings:save", entry={"key": key, "value": OTHERS[key]}) is None
        assert project.query("settings:one", key=key) == OTHERS[key]
    for key in ("limits", "mail", "other"):
        with project.fails("ArgumentValidationError"):
            project.mutation("settings:save", entry={"key": key, "value": OTHERS.get(key)})
        with project.fails("ArgumentValidationError"):
            project.query("settings:one", key=key)
    assert stored(project) == {key: OTHERS[key] for key in PUBLIC}


def test_a_value_must_belong_to_its_key(project: Deployment) -> None:
    wrong: dict[str, list[Any]] = {
        "theme": ["blue", None, 20],
        "pageSize": ["light", None],
        "banner": [{"until": 5}, "text", {"text": "a", "more": 1}],
        "layout": [
            {"sidebar": {"open": True}, "columns": []},
            {"sidebar": {"open": True, "width": 1}, "columns": [1]},
            {"sidebar": {"open": True, "width": 1}, "columns": [], "more": 1},
        ],
        "limits": [DEFAULTS["layout"], {"perDay": 1, "burst": {"size": 1}}],
        "mail": [
            {"from": "a", "transport": {"kind": "smtp"}},
            {"from": "a", "transport": {"kind": "none"}, "footer": {}},
        ],
        "other": [1],
    }
    for key, values in wrong.items():
        for value in values:
            with project.fails("ArgumentValidationError"):
                project.admin.mutation("settings:write", entry={"key": key, "value": value})
            if key in PUBLIC:
                with project.fails("ArgumentValidationError"):
                    project.mutation("settings:save", entry={"key": key, "value": value})
    for key in ("read", "reset"):
        with project.fails("ArgumentValidationError"):
            call = project.admin.query if key == "read" else project.admin.mutation
            call(f"settings:{key}", key="other")
    assert stored(project) == {}


def test_changes_are_merged_into_sections(project: Deployment) -> None:
    change(project, "limits", burst={"size": 5})
    assert read(project, "limits") == DEFAULTS["limits"] | {"burst": {"size": 5, "window": 60}}
    change(project, "limits", perDay=7, burst={"window": 1})
    assert read(project, "limits") == DEFAULTS["limits"] | {"perDay": 7, "burst": {"size": 5, "window": 1}}
    change(project, "layout", sidebar={"open": False})
    change(project, "layout", sidebar={})
    change(project, "layout")
    assert read(project, "layout") == DEFAULTS["layout"] | {"sidebar": {"open": False, "width": 240}}


def test_everything_else_is_replaced(project: Deployment) -> None:
    change(project, "limits", byPlan={"team": 9})
    assert read(project, "limits")["byPlan"] == {"team": 9}
    change(project, "layout", columns=["size"])
    assert read(project, "layout")["columns"] == ["size"]
    change(project, "mail", transport={"kind": "smtp", "host": "h", "port": 1})
    change(project, "mail", transport={"kind": "none"}, footer={"text": "a", "html": True})
    assert read(project, "mail") == DEFAULTS["mail"] | {"footer": {"text": "a", "html": True}}


def test_changes_must_fit_their_section(project: Deployment) -> None:
    wrong: list[tuple[str, Any]] = [
        ("theme", {}),
        ("banner", {"text": "a"}),
        ("other", {}),
        ("limits", {"perDay": "1"}),
        ("limits", {"perWeek": 1}),
        ("limits", {"burst": {"size": None}}),
        ("limits", {"burst": {"other": 1}}),
        ("limits", {"byPlan": {"free": "1"}}),
        ("limits", {"columns": []}),
        ("mail", {"footer": {"text": "a"}}),
        ("mail", {"transport": {"kind": "smtp"}}),
        ("layout", 5),
    ]
    for key, changes in wrong:
        with project.fails("ArgumentValidationError"):
            project.admin.mutation("settings:change", entry={"key": key, "changes": changes})
    assert stored(project) == {}


def test_undefined_removes_optional_fields(project: Deployment) -> None:
    assert project.admin.mutation("settings:clear") is None
    without: dict[str, Any] = copy.deepcopy(DEFAULTS)
    del without["layout"]["accent"], without["limits"]["burst"]["window"]
    assert {key: read(project, key) for key in DEFAULTS} == without
    change(project, "layout", accent="red")
    assert read(project, "layout") == DEFAULTS["layout"] | {"accent": "red"}


def test_what_was_stored_by_older_versions_is_completed(project: Deployment) -> None:
    project.insert("settings", key="limits", value={"burst": {"window": 5, "gone": 1}, "gone": {}})
    project.insert("settings", key="layout", value={"sidebar": {"width": 7}})
    project.insert("settings", key="mail", value={"transport": {"kind": "smtp", "host": "h", "port": 1}, "cc": "b"})
    limits = {"perDay": 100, "burst": {"size": 10, "window": 5}, "byPlan": {"free": 1, "pro": 50}}
    layout = {"sidebar": {"open": True, "width": 7}, "columns": ["name", "date"]}
    mail = {"from": "team@example.com", "transport": {"kind": "smtp", "host": "h", "port": 1}}
    assert read(project, "limits") == limits
    assert project.query("settings:one", key="layout") == layout
    assert project.query("settings:all")["layout"] == layout
    assert project.admin.query("settings:several") == [limits, "light", mail]
    change(project, "limits", perDay=5)
    assert read(project, "limits") == limits | {"perDay": 5}


def test_single_values_are_not_completed(project: Deployment) -> None:
    project.insert("settings", key="limits", value={"perDay": 1, "burst": {"size": 1}, "byPlan": {"x": 1}})
    project.insert("settings", key="layout", value={"sidebar": {"width": 7, "open": False}, "columns": []})
    assert read(project, "limits") == {"perDay": 1, "burst": {"size": 1}, "byPlan": {"x": 1}}
    assert read(project, "layout") == {"sidebar": {"width": 7, "open": False}, "columns": []}


def test_other_settings_do_not_run_subscriptions_again(project: Deployment) -> None:
    for key, value in OTHERS.items():
        write(project, key, value)
    with project.subscribe("settings:all") as live:
        write(project, "limits", DEFAULTS["limits"])
        project.admin.mutation("settings:reset", key="mail")
        write(project, "mail", DEFAULTS["mail"])
        assert live.executions() == 1
        write(project, "pageSize", 99)
        live.wait_until(lambda value: value["pageSize"] == 99)
    with project.subscribe("settings:one", key="theme") as live:
        write(project, "pageSize", 1)
        project.admin.mutation("settings:reset", key="layout")
        assert live.executions() == 1


def test_no_call_reads_more_settings_than_it_needs(project: Deployment) -> None:
    for key, value in OTHERS.items():
        write(project, key, value)
    calls: list[tuple[int, Any]] = [
        (1, lambda: read(project, "mail")),
        (1, lambda: project.query("settings:one", key="theme")),
        (4, lambda: project.query("settings:all")),
        (3, lambda: project.admin.query("settings:several")),
    ]
    for most, call in calls:
        with project.trace() as work:
            call()
        assert work.documents_read <= most


def any_changes(chance: random.Random, key: str) -> dict[str, Any]:
    choices: dict[str, dict[str, Any]] = {
        "limits": {
            "perDay": [1, 2, 3],
            "burst": [{}, {"size": 1}, {"window": 2}, {"size": 3, "window": 4}],
            "byPlan": [{}, {"free": 2}],
        },
        "layout": {"sidebar": [{}, {"open": False}, {"width": 3}], "columns": [[], ["a"]], "accent": ["red"]},
        "mail": {"from": ["x"], "transport": [{"kind": "none"}], "footer": [{"text": "", "html": False}]},
    }
    return {name: chance.choice(values) for name, values in choices[key].items() if chance.random() < 0.5}


@pytest.mark.parametrize("seed", range(3))
def test_any_sequence_of_writes(project: Deployment, seed: int) -> None:
    chance = random.Random(seed)
    truth = copy.deepcopy(DEFAULTS)
    for step in range(30):
        key = chance.choice(list(DEFAULTS))
        match chance.choice(["write", "change", "change", "change", "reset", "clear"]):
            case "write":
                truth[key] = copy.deepcopy(chance.choice([OTHERS, DEFAULTS])[key])
                write(project, key, truth[key])
            case "change":
                key = chance.choice(["limits", "layout", "mail"])
                changes = any_changes(chance, key)
                for name, value in copy.deepcopy(changes).items():
                    if name in ("burst", "sidebar"):
                        truth[key][name].update(value)
                    else:
                        truth[key][name] = value
                change(project, key, **changes)
            case "reset":
                truth[key] = copy.deepcopy(DEFAULTS[key])
                project.admin.mutation("settings:reset", key=key)
            case "clear":
                truth["layout"].pop("accent", None)
                truth["limits"]["burst"].pop("window", None)
                project.admin.mutation("settings:clear")
        received = {key: read(project, key) for key in ("limits", "layout", "mail")}
        assert received == {key: truth[key] for key in received}, f"step {step}"
    assert project.query("settings:all") == {key: truth[key] for key in PUBLIC}


HEAD = """
import type { FunctionArgs, FunctionReturnType } from "convex/server";
import { v, type Infer } from "convex/values";
import { api, internal } from "./_generated/api";
import { query, mutation, type MutationCtx, type QueryCtx } from "./_generated/server";
import { settings } from "./appSettings";
import { defineSettings } from "./lib/settings";

type Equal<A, B> = [A] extends [B] ? ([B] extends [A] ? true : false) : false;
type IsAny<T> = 0 extends 1 & T ? true : false;
declare function yes<T extends true>(): T;
declare function no<T extends false>(): T;
declare function is<T>(value: T): void;
declare const ctx: MutationCtx;
declare const queryCtx: QueryCtx;
declare const someKeys: ("theme" | "pageSize")[];
declare const saved: FunctionArgs<typeof api.settings.save>["entry"];
type Saved = FunctionArgs<typeof api.settings.save>["entry"];
type Changed = FunctionArgs<typeof internal.settings.change>["entry"];
type All = FunctionReturnType<typeof api.settings.all>;
type Limits = { perDay: number; burst: { size: number; window?: number }; byPlan: Record<string, number> };
const one = v.object({ list: v.array(v.union(v.literal("a"), v.literal("b"))), sub: v.object({ n: v.number(), m: v.optional(v.string()) }) });
"""

COMPILES = {
    "values in the types of their keys": """
export async function f() {
  const theme = await settings.get(queryCtx, "theme");
  yes<Equal<typeof theme, "light" | "dark">>();
  const limits = await settings.get(ctx, "limits");
  yes<Equal<typeof limits, Limits>>();
  no<IsAny<typeof theme>>(); no<IsAny<typeof limits>>();
  const { transport } = await settings.get(ctx, "mail");
  if (transport.kind === "smtp") is<number>(transport.port);
}
""",
    "a tuple of values": """
export async function f() {
  const [limits, theme, again] = await settings.getMany(queryCtx, ["limits", "theme", "limits"]);
  yes<Equal<typeof theme, "light" | "dark">>(); no<IsAny<typeof theme>>();
  yes<Equal<typeof limits, Limits>>();
  is<number>(again.burst.size);
  const pair = await settings.getMany(ctx, ["pageSize", "theme"]);
  yes<Equal<(typeof pair)["length"], 2>>();
}
""",
    "an array of values": """
export async function f() {
  const values = await settings.getMany(queryCtx, someKeys);
  for (const value of values) is<number | "light" | "dark">(value);
  is<number>(values.length);
}
""",
    "the public values": """
export async function f() {
  const values = await settings.getPublic(queryCtx);
  yes<Equal<keyof typeof values, "theme" | "pageSize" | "banner" | "layout">>();
  is<{ text: string; until?: number } | null>(values.banner);
  yes<Equal<typeof values.theme, "light" | "dark">>();
}
""",
    "what clients see of all": """
yes<Equal<keyof All, "theme" | "pageSize" | "banner" | "layout">>();
yes<Equal<All["theme"], "light" | "dark">>();
yes<Equal<All["layout"]["sidebar"], { open: boolean; width: number }>>();
no<IsAny<All>>(); no<IsAny<All["banner"]>>();
""",
    "what clients may save": """
yes<Equal<Saved["key"], "theme" | "pageSize" | "banner" | "layout">>();
is<Saved>({ key: "theme", value: "dark" });
is<Saved>({ key: "banner", value: { text: "a" } });
if (saved.key === "pageSize") is<number>(saved.value);
no<IsAny<Saved>>(); no<IsAny<Saved["value"]>>();
""",
    "what clients may ask for": """
yes<Equal<FunctionArgs<typeof api.settings.one>["key"], "theme" | "pageSize" | "banner" | "layout">>();
yes<Equal<FunctionArgs<typeof internal.settings.read>["key"], "theme" | "pageSize" | "banner" | "layout" | "limits" | "mail">>();
""",
    "the arguments for changes": """
yes<Equal<Changed["key"], "layout" | "limits" | "mail">>();
is<Changed>({ key: "limits", changes: { burst: { size: 5 } } });
is<Changed>({ key: "mail", changes: {} });
is<Changed>({ key: "layout", changes: { sidebar: {}, columns: ["a"] } });
""",
    "the tuple of a function": """
is<[Limits, "light" | "dark", { from: string }]>(null! as FunctionReturnType<typeof internal.settings.several>);
""",
    "setting values": """
export async function f() {
  await settings.set(ctx, "theme", "dark");
  await settings.set(ctx, "mail", { from: "a", transport: { kind: "smtp", host: "h", port: 1 } });
  await settings.set(ctx, "banner", null);
  await settings.reset(ctx, "banner");
}
""",
    "patching sections": """
export async function f() {
  await settings.patch(ctx, "limits", { burst: { size: 5 } });
  await settings.patch(ctx, "limits", { burst: { window: undefined }, byPlan: { any: 1 } });
  await settings.patch(ctx, "mail", { transport: { kind: "none" }, footer: undefined });
  await settings.patch(ctx, "mail", { footer: { text: "a", html: true } });
  await settings.patch(ctx, "layout", { columns: [], sidebar: undefined });
}
""",
    "applying entries": """
export async function f() {
  await settings.apply(ctx, saved);
  await settings.apply(ctx, { key: "pageSize", value: 5 });
  await settings.applyChanges(ctx, { key: "limits", changes: { perDay: 5 } });
}
""",
    "validators of functions of one's own": """
export const a = query({ args: { keys: v.array(settings.key) }, handler: async (ctx, args) => await settings.getMany(ctx, args.keys) });
export const b = mutation({ args: { entries: v.array(settings.entry) }, handler: async (ctx, args) => {
  for (const entry of args.entries) await settings.apply(ctx, entry);
} });
yes<Equal<Infer<typeof settings.publicKey>, "theme" | "pageSize" | "banner" | "layout">>();
yes<Equal<Infer<typeof settings.publicValues>["pageSize"], number>>();
""",
    "other definitions": """
const others = defineSettings({
  one: { validator: one, default: { list: ["a", "b"], sub: { n: 1 } }, scope: "public" },
  many: { validator: v.record(v.string(), v.array(v.number())), default: {}, scope: "internal" },
  level: { validator: v.union(v.literal(1), v.literal(2)), default: 1, scope: "internal" },
});
export async function f() {
  const { one } = await others.getPublic(queryCtx);
  is<("a" | "b")[]>(one.list);
  const [level, many] = await others.getMany(ctx, ["level", "many"]);
  is<1 | 2>(level); is<number[]>(many["a"]);
  await others.patch(ctx, "one", { sub: { m: "x" } });
}
""",
}

REFUSED = {
    "a key that is not defined": 'settings.get(ctx, "them");',
    "a value of another type": 'settings.set(ctx, "theme", "blue");',
    "a value of another key": 'settings.set(ctx, "pageSize", "dark");',
    "a value with another field": 'settings.set(ctx, "banner", { text: "a", more: 1 });',
    "setting in a query": 'settings.set(queryCtx, "theme", "dark");',
    "resetting in a query": 'settings.reset(queryCtx, "theme");',
    "a key that is not defined among many": 'settings.getMany(ctx, ["theme", "them"]);',
    "more values than keys": 'export async function f() { const [a, b] = await settings.getMany(ctx, ["theme"]); }',
    "values in another order": 'export async function f() { const [a, b] = await settings.getMany(ctx, ["theme", "pageSize"]); is<number>(a); }',
    "an internal setting among the public ones": "export async function f() { const { limits } = await settings.getPublic(ctx); }",
    "an internal setting for clients": 'is<Saved>({ key: "limits", value: { perDay: 1, burst: { size: 1 }, byPlan: {} } });',
    "a value of another key for clients": 'is<Saved>({ key: "theme", value: 5 });',
    "asking for an internal setting": 'is<FunctionArgs<typeof api.settings.one>>({ key: "limits" });',
    "patching what is no section": 'settings.patch(ctx, "pageSize", 5);',
    "patching a union": 'settings.patch(ctx, "banner", { text: "a" });',
    "a part of a member of a union": 'settings.patch(ctx, "mail", { transport: { kind: "smtp", host: "h" } });',
    "a part of an optional object": 'settings.patch(ctx, "mail", { footer: { text: "a" } });',
    "another type deep inside": 'settings.patch(ctx, "limits", { burst: { size: "5" } });',
    "a record of another type": 'settings.patch(ctx, "limits", { byPlan: { any: "1" } });',
    "a field that the section does not have": 'settings.patch(ctx, "limits", { perWeek: 5 });',
    "a field deep inside that the section does not have": 'settings.patch(ctx, "limits", { burst: { length: 5 } });',
    "an entry with a value of another key": 'settings.apply(ctx, { key: "pageSize", value: "dark" });',
    "changes for another key": 'settings.applyChanges(ctx, { key: "layout", changes: { perDay: 5 } });',
    "changes for what is no section, in arguments": 'is<Changed>({ key: "theme", changes: {} });',
    "a default of another type": 'defineSettings({ level: { validator: v.union(v.literal(1), v.literal(2)), default: 3, scope: "internal" } });',
    "a default that lacks a field": 'defineSettings({ one: { validator: one, default: { list: ["a"], sub: {} }, scope: "public" } });',
    "a default with another field": 'defineSettings({ one: { validator: one, default: { list: ["a"], sub: { n: 1 }, more: 1 }, scope: "public" } });',
    "a default with another field deep inside": 'defineSettings({ one: { validator: one, default: { list: ["a"], sub: { n: 1, more: 1 } }, scope: "public" } });',
    "a literal in a default's list": 'defineSettings({ one: { validator: one, default: { list: ["c"], sub: { n: 1 } }, scope: "public" } });',
    "another scope": 'defineSettings({ one: { validator: one, default: { list: ["a"], sub: { n: 1 } }, scope: "private" } });',
    "an optional validator": 'defineSettings({ one: { validator: v.optional(v.number()), default: 1, scope: "public" } });',
}  # fmt: skip
SNIPPETS = {name: HEAD + text for name, text in (COMPILES | REFUSED).items()}
SNIPPETS["nothing"] = HEAD


@pytest.mark.parametrize("name", COMPILES)
def test_this_compiles(type_checks: TypeChecks, name: str) -> None:
    assert type_checks.errors(SNIPPETS)[name] == ()


@pytest.mark.parametrize("name", REFUSED)
def test_this_does_not_compile(type_checks: TypeChecks, name: str) -> None:
    errors = type_checks.errors(SNIPPETS)
    assert errors["nothing"] == ()
    assert errors[name] != ()

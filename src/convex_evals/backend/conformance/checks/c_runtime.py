"""The environment functions run in."""

import time

from convex_evals.backend.conformance import expect
from convex_evals.backend.conformance.checklist import check
from convex_evals.backend.conformance.target import Target

ACTION_HINT = "Please consider using an action. See https://docs.convex.dev/functions/actions for more details."


@check(45, "fetch is refused in queries and mutations", p1=True)
async def no_fetch(t: Target) -> None:
    failure = await expect.failure(t.query("runtime_env:fetches"))
    expect.equal(failure.plain, f"Can't use fetch() in queries and mutations. {ACTION_HINT}")


@check(46, "setTimeout is refused in mutations", p1=True)
async def no_timers(t: Target) -> None:
    failure = await expect.failure(t.mutation("runtime_env:sleeps"))
    expect.contains(failure.plain, "Can't use setTimeout in queries and mutations. ")


@check(47, "Dynamic import is refused in queries and works in actions")
async def dynamic_import(t: Target) -> None:
    failure = await expect.failure(t.query("runtime_env:importsInQuery"))
    expect.contains(failure.message, "dynamic module import unsupported")
    expect.equal(await t.action("runtime_env:importsInAction"), "imported late")


@check(48, "Date.now() stands still during one execution and moves between executions", p1=True)
async def frozen_clock(t: Target) -> None:
    one = await t.query("runtime_env:clock", {"spin": 3_000_000.0, "salt": 1.0})
    expect.equal(one["first"], one["second"])
    time.sleep(0.005)  # noqa: ASYNC251 - the clock of the deployment must move on
    two = await t.query("runtime_env:clock", {"spin": 0.0, "salt": 2.0})
    expect.true(two["first"] > one["first"], f"{two['first']} is not later than {one['first']}")
    expect.equal(*await t.mutation("runtime_env:mutationClock"))


@check(49, "Date.now() advances inside an action")
async def action_clock(t: Target) -> None:
    expect.true(await t.action("runtime_env:actionClock") >= 15.0, "the clock stood still")


@check(50, "A module-level Date.now() is the same in every execution")
async def import_clock(t: Target) -> None:
    one = await t.query("runtime_env:moduleConstants", {"salt": 1.0})
    two = await t.query("runtime_env:moduleConstants", {"salt": 2.0})
    expect.equal(one["importedAt"], two["importedAt"])


@check(51, "A module-level Math.random() is stable; in a handler it varies")
async def import_random(t: Target) -> None:
    one = await t.query("runtime_env:moduleConstants", {"salt": 3.0})
    two = await t.query("runtime_env:moduleConstants", {"salt": 4.0})
    expect.equal(one["importedRandom"], two["importedRandom"])
    expect.true(one["random"] != two["random"], "the handler drew the same number twice")


@check(52, "Module state does not survive a call", p1=True)
async def no_module_state(t: Target) -> None:
    expect.equal(await t.mutation("runtime_env:increments"), 1.0)
    expect.equal(await t.mutation("runtime_env:increments"), 1.0)


@check(53, "crypto.randomUUID() gives a version 4 uuid in queries")
async def random_uuid(t: Target) -> None:
    expect.matches(
        await t.query("runtime_env:uuid"), r"^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$"
    )


@check(54, "crypto.subtle.digest works in queries")
async def digest(t: Target) -> None:
    expect.equal(
        (await t.query("runtime_env:digest")).hex(), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
    )


@check(55, "Generating keys is refused in queries and works in actions")
async def generate_key(t: Target) -> None:
    failure = await expect.failure(t.query("runtime_env:generatesKey"))
    expect.contains(failure.message, "Can't use cryptographic randomness in queries and mutations. ")
    expect.equal(await t.action("runtime_env:generatesKeyInAction"), "secret")


@check(56, "The web APIs of the default runtime are there and work")
async def web_apis(t: Target) -> None:
    names = [
        "TextEncoder",
        "URL",
        "Headers",
        "Request",
        "Response",
        "Blob",
        "atob",
        "structuredClone",
        "AbortController",
    ]
    expect.equal(set((await t.query("runtime_env:globals", {"names": names})).values()), {"function"})
    expect.equal(
        await t.query("runtime_env:usesWebApis"),
        {
            "url": "http://a.example/b?x=1",
            "header": "1",
            "text": "body",
            "blob": "abc",
            "atob": "hi",
            "clone": {"a": [1.0]},
            "aborted": True,
            "method": "POST",
        },
    )


@check(57, "Node's and browsers' own globals are absent")
async def absent_globals(t: Target) -> None:
    names = ["Buffer", "require", "window", "global", "setImmediate", "queueMicrotask"]
    expect.equal(set((await t.query("runtime_env:globals", {"names": names})).values()), {"undefined"})


@check(58, "eval throws EvalError")
async def no_eval(t: Target) -> None:
    expect.contains((await expect.failure(t.query("runtime_env:evals"))).message, "EvalError")


@check(59, "The local time zone is UTC")
async def utc(t: Target) -> None:
    expect.equal(await t.query("runtime_env:zone"), {"offset": 0.0, "zone": "UTC"})


@check(60, "process.env shows deployment variables one by one and lists none", p1=True)
async def environment(t: Target) -> None:
    await t.set_env(CONFORMANCE_VARIABLE="seen")
    expect.equal(await t.query("runtime_env:variable", {"name": "CONFORMANCE_VARIABLE"}), {"value": "seen", "keys": []})
    await t.set_env(CONFORMANCE_VARIABLE=None)
    expect.equal((await t.query("runtime_env:variable", {"name": "CONFORMANCE_VARIABLE"}))["value"], None)


@check(61, "CONVEX_CLOUD_URL and CONVEX_SITE_URL are set and cannot be overridden")
async def built_in_variables(t: Target) -> None:
    for name, url in (("CONVEX_CLOUD_URL", t.url), ("CONVEX_SITE_URL", t.site_url)):
        expect.equal((await t.query("runtime_env:variable", {"name": name}))["value"], url)
        response = await t.http.post(
            f"{t.url}/api/update_environment_variables",
            json={"changes": [{"name": name, "value": "x"}]},
            headers={"Authorization": f"Convex {t.admin_key}"},
        )
        expect.equal((response.status_code, response.json()["code"]), (400, "EnvVarNameForbidden"))


@check(62, "Changing a variable re-runs a subscribed query that read it")
async def environment_is_reactive(t: Target) -> None:
    async with t.sync() as client:
        (subscription,) = await client.subscribe(("runtime_env:variable", {"name": "CONFORMANCE_LIVE"}))
        await t.set_env(CONFORMANCE_LIVE="on")
        await client.until(lambda: subscription.latest["value"] == "on")
    await t.set_env(CONFORMANCE_LIVE=None)


@check(63, "Database access at module scope fails", owns_deployment=True)
async def no_database_at_import(t: Target) -> None:
    pushed = await t.push_only(
        {
            "convex/early.ts": (
                'import { query } from "./_generated/server";\n'
                'void (globalThis as any).Convex.asyncSyscall("1.0/get", JSON.stringify({ id: "x" }));\n'
                "export const f = query({ args: {}, handler: async () => 1 });\n"
            )
        }
    )
    said = (await expect.failure(t.query("early:f"))).message if pushed.ok else pushed.output
    expect.contains(said, "Can't use database at import time")


@check(64, "An infinite loop is stopped after a second and cannot be caught")
async def infinite_loop(t: Target) -> None:
    failure = await expect.failure(t.query("runtime_env:loops"))
    expect.equal(failure.plain, "Function execution timed out (maximum duration: 1s)")


@check(65, "Functions run normally after an infinite loop")
async def after_infinite_loop(t: Target) -> None:
    await expect.failure(t.query("runtime_env:loops"))
    expect.equal(await t.query("runtime_env:answers", {"salt": 1.0}), "still here")


@check(66, "Allocating without bound ends that call; the next one works")
async def out_of_memory(t: Target) -> None:
    failure = await expect.failure(t.query("runtime_env:hoards"))
    expect.contains(failure.plain, "JavaScript execution ran out of memory")
    expect.equal(await t.query("runtime_env:answers", {"salt": 2.0}), "still here")


@check(67, "Unknown syscalls are named")
async def unknown_syscalls(t: Target) -> None:
    asynchronous = await expect.failure(t.query("runtime_env:unknownAsync"))
    expect.equal(asynchronous.plain, "Unknown async operation 1.0/doesNotExist")
    synchronous = await expect.failure(t.query("runtime_env:unknownSync"))
    expect.equal(synchronous.plain, "Unknown operation 1.0/doesNotExist")


@check(68, "Extra fields in syscall arguments are ignored")
async def extra_syscall_fields(t: Target) -> None:
    expect.contains(await t.query("runtime_env:extraFields"), "runtime_env:extraFields")


@check(69, "Ten inserts in Promise.all get increasing creation times in call order")
async def parallel_inserts(t: Target) -> None:
    times = await t.mutation("runtime_env:parallelInserts")
    expect.equal(times, sorted(set(times)))

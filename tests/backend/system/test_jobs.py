from typing import Any

System = Any


def schedule(system: System, next_ts: int | None, path: str = "messages.js:send", state: str = "pending") -> str:
    job: str = system.insert_row(
        "_scheduled_jobs",
        component="",
        udfPath=path,
        udfArgs=b"[{}]",
        argsId=None,
        state={"type": state},
        nextTs=next_ts,
        completedTs=None if next_ts else 5,
        originalScheduledTs=next_ts,
        attempts={"systemErrors": 0, "occErrors": 0},
    )
    return job


async def jobs(system: System, size: int, cursor: str | None = None, **args: Any) -> Any:
    options = {"numItems": float(size), "cursor": cursor}
    return await system.call("frontend/paginatedScheduledJobs", paginationOpts=options, **args)


async def test_waiting_jobs_are_listed_by_their_time(system: System) -> None:
    late, running, early = schedule(system, 30), schedule(system, 20, state="inProgress"), schedule(system, 10)
    schedule(system, None, state="success")
    page = await jobs(system, 10)
    assert [job["_id"] for job in page["page"]] == [early, running, late]
    assert (page["isDone"], page["page"][0]["udfArgs"]) == (True, b"[{}]")


async def test_jobs_come_in_pages_that_continue_where_the_last_one_ended(system: System) -> None:
    expected = [schedule(system, ts) for ts in (10, 20, 30)]
    first = await jobs(system, 2)
    assert first["isDone"] is False
    rest = await jobs(system, 2, first["continueCursor"])
    assert [job["_id"] for job in first["page"] + rest["page"]] == expected
    assert rest["isDone"] is True
    assert (await jobs(system, 2, rest["continueCursor"]))["page"] == []


async def test_jobs_are_chosen_by_function(system: System) -> None:
    schedule(system, 10, "messages.js:clean")
    wanted = schedule(system, 20, "messages.js:send")
    page = await jobs(system, 10, udfPath="messages.js:send")
    assert [job["_id"] for job in page["page"]] == [wanted]


async def test_arguments_kept_apart_are_found(system: System) -> None:
    args = system.insert_row("_scheduled_job_args", args=b'[{"big":true}]')
    found = await system.call("frontend/scheduler:getArgs", argsId=args)
    assert (found["_id"], found["args"]) == (args, b'[{"big":true}]')
    assert await system.call("frontend/scheduler:getArgs", argsId="nope") is None


async def test_crons_are_listed_with_their_last_and_next_run(system: System) -> None:
    spec = {"udfPath": "m.js:f", "udfArgs": b"[]", "cronSchedule": {"type": "interval", "seconds": 60}}
    busy = system.insert_row("_cron_jobs", name="busy", cronSpec=spec)
    fresh = system.insert_row("_cron_jobs", name="fresh", cronSpec=spec)
    for job in (busy, fresh):
        system.insert_row("_cron_next_run", cronJobId=job, state={"type": "pending"}, prevTs=None, nextTs=99)
    for ts in (1, 2):
        system.insert_row("_cron_job_logs", name="busy", ts=ts)
    listed = await system.call("frontend/listCronJobs")
    assert [(job["name"], job["lastRun"] and job["lastRun"]["ts"], job["nextRun"]["nextTs"]) for job in listed] == [
        ("busy", 2, 99),
        ("fresh", None, 99),
    ]
    assert [run["ts"] for run in await system.call("frontend/listCronJobRuns")] == [1, 2]

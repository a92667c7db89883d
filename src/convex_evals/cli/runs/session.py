"""Carries out what was asked for, sends it to a scores service meanwhile, and says how it went."""

import asyncio
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, AsyncExitStack, contextmanager, nullcontext
from dataclasses import dataclass, replace
from typing import Final, TextIO

from convex_evals.cli.output import remark
from convex_evals.cli.progress import event_stream, logging_events, watching
from convex_evals.cli.runs.comparison import next_line
from convex_evals.cli.runs.executor import Executor, open_executor
from convex_evals.cli.runs.options import Purpose, RunOptions
from convex_evals.cli.runs.plans import Prepared, prepare, with_run_ids
from convex_evals.core.settings import Settings
from convex_evals.core.toolchain import prepare_toolchain
from convex_evals.runner import (
    LOOKS,
    ActiveRun,
    Budget,
    Execution,
    Notice,
    Plan,
    RunContext,
    UntilSure,
    Watcher,
    open_budget,
    open_workspace,
    toolchain_fingerprint,
)
from convex_evals.scores import RunPlan, RunRecord, ScoresStore
from convex_evals.suite import Problem
from convex_evals.web import find_run_page

SENT: Final[tuple[Purpose, ...]] = ("run", "scheduled")
"""What is only about this machine is sent nowhere: whether a suite is valid, whether a key works."""


@dataclass(frozen=True, slots=True)
class Session:
    """What came of it. `complete`: nobody stopped it. `until_sure` says what was decided, if that was asked for."""

    runs: tuple[RunRecord, ...]
    problems: tuple[Problem, ...]
    complete: bool
    until_sure: UntilSure | None = None


class Announcer:
    """Says something from any thread: among the progress while that is shown, otherwise as a remark."""

    def __init__(self) -> None:
        self._tell: Callable[[str], None] = remark

    def __call__(self, text: str) -> None:
        self._tell(text)

    @contextmanager
    def through(self, watcher: Watcher) -> Iterator[None]:
        loop = asyncio.get_running_loop()

        def tell(text: str) -> None:
            loop.call_soon_threadsafe(watcher, Notice(text))

        self._tell = tell
        try:
            yield
        finally:
            self._tell = remark


def carry_out(asked: RunOptions, settings: Settings, store: ScoresStore) -> Session:
    """Does it. Raises UsageError, or InfrastructureError when it cannot go on."""
    asked = with_run_ids(asked, store)
    resumed = () if asked.resume is None else (asked.resume,)
    return carry_out_plans(lambda: prepare(asked, store, settings), resumed, asked, settings, store)


def carry_out_plans(
    plan: Callable[[], Prepared], resumed: Sequence[str], asked: RunOptions, settings: Settings, store: ScoresStore
) -> Session:
    """The same for any plans. `plan` is called when the runs that are `resumed` are held."""
    return asyncio.run(_carry_out(plan, resumed, asked, settings, store))


async def _carry_out(
    plan: Callable[[], Prepared], resumed: Sequence[str], asked: RunOptions, settings: Settings, store: ScoresStore
) -> Session:
    async with AsyncExitStack() as stack:
        for run_id in resumed:
            stack.enter_context(store.hold_run(run_id))
        prepared = plan()
        if prepared.plans and all(each.is_over for each in prepared.plans):
            return Session(tuple(store.find_run(run_id) for run_id in resumed), prepared.problems, complete=True)
        executor = await stack.enter_async_context(open_executor(asked.executor, settings))
        prepared = replace(prepared, plans=await _with_sandbox(prepared.plans, executor))
        events = stack.enter_context(event_stream(asked.events))
        budget = None if asked.budget is None else open_budget(asked.budget, prepared.plans, store)
        toolchain = await prepare_toolchain(settings, remark)
        tools = toolchain_fingerprint(toolchain.fingerprint, settings)
        for each in prepared.plans:
            each.check_tools(tools)
        voice = Announcer()
        stack.enter_context(_sending(prepared.plans, asked, settings, store, voice))
        runs = [each.begin(store, tools) for each in prepared.plans]
        for run in runs:
            if run.id not in resumed:
                stack.enter_context(store.hold_run(run.id))
        await asyncio.to_thread(_say_where, runs, settings, store)
        sure = _until_sure(runs, asked, store, budget)
        complete = await _execute(runs, asked, settings, store, budget, events, executor, voice)
        while complete and sure is not None and (further := sure.next_round()):
            remark(next_line(sure, further))
            complete = await _execute(further, asked, settings, store, budget, events, executor, voice)
    return Session(tuple(store.find_run(run.id) for run in runs), prepared.problems, complete, sure)


def _sending(
    plans: Sequence[Plan], asked: RunOptions, settings: Settings, store: ScoresStore, say: Announcer
) -> AbstractContextManager[None]:
    """Before the plans begin, so that runs are sent from their first record on. Says where to. Raises UsageError."""
    destination = settings.destination(asked.to) if asked.purpose in SENT else None
    if destination is None:
        return nullcontext()
    from convex_evals.runner import sending

    remark(f"Results are also sent to {destination.shown}.")
    for plan in plans:
        follow = store.outbox.follow if isinstance(plan.run, RunPlan) else store.outbox.send_again
        follow(plan.run.id, destination.url)
    return sending(store, destination, [plan.run.id for plan in plans], say)


def _say_where(runs: Sequence[ActiveRun], settings: Settings, store: ScoresStore) -> None:
    """Where the runs can be followed, if someone serves these scores."""
    for run in runs:
        if page := find_run_page(store, settings, run.id):
            remark(f"Follow {store.find_run(run.id).model} at {page}")


def _until_sure(
    runs: Sequence[ActiveRun], asked: RunOptions, store: ScoresStore, budget: Budget | None
) -> UntilSure | None:
    if not asked.until_sure:
        return None
    against = None if asked.against is None else store.find_run(asked.against).id
    return UntilSure(store, runs, against, asked.trials or LOOKS, budget)


async def _with_sandbox(plans: Sequence[Plan], executor: Executor) -> tuple[Plan, ...]:
    """Plans that say what does not hold while they are graded. Raises SandboxError before anything is asked."""
    sandboxes = dict.fromkeys(each.options.sandbox for each in plans if each.work)
    missing = {sandbox: await executor.check_sandbox(sandbox) for sandbox in sandboxes}
    return tuple(each.with_note("notConfined", list(missing.get(each.options.sandbox, ()))) for each in plans)


async def _execute(
    runs: list[ActiveRun],
    asked: RunOptions,
    settings: Settings,
    store: ScoresStore,
    budget: Budget | None,
    events: TextIO | None,
    executor: Executor,
    voice: Announcer,
) -> bool:
    items = [item for run in runs for item in run.work]
    with open_workspace(settings.output_folder, keep=asked.keep) as folder, watching(items) as watcher:
        if asked.keep:
            remark(f"Everything that is written stays in {folder}.")
        jobs = asked.jobs or executor.size
        told = logging_events(watcher, events)
        context = RunContext(store, settings, folder, jobs, told, asked.keep, budget, executor.cluster)
        with voice.through(told):
            return await Execution(runs, context).carry_out()

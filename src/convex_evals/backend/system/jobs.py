"""Scheduled functions and crons, as admin tools look at them."""

from convex_evals.backend.database import Document
from convex_evals.backend.system.declarations import (
    END,
    PAGINATION,
    Context,
    Declarations,
    PageOptions,
    Position,
    optional,
    page,
    paginate_rows,
)
from convex_evals.backend.validators import STRING
from convex_evals.backend.values import Value

functions = Declarations()

JOBS = "_scheduled_jobs"
ARGS = "_scheduled_job_args"


@functions.query("frontend/paginatedScheduledJobs", paginationOpts=PAGINATION, udfPath=optional(STRING))
def paginated_scheduled_jobs(context: Context, pagination_opts: dict[str, Value], udf_path: str | None = None) -> Value:
    """Pending and running ones, the next one first."""
    index, equal = ("by_next_ts", ()) if udf_path is None else ("by_path_and_next_ts", (udf_path,))
    rows = context.transaction.system.scan(context.namespace, JOBS, index, equal)
    waiting = [row for row in rows if row.value.get("nextTs") is not None]
    taken, cursor = paginate_rows(context, waiting, _position, PageOptions.parse(pagination_opts))
    return page([dict(row.value) for row in taken], is_done=cursor == END, continue_cursor=cursor)


def _position(job: Document) -> Position:
    next_ts = job.value["nextTs"]
    assert isinstance(next_ts, int)
    return next_ts, job.id


@functions.query("frontend/scheduler:getArgs", argsId=STRING)
def get_args(context: Context, args_id: str) -> Value:
    row = context.transaction.system.get(context.namespace, ARGS, args_id)
    return None if row is None else dict(row.value)


@functions.query("frontend/listCronJobs")
def list_cron_jobs(context: Context) -> Value:
    """Each with its newest run and its next one."""
    system = context.transaction.system
    jobs: list[Value] = []
    for job in system.scan(context.namespace, "_cron_jobs", "by_name"):
        name = job.value["name"]
        runs = system.scan(context.namespace, "_cron_job_logs", "by_name_and_ts", (name,), descending=True, limit=1)
        planned = system.first(context.namespace, "_cron_next_run", "by_cron_job", (job.id,))
        jobs.append(
            {
                **job.value,
                "lastRun": dict(runs[0].value) if runs else None,
                "nextRun": dict(planned.value) if planned else None,
            }
        )
    return jobs


@functions.query("frontend/listCronJobRuns")
def list_cron_job_runs(context: Context) -> Value:
    return [dict(row.value) for row in context.transaction.system.scan(context.namespace, "_cron_job_logs")]

"""What the leaderboard shows, and the data migrations of its database."""

from dataclasses import dataclass
from typing import Any

from convex_evals.runner import WITH_GUIDELINES, RankedModel
from convex_evals.scores import JobStatus, RunFilter
from convex_evals.web.functions.function import Context, Function, NoArguments

MOST_RUNS = 200


@dataclass(frozen=True, slots=True)
class OfExperiment:
    experiment: str = WITH_GUIDELINES


@dataclass(frozen=True, slots=True)
class OfModel:
    model: str | None = None
    experiment: str | None = None


def leaderboard(context: Context, given: OfExperiment) -> list[dict[str, Any]]:
    """Of the newest benchmark version, the best first."""
    versions = context.results.benchmarks()
    board = context.results.leaderboard(versions[0], given.experiment) if versions else None
    return [_standing(each) for each in board.standings] if board else []


def list_runs(context: Context, given: OfModel) -> list[dict[str, Any]]:
    """The newest first."""
    chosen = RunFilter(model=given.model, experiment=given.experiment, limit=MOST_RUNS)
    return [
        {
            "_id": run.id,
            "_creationTime": run.started_at.timestamp() * 1000,
            "model": run.model,
            "provider": run.provider,
            "experiment": run.experiment,
            "status": run.status,
            "totalEvals": run.counts.total,
            "passedCount": run.counts.passed,
            "failedCount": run.counts.failed,
        }
        for run in context.site.store.runs(chosen)
    ]


def run_migrations(context: Context, _: NoArguments) -> list[dict[str, Any]]:
    context.site.store.jobs.run_all()
    return migration_status(context, _)


def migration_status(context: Context, _: NoArguments) -> list[dict[str, Any]]:
    return [_job(job) for job in context.site.store.jobs.status()]


def _standing(each: RankedModel) -> dict[str, Any]:
    score = each.ranked.score
    return {
        "model": each.ranked.name,
        "provider": each.provider,
        "score": score.value,
        "low": score.interval.low,
        "high": score.interval.high,
        "runs": list(each.runs),
        "categories": [{"category": name, "score": found.value} for name, found in sorted(each.categories.items())],
        "lastRun": each.last.timestamp() * 1000,
    }


def _job(job: JobStatus) -> dict[str, Any]:
    """As the component `migrations` tells it."""
    states = {"pending": "unknown", "running": "inProgress", "done": "success"}
    return {
        "name": job.name,
        "state": states[job.state],
        "processed": job.done,
        "total": job.total,
        "isDone": job.state == "done",
        "latestStart": job.started_at and job.started_at.timestamp() * 1000,
        "latestEnd": job.finished_at and job.finished_at.timestamp() * 1000,
    }


SCORES = (
    Function("leaderboard:getScores", "Query", "read", OfExperiment, leaderboard),
    Function("runs:list", "Query", "read", OfModel, list_runs),
    Function("migrations:runAll", "Mutation", "admin", NoArguments, run_migrations),
    Function("lib:getStatus", "Query", "read", NoArguments, migration_status, component="migrations"),
)

"""The cron jobs of `crons.js`."""

from collections.abc import Mapping

import orjson

from convex_evals.backend.crons import parse_schedule
from convex_evals.backend.deployed import AnalyzedModule, CronSpec, FunctionPath
from convex_evals.backend.push.errors import invalid_modules, refused, uncaught
from convex_evals.backend.push.facts import CronsFacts

CRONS_PATH = "crons.js"


def analyze_crons(crons: CronsFacts) -> tuple[CronSpec, ...]:
    """Sorted by identifier. Raises RequestError when the default export is not a Crons object, or a job is not one."""
    if not crons.exported:
        raise invalid_modules(f"`convex/{CRONS_PATH}` must have a default export of a Crons object.")
    if not crons.is_crons:
        raise invalid_modules(f"The default export of `convex/{CRONS_PATH}` is not a Crons object.")
    if crons.export.thrown is not None:
        raise uncaught(crons.export.thrown)
    if crons.export.text is None:
        raise invalid_modules(".export property on Crons object not found")
    try:
        jobs = _parse_jobs(crons.export.text)
        return tuple(_parse_job(identifier, jobs[identifier]) for identifier in sorted(jobs))
    except ValueError as error:
        raise refused("InvalidCron", str(error)) from error


def check_targets(analysis: Mapping[str, AnalyzedModule]) -> None:
    """Every job must start a mutation or an action of its own component."""
    crons = analysis.get(CRONS_PATH)
    for spec in (crons and crons.cron_specs) or ():
        target = FunctionPath.parse(spec.udf_path)
        module = analysis.get(target.module)
        function = module.function(target.function) if module else None
        if function is None:
            raise refused(
                "Error", f"The cron job '{spec.identifier}' schedules a function that does not exist: {spec.udf_path}"
            )
        if function.udf_type == "Query":
            raise refused(
                "Error",
                f"The cron job '{spec.identifier}' schedules a query function, only actions and mutations can be "
                f"scheduled: {spec.udf_path}",
            )


def _parse_jobs(text: str) -> dict[str, object]:
    try:
        jobs = orjson.loads(text)
    except ValueError:
        raise ValueError("Invalid JSON") from None
    if not isinstance(jobs, dict):
        raise ValueError("Invalid JSON")
    return jobs


def _parse_job(identifier: str, job: object) -> CronSpec:
    _check_identifier(identifier)
    if not isinstance(job, dict) or not isinstance(job.get("name"), str) or not isinstance(job.get("schedule"), dict):
        raise ValueError("Invalid JSON")
    return CronSpec(
        identifier=identifier,
        udf_path=FunctionPath.parse(job["name"]).canonical,
        udf_args=orjson.dumps(job.get("args") or []).decode(),
        schedule=parse_schedule(job["schedule"]),
    )


def _check_identifier(identifier: str) -> None:
    wrong = next((character for character in identifier if not " " <= character <= "~"), None)
    if wrong is not None:
        raise ValueError(
            f"CronIdentifier {identifier} has invalid character '{wrong}': CronIdentifiers can only contain ASCII "
            "letters that are not control characters"
        )

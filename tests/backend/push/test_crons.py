from typing import Any

import orjson
import pytest

from convex_evals.backend.deployed import AnalyzedFunction, AnalyzedModule, CronSpec, UdfType
from convex_evals.backend.errors import RequestError
from convex_evals.backend.push.crons import analyze_crons, check_targets
from convex_evals.backend.push.facts import CronsFacts

MINUTE = {"type": "interval", "minutes": 1}


def analyze(jobs: dict[str, Any] | str) -> tuple[CronSpec, ...]:
    text = jobs if isinstance(jobs, str) else orjson.dumps(jobs).decode()
    return analyze_crons(CronsFacts.parse({"exported": True, "isCrons": True, "export": {"text": text}}))


def job(name: str = "messages:clean", schedule: dict[str, Any] = MINUTE) -> dict[str, Any]:
    return {"name": name, "args": [{"a": 1}], "schedule": schedule}


def test_jobs_are_sorted_by_identifier_and_canonical() -> None:
    assert analyze({"b": job(), "a": job("dir/m")}) == (
        CronSpec("a", "dir/m.js:default", '[{"a":1}]', {"type": "interval", "seconds": 60}),
        CronSpec("b", "messages.js:clean", '[{"a":1}]', {"type": "interval", "seconds": 60}),
    )


@pytest.mark.parametrize(
    ("facts", "message"),
    [
        ({"exported": False}, "`convex/crons.js` must have a default export of a Crons object."),
        ({"exported": True}, "The default export of `convex/crons.js` is not a Crons object."),
        ({"exported": True, "isCrons": True}, ".export property on Crons object not found"),
    ],
)
def test_the_default_export_must_be_a_crons_object(facts: dict[str, Any], message: str) -> None:
    with pytest.raises(RequestError) as refusal:
        analyze_crons(CronsFacts.parse(facts))
    assert refusal.value.code == "InvalidModules"
    assert refusal.value.message.endswith(message)


@pytest.mark.parametrize(
    ("jobs", "message"),
    [
        ("{", "Invalid JSON"),
        ({"a": job(schedule={"type": "interval"})}, "Exactly one of (seconds, minutes, hours) should be specified"),
        (
            {"a": job(schedule={"type": "cron", "cron": "0 0 31 2 *"})},
            'The cron spec "0 0 31 2 *" will never match any time',
        ),
        ({"ä": job()}, "CronIdentifier ä has invalid character 'ä': CronIdentifiers can only contain ASCII letters"),
    ],
)
def test_a_job_that_cannot_be_scheduled_is_refused(jobs: dict[str, Any] | str, message: str) -> None:
    with pytest.raises(RequestError) as refusal:
        analyze(jobs)
    assert refusal.value.code == "InvalidCron"
    assert refusal.value.message.startswith(message)


def analysis(udf_type: UdfType) -> dict[str, AnalyzedModule]:
    function = AnalyzedFunction("clean", udf_type, "internal", "{}", "null")
    return {"messages.js": AnalyzedModule((function,)), "crons.js": AnalyzedModule(cron_specs=analyze({"tidy": job()}))}


def test_mutations_and_actions_can_be_scheduled() -> None:
    check_targets(analysis("Mutation"))
    check_targets(analysis("Action"))


def test_a_query_cannot_be_scheduled() -> None:
    with pytest.raises(RequestError) as refusal:
        check_targets(analysis("Query"))
    assert refusal.value.message == (
        "The cron job 'tidy' schedules a query function, only actions and mutations can be scheduled: messages.js:clean"
    )


def test_a_missing_function_cannot_be_scheduled() -> None:
    with pytest.raises(RequestError) as refusal:
        check_targets({**analysis("Mutation"), "messages.js": AnalyzedModule()})
    assert refusal.value.code == "Error"
    assert refusal.value.message == ("The cron job 'tidy' schedules a function that does not exist: messages.js:clean")

"""Five jobs: what they call, with which arguments, and when, however the schedule is written."""

from typing import Any

from convex_evals.pipeline.grading.kit import Deployment, same_function_spec, same_schema, wait_until

FUNCTIONS = ("jobs:tick", "jobs:cleanUp")
CALLS = {
    "poll": ("jobs:tick", {"source": "poll"}),
    "morning": ("jobs:tick", {"source": "morning"}),
    "clean up": ("jobs:cleanUp", {}),
    "new month": ("jobs:tick", {"source": "month"}),
    "office hours": ("jobs:tick", {"source": "office"}),
}
WEEKDAYS = ("sun", "mon", "tue", "wed", "thu", "fri", "sat")
FIELDS = {"minute": (0, 59), "hour": (0, 23), "day": (1, 31), "month": (1, 12), "weekday": (0, 6)}


def moments(schedule: dict[str, Any]) -> dict[str, list[int]]:
    """The minutes, hours, days, months and weekdays at which a job runs."""
    if schedule["type"] == "cron":
        expression = str(schedule["cronExpr"]).split()
    else:
        names = ("minuteUTC", "hourUTC", "day", "", "dayOfWeek")
        expression = [str(schedule.get(name, "*")) for name in names]
    assert len(expression) == len(FIELDS), f"expected five fields, received {expression}"
    return {name: values(text, *FIELDS[name]) for name, text in zip(FIELDS, expression, strict=True)}


def values(text: str, lowest: int, highest: int) -> list[int]:
    """What one field of a cron expression stands for: `*`, `5`, `1-5`, `MON-FRI`, `*/2` and lists of these."""
    found: set[int] = set()
    for part in text.lower().split(","):
        span, _, step = part.partition("/")
        first, _, last = span.partition("-")
        if first == "*":
            bounds = (lowest, highest)
        else:
            bounds = (number(first), number(last) if last else (highest if step else number(first)))
        found.update(range(bounds[0], bounds[1] + 1, int(step or 1)))
    return sorted({0 if value == 7 and highest == 6 else value for value in found})


def number(text: str) -> int:
    return WEEKDAYS.index(text[:3]) if text[:3] in WEEKDAYS else int(text)


def test_there_are_exactly_the_five_jobs_and_they_call_what_they_must(project: Deployment) -> None:
    assert {name: (job.function, job.args) for name, job in project.crons().items()} == CALLS


def test_the_poll_runs_every_45_minutes(project: Deployment) -> None:
    assert project.crons()["poll"].schedule == {"type": "interval", "seconds": 45 * 60}


def test_the_other_jobs_run_at_their_times(project: Deployment) -> None:
    always = {name: list(range(lowest, highest + 1)) for name, (lowest, highest) in FIELDS.items()}
    expected = {
        "morning": {**always, "minute": [30], "hour": [6]},
        "clean up": {**always, "minute": [0], "hour": [4], "weekday": [1]},
        "new month": {**always, "minute": [15], "hour": [0], "day": [1]},
        "office hours": {**always, "minute": [0], "hour": list(range(9, 18)), "weekday": [1, 2, 3, 4, 5]},
    }
    crons = project.crons()
    for name, times in expected.items():
        schedule = crons[name].schedule
        assert schedule["type"] != "interval", f"{name}: expected a time of day, received an interval"
        assert moments(schedule) == times, f"{name}: the schedule is {schedule}"


def test_the_poll_runs_and_succeeds_once_it_is_deployed(project: Deployment) -> None:
    runs = wait_until(lambda: project.crons()["poll"].runs, "a run of the poll")
    assert runs[0] == "success"


def test_a_tick_is_stored_with_its_source(project: Deployment) -> None:
    assert project.admin.mutation("jobs:tick", source="by hand") is None
    assert [tick["source"] for tick in project.documents("ticks")] == ["by hand"]
    with project.fails("ArgumentValidationError"):
        project.admin.mutation("jobs:tick")


def test_cleaning_up_deletes_every_tick_and_tells_how_many(project: Deployment) -> None:
    assert project.admin.mutation("jobs:cleanUp") == 0
    project.insert_many("ticks", [{"source": f"source {number}"} for number in range(300)])
    assert project.admin.mutation("jobs:cleanUp") == 300
    assert project.documents("ticks") == []


def test_clients_can_call_none_of_the_functions(project: Deployment, answer: Deployment) -> None:
    same_schema(project, answer)
    same_function_spec(project, answer, FUNCTIONS)
    assert [name for name, spec in project.functions().items() if spec.is_public] == []
    with project.fails("Could not find public function"):
        project.mutation("jobs:tick", source="client")
    assert project.documents("ticks") == []

"""Measurements of one sensor in a period. Which index finds them is the model's choice; what is read is measured."""

from convex_evals.pipeline.grading.kit import Deployment, assert_same

# In the order in which they arrive, which is not the order in which they were taken.
TIMES: dict[str, list[float]] = {"roof": [50, 10, 40, 20, 30, -5, 20.5], "cellar": [20, 25, 5]}
MEASUREMENTS = [
    {"sensor": sensor, "takenAt": time, "celsius": (time * 7) % 13} for sensor in TIMES for time in TIMES[sensor]
]


def times(project: Deployment, sensor: str, start: float, end: float) -> list[float]:
    found = project.query("index:getMeasurements", {"sensor": sensor, "from": start, "to": end})
    return [measurement["takenAt"] for measurement in found]


def test_the_fields_are_those_of_the_task(project: Deployment, answer: Deployment) -> None:
    assert_same(project.schema().table("measurements").fields, answer.schema().table("measurements").fields)


def test_returns_the_measurements_of_the_sensor_in_the_order_of_time(project: Deployment) -> None:
    project.insert_many("measurements", MEASUREMENTS)
    assert_same(times(project, "roof", -100, 1000), [-5, 10, 20, 20.5, 30, 40, 50])
    assert_same(times(project, "cellar", 0, 100), [5, 20, 25])
    assert_same(times(project, "attic", 0, 100), [])


def test_the_start_belongs_to_the_period_and_the_end_does_not(project: Deployment) -> None:
    project.insert_many("measurements", MEASUREMENTS)
    assert_same(times(project, "roof", 10, 40), [10, 20, 20.5, 30])
    assert_same(times(project, "roof", 20, 20.5), [20])
    assert_same(times(project, "roof", -5, 0), [-5])
    assert_same(times(project, "roof", 11, 19), [])


def test_a_period_that_does_not_end_after_its_start_is_empty(project: Deployment) -> None:
    project.insert_many("measurements", MEASUREMENTS)
    assert_same(times(project, "roof", 20, 20), [])
    assert_same(times(project, "roof", 40, 10), [])


def test_returns_complete_documents(project: Deployment) -> None:
    ids = project.insert_many("measurements", MEASUREMENTS)
    found = project.query("index:getMeasurements", {"sensor": "roof", "from": 40, "to": 60})
    assert_same(found, [project.get(ids[2]), project.get(ids[0])], ignore=())


def test_reads_only_the_measurements_it_returns(project: Deployment) -> None:
    measurements = [{"sensor": f"sensor {i % 5}", "takenAt": i * 37 % 500, "celsius": 20} for i in range(500)]
    project.insert_many("measurements", measurements)
    with project.trace() as work:
        found = times(project, "sensor 3", 100, 150)
    assert len(found) == 10, f"10 measurements are in the period, and {len(found)} were returned"
    assert work.documents_read <= 10, f"of 500 measurements it returned 10, and read {work.documents_read}"


def test_rejects_arguments_that_are_not_a_sensor_and_a_period(project: Deployment) -> None:
    no_end, no_start = {"sensor": "roof", "from": 1}, {"sensor": "roof", "to": 1}
    for arguments in ({}, no_end, no_start, {"sensor": "roof", "from": "1", "to": 2}):
        with project.fails("ArgumentValidationError"):
            project.query("index:getMeasurements", arguments)

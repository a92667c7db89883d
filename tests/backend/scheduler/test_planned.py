from convex_evals.backend.database import Database
from convex_evals.backend.deployed import Application, ComponentInstance, UdfConfig
from convex_evals.backend.scheduler.planned import namespaces, planned_rows

TABLE = "_scheduled_jobs"
APPLICATION = Application(
    version=1,
    udf_config=UdfConfig("1.44.0", b"", 0),
    definitions={},
    instances={
        "": ComponentInstance("", "", ""),
        "counter": ComponentInstance("c1", "counter", "counter"),
        "gone": ComponentInstance("c2", "gone", "gone", state="unmounted"),
    },
)


def database_with(*rows: tuple[str, str, int | None]) -> Database:
    database = Database.open(None)
    transaction = database.begin()
    for namespace, name, due in rows:
        transaction.system.insert(namespace, TABLE, {"udfPath": name, "nextTs": due})
    database.commit(transaction)
    return database


def names(database: Database, application: Application | None, limit: int = 10) -> list[object]:
    transaction = database.begin()
    found = planned_rows(transaction, application, TABLE, limit)
    rows = [transaction.system.get(row.key.namespace, TABLE, row.key.id) for row in found]
    return [row.value["udfPath"] for row in rows if row is not None]


def test_rows_of_every_component_come_in_the_order_they_are_due() -> None:
    database = database_with(("", "third", 30), ("c1", "first", 10), ("c2", "second", 20))
    assert names(database, APPLICATION) == ["first", "second", "third"]
    assert names(database, APPLICATION, limit=2) == ["first", "second"]


def test_of_rows_due_at_once_the_oldest_comes_first() -> None:
    database = database_with(("c1", "first", 10), ("", "second", 10), ("c1", "third", 10))
    assert names(database, APPLICATION) == ["first", "second", "third"]


def test_rows_that_are_over_are_not_planned() -> None:
    assert names(database_with(("", "over", None), ("", "planned", 10)), APPLICATION) == ["planned"]


def test_a_deployment_without_an_application_has_the_namespace_of_the_app() -> None:
    assert namespaces(None) == [""]
    assert namespaces(APPLICATION) == ["", "c1", "c2"]

from dataclasses import replace
from pathlib import Path

from convex_evals.backend.database import Database
from convex_evals.backend.deployed import (
    AnalyzedFunction,
    AnalyzedModule,
    Application,
    ComponentDefinition,
    ComponentInstance,
    CronSpec,
    HttpRoute,
    Module,
    NodePackage,
    Position,
    UdfConfig,
)
from convex_evals.backend.push.storage import load_application, store_application

COUNTER_ID = "kn7ew8s5xs38hkayfxaxjzbj4n7h1bk0"

APPLICATION = Application(
    version=3,
    udf_config=UdfConfig("1.44.0", b"\x01" * 32, 1_700_000_000_000),
    definitions={
        "": ComponentDefinition(
            path="",
            modules={
                "m.js": Module("m.js", "export {}", '{"version":3}', "isolate"),
                "n.js": Module("n.js", "export default 1", None, "node"),
            },
            analysis={
                "m.js": AnalyzedModule(
                    (AnalyzedFunction("f", "Query", "public", "{}", "null", Position("m.js", 3, 4)),)
                ),
                "http.js": AnalyzedModule(http_routes=(HttpRoute("/hi", "GET"),)),
                "crons.js": AnalyzedModule(
                    cron_specs=(CronSpec("tidy", "m.js:f", "[{}]", {"type": "interval", "seconds": 60}),)
                ),
            },
            schema='{"schemaValidation":true,"tables":[]}',
            metadata={"path": "", "childComponents": [{"name": "counter"}]},
        ),
        "counter": ComponentDefinition("counter", {}, {}, None, {"path": "counter"}),
    },
    instances={
        "": ComponentInstance("", "", "", children={"counter": "counter"}, http_prefix="/api/"),
        "counter": ComponentInstance(
            COUNTER_ID, "counter", "counter", env={"MODE": {"type": "value", "value": "fast"}}, http_prefix="/c/"
        ),
    },
    auth_providers=({"applicationID": "convex", "domain": "https://a.example.com"},),
    node_version="22",
    node_packages=(NodePackage("@aws-sdk/client-s3", "3.1.0"), NodePackage("sharp", "0.34.0")),
)


def store(database: Database, application: Application) -> int:
    transaction = database.begin()
    store_application(transaction, application)
    return len(database.commit(transaction).writes)


def test_before_the_first_push_there_is_nothing() -> None:
    assert load_application(Database.open(None).begin()) is None


def test_a_restart_finds_the_application_again(tmp_path: Path) -> None:
    database = Database.open(tmp_path / "db.sqlite3")
    store(database, APPLICATION)
    database.close()
    database = Database.open(tmp_path / "db.sqlite3")
    assert load_application(database.begin()) == APPLICATION
    database.close()


def test_storing_the_same_again_rewrites_only_the_row_that_every_push_rewrites() -> None:
    database = Database.open(None)
    store(database, APPLICATION)
    assert store(database, replace(APPLICATION, version=4)) == 2  # the old row and the new one


def test_what_a_push_removed_is_gone_but_components_stay() -> None:
    database = Database.open(None)
    store(database, APPLICATION)
    unmounted = replace(APPLICATION.instances["counter"], state="unmounted")
    smaller = replace(
        APPLICATION,
        definitions={"": replace(APPLICATION.definitions[""], modules={})},
        instances={"": APPLICATION.instances[""], "counter": unmounted},
        auth_providers=(),
    )
    store(database, smaller)
    assert load_application(database.begin()) == smaller
    assert database.begin().system.scan("", "_source_packages") == []

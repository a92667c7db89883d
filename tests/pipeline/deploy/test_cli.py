"""Why a project was not deployed, as the CLI or our own deployment tells it."""

from pathlib import Path

import pytest

from convex_evals.backend.push import PushRefusal
from convex_evals.backend.push.facts import SourcePlace
from convex_evals.pipeline.deploy.cli import read_cli_errors, refusal_diagnostic

THROWN = """\
✖ Error: Unable to start push to http://127.0.0.1:{port}
✖ Error fetching POST  http://127.0.0.1:{port}/api/start 400 Bad Request: Error: Hit an error while pushing:
Hit an error while evaluating your schema:
Uncaught TypeError: {variable}.map is not a function
    at ../convex/schema.ts:25:15
"""
CODED = """\
✖ Error fetching POST  http://127.0.0.1:1/api/start 400 Bad Request: IndexFieldsContainCreationTime: Hit an \
error while pushing:
Hit an error while evaluating your schema:
`_creationTime` is automatically added to the end of each index.
"""
BUNDLED = """\
✘ [ERROR] Expected identifier but found ")"

    convex/index.ts:12:27:
      12 │   ctx.db.query("items").).order("desc")
         ╵                         ^

✘ [ERROR] Could not resolve "left-pad" [plugin convex]

    convex/other.ts:1:20:
"""


def test_what_a_module_throws_is_reported_with_its_place() -> None:
    (found,) = read_cli_errors(THROWN.format(port=33917, variable="o"))
    assert found.place == "convex/schema.ts:25"
    assert found.message.startswith("Uncaught TypeError: o.map is not a function")


def test_ports_and_names_that_a_bundler_gives_change_no_fingerprint() -> None:
    first, second = (read_cli_errors(THROWN.format(port=port, variable=name))[0] for port, name in ((1, "o"), (2, "e")))
    assert first.fingerprint == second.fingerprint == "deploy:refused Uncaught TypeError: _.map is not a function"


def test_the_code_of_a_refusal_is_its_name() -> None:
    (found,) = read_cli_errors(CODED)
    assert (found.name, found.fingerprint) == (
        "IndexFieldsContainCreationTime",
        "deploy:IndexFieldsContainCreationTime",
    )
    assert found.message == "`_creationTime` is automatically added to the end of each index."


def test_each_complaint_of_the_bundler_is_one() -> None:
    first, second = read_cli_errors(BUNDLED)
    assert (first.message, first.place) == ('Expected identifier but found ")"', "convex/index.ts:12")
    assert (second.message, second.place) == ('Could not resolve "left-pad"', "convex/other.ts:1")


@pytest.mark.parametrize(
    ("place", "module", "shown"),
    [
        (SourcePlace("convex/schema.ts", 25, 15), "schema.js", "convex/schema.ts:25"),
        (None, "notes/list.js", "convex/notes/list.tsx"),
        (None, "gone.js", "convex/gone.ts"),
        (None, None, ""),
    ],
)
def test_our_own_deployment_says_where_it_found_the_mistake(
    tmp_path: Path, place: SourcePlace | None, module: str | None, shown: str
) -> None:
    (tmp_path / "convex/notes").mkdir(parents=True)
    (tmp_path / "convex/notes/list.tsx").touch()
    found = refusal_diagnostic(
        PushRefusal("InvalidModules", "Uncaught Error: no\n", module, place), tmp_path / "convex"
    )
    assert (found.place, found.message, found.name) == (shown, "Uncaught Error: no", None)
    assert found.fingerprint == "deploy:refused Uncaught Error: no"


@pytest.mark.parametrize("text", ["", "  \n"])
def test_silence_is_not_a_complaint(text: str) -> None:
    assert read_cli_errors(text) == []

import pytest

from convex_evals.backend.push.facts import SourcePlace, Thrown


@pytest.mark.parametrize(
    ("text", "place"),
    [
        (
            "Uncaught TypeError: x\n    at ../node_modules/convex/src/values/validator.ts:9:1\n"
            "    at <anonymous> (../convex/schema.ts:25:15)\n",
            SourcePlace("convex/schema.ts", 25, 15),
        ),
        ("Uncaught Error: no\n    at ../convex/a/b.ts:2:3\n", SourcePlace("convex/a/b.ts", 2, 3)),
        ("Uncaught Error: see convex/a.ts:1:2\n", None),
    ],
)
def test_the_place_of_an_error_is_its_innermost_frame_in_the_project(text: str, place: SourcePlace | None) -> None:
    assert Thrown(text).place == place

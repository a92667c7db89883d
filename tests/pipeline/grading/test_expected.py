"""The tests a grader has are found once per version of it."""

from pathlib import Path

from convex_evals.pipeline.grading.expected import Collection, expected_tests


async def test_names_are_collected_once_per_fingerprint(tmp_path: Path) -> None:
    collected: list[str] = []

    async def collect() -> Collection:
        collected.append("now")
        return Collection(("test_a", "test_b[1]"))

    for fingerprint in ("one", "one", "two"):
        assert (await expected_tests(tmp_path, fingerprint, collect)).names == ("test_a", "test_b[1]")
    assert len(collected) == 2


async def test_a_collection_that_found_nothing_is_tried_again(tmp_path: Path) -> None:
    found = [Collection(()), Collection(("test_a",))]

    async def collect() -> Collection:
        return found.pop(0)

    assert (await expected_tests(tmp_path, "one", collect)).names == ()
    assert (await expected_tests(tmp_path, "one", collect)).names == ("test_a",)

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

import pytest
from hypothesis import given
from hypothesis import strategies as st

from convex_evals.analysis.differences import compare_answers
from convex_evals.analysis.evidence import Evidence
from convex_evals.analysis.isolation import Bound, isolate_cause, locate_cause
from convex_evals.analysis.isolation.isolate import minimise, with_names_of_answer
from convex_evals.analysis.isolation.probes import BoundReached
from convex_evals.core.diagnostics import Diagnostic

MODEL = """\
export const first = query({
  args: { a: v.string() },
  handler: async (ctx, args) => {
    const found = await ctx.db.query("a").iter();
    return found;
  },
});

export const second = query({ args: {}, handler: async () => 1 });

export const third = query({ args: {}, handler: async () => 2 });
"""
EXPECTED = (
    MODEL.replace(".iter()", ".collect()").replace("return found;", "return [...found];").replace("=> 1 }", "=> 10 }")
).replace("=> 2 }", "=> 20 }")


@dataclass
class Graded:
    """Stands in for the pipeline: what passes is decided by the text, and every try is counted."""

    passes: Callable[[str], bool]
    bound: Bound
    tried: list[str] = field(default_factory=list)

    async def __call__(self, files: Mapping[str, str]) -> bool:
        self.bound.check()
        self.bound.tries += 1
        self.tried.append(files["convex/index.ts"])
        return self.passes(files["convex/index.ts"])


def evidence(**known: object) -> Evidence:
    return Evidence(
        failed_step="tests",
        files={"convex/index.ts": MODEL},
        answer={"convex/index.ts": EXPECTED},
        **known,  # type: ignore[arg-type]
    )


async def test_the_one_line_that_matters_is_found() -> None:
    bound = Bound()
    cause = await isolate_cause(evidence(), Graded(lambda text: ".collect()" in text, bound), bound)
    assert (cause.found, cause.minimal) == ("isolated", True)
    assert cause.model_snippet == '// convex/index.ts:4\nconst found = await ctx.db.query("a").iter();\nreturn found;'
    assert ".collect()" in cause.expected_snippet
    assert cause.tries == bound.tries > 0


async def test_of_a_file_that_cannot_be_parsed_only_the_lines_that_make_it_pass_are_shown() -> None:
    one = "export default define({\n  a: %d,\n  same: 0,\n  b: %d,\n  other: 0,\n}) as ((\n"
    bound = Bound()
    evidence = Evidence(
        failed_step="tests", files={"convex/index.ts": one % (1, 2)}, answer={"convex/index.ts": one % (10, 20)}
    )
    cause = await isolate_cause(evidence, Graded(lambda text: "b: 20" in text, bound), bound)
    assert (cause.found, cause.expected_snippet) == ("isolated", "// convex/index.ts\nb: 20,")


async def test_a_file_that_cannot_be_divided_in_time_has_no_isolated_cause() -> None:
    lines = "\n".join(f"  a{number}: %d,\n  same{number}: 0," for number in range(9))
    text = f"export default define({{\n{lines}\n}}) as ((\n"
    files, answer = text % tuple(range(9)), text % tuple(range(10, 19))
    bound = Bound(most_tries=2)
    evidence = Evidence(failed_step="tests", files={"convex/index.ts": files}, answer={"convex/index.ts": answer})
    cause = await isolate_cause(
        evidence, Graded(lambda text: all(f": {n}," in text for n in range(10, 19)), bound), bound
    )
    assert (cause.found, cause.expected_snippet) == ("unknown", "")
    assert cause.note.startswith("The bound was reached with 9 of the differences left")


async def test_two_places_are_found_when_both_are_needed() -> None:
    bound = Bound()
    graded = Graded(lambda text: "=> 10 }" in text and "=> 20 }" in text, bound)
    cause = await isolate_cause(evidence(), graded, bound)
    assert [hunk.name for hunk in cause.hunks] == ["second", "third"]


async def test_what_the_complaint_names_is_tried_first() -> None:
    bound = Bound()
    complaint = Diagnostic("tests", "third is wrong", "test_x", assertion='project.query("index:third")')
    graded = Graded(lambda text: "=> 20 }" in text, bound)
    await isolate_cause(evidence(diagnostics=(complaint,)), graded, bound)
    assert "=> 20 }" in graded.tried[0]
    assert ".iter()" in graded.tried[0]


async def test_reaching_the_bound_is_reported_and_differences_are_shown() -> None:
    bound = Bound(most_tries=1)
    complaint = Diagnostic("tests", "first is wrong", "test_x")
    cause = await isolate_cause(evidence(diagnostics=(complaint,)), Graded(lambda text: False, bound), bound)
    assert cause.found == "located"
    assert cause.note.startswith("No cause was isolated within the bound (1 try")
    assert ".iter()" in cause.model_snippet


async def test_an_eval_whose_reference_fails_is_reported() -> None:
    bound = Bound()
    cause = await isolate_cause(evidence(), Graded(lambda text: False, bound), bound)
    assert "Even with everything taken from the reference" in cause.note


def test_without_probes_the_lines_next_to_the_complaint_are_shown() -> None:
    complaint = Diagnostic("tsc", "Property 'iter' does not exist", "TS2339", "convex/index.ts", 4)
    found = locate_cause(
        Evidence(
            failed_step="tsc",
            files={"convex/index.ts": MODEL},
            answer={"convex/index.ts": EXPECTED},
            diagnostics=(complaint,),
        ),
        "Probes are off.",
    )
    assert found.found == "located"
    assert found.note.startswith("Probes are off.")
    assert found.hunks[0].line == 4


SCHEMA = 'export default defineSchema({ a: defineTable({ b: v.string() }).index("%s", ["b"]) });\n'
QUERY = 'export const q = query(async (ctx) => ctx.db.query("a").withIndex("%s").collect());\n'


def project(index: str) -> dict[str, str]:
    return {"convex/schema.ts": SCHEMA % index, "convex/index.ts": QUERY % index}


def test_an_index_that_covers_the_same_fields_has_the_name_that_the_answer_gave_it() -> None:
    answer, reference = project("byB"), project("by_b")
    assert with_names_of_answer(reference, compare_answers(answer, reference)) == answer


def test_an_index_that_covers_something_else_keeps_its_name() -> None:
    reference = project("by_b")
    answer = {**project("byB"), "convex/schema.ts": (SCHEMA % "byB").replace('["b"]', '["b", "c"]')}
    assert with_names_of_answer(reference, compare_answers(answer, reference)) == reference


@pytest.mark.parametrize("needed", [set(), {0}, {7}, {2, 3}, {0, 9}, {1, 4, 8}, set(range(10))])
async def test_exactly_what_is_needed_is_left(needed: set[int]) -> None:
    async def is_enough(items: Sequence[int]) -> bool:
        return needed <= set(items)

    found = await minimise(range(10), is_enough)
    assert set(found.items) == (needed or set(found.items))
    assert found.complete
    assert len(found.items) == max(len(needed), 1)


@given(st.integers(1, 12), st.data())
async def test_nothing_can_be_left_out_of_what_is_found(size: int, data: st.DataObject) -> None:
    enough = data.draw(st.lists(st.sets(st.integers(0, size - 1), min_size=1), min_size=1, max_size=3))

    async def is_enough(items: Sequence[int]) -> bool:
        return any(group <= set(items) for group in enough)

    found = await minimise(range(size), is_enough)
    assert await is_enough(found.items)
    for item in found.items:
        assert len(found.items) == 1 or not await is_enough([each for each in found.items if each != item])


async def test_when_the_bound_is_reached_what_is_known_to_be_enough_is_kept() -> None:
    tries = 0

    async def is_enough(items: Sequence[int]) -> bool:
        nonlocal tries
        tries += 1
        if tries > 2:
            raise BoundReached
        return {5, 6} <= set(items)

    found = await minimise(range(16), is_enough)
    assert found.items == tuple(range(8))
    assert not found.complete

from convex_evals.analysis.differences import compare_answers
from convex_evals.analysis.isolation.renaming import with_names_of_answer

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

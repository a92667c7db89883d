from collections import Counter

from convex_evals.controls import generate_mutants, select_mutants

INDEX = """\
import { v } from "convex/values";
import { query } from "./_generated/server";

export const latest = query({
  args: { author: v.string() },
  handler: async (ctx, { author }) => {
    return await ctx.db
      .query("notes")
      .withIndex("by_author", (q) => q.eq("author", author))
      .order("desc")
      .take(5);
  },
});
"""
ANSWER = {
    "package.json": '{"name": "notes"}',
    "convex/index.ts": INDEX,
    "convex/auth.config.ts": "export default { a: 1 };\n",
    "convex/index.test.ts": "test('a', () => { expect(1 < 2).toBe(true); });\n",
    "src/App.tsx": "export const App = () => (count > 3 ? <p>{count}</p> : null);\n",
}


def test_a_mutant_differs_from_the_answer_in_one_place_of_one_module() -> None:
    mutants = generate_mutants(ANSWER)
    assert {mutant.path for mutant in mutants} == {"convex/index.ts", "src/App.tsx"}
    for mutant in mutants:
        changed = mutant.applied(ANSWER)
        assert [path for path in ANSWER if changed[path] != ANSWER[path]] == [mutant.path]


def test_no_two_mutants_are_alike() -> None:
    mutants = generate_mutants(ANSWER)
    assert len({(mutant.path, mutant.text) for mutant in mutants}) == len(mutants)
    assert len({mutant.id for mutant in mutants}) == len(mutants)


def test_a_mutant_shows_what_is_different() -> None:
    (flipped,) = [mutant for mutant in generate_mutants(ANSWER) if mutant.operator == "flip-order"]
    assert flipped.difference.line == 10
    assert flipped.difference.lines == ('-      .order("desc")', '+      .order("asc")')


def test_ids_stay_when_something_else_changes() -> None:
    moved = {**ANSWER, "convex/index.ts": f"// A comment.\n\n{INDEX}", "convex/other.ts": "export const x = 1 < y;\n"}
    before, after = generate_mutants(ANSWER), generate_mutants(moved)
    assert {mutant.id for mutant in before} < {mutant.id for mutant in after}


def test_the_same_change_at_two_places_has_two_ids() -> None:
    answer = {"a.ts": "if (a < b) {\n  f();\n}\nif (a < b) {\n  g();\n}\n"}
    shifted = [mutant for mutant in generate_mutants(answer) if mutant.operator == "shift-comparison"]
    assert len({mutant.id for mutant in shifted}) == 2


def test_operators_take_turns_when_not_all_mutants_are_wanted() -> None:
    mutants = generate_mutants(ANSWER)
    operators = {mutant.operator for mutant in mutants}
    chosen = select_mutants(mutants, len(operators))
    assert Counter(mutant.operator for mutant in chosen) == Counter(operators)
    assert select_mutants(mutants, len(operators)) == chosen
    assert select_mutants(mutants, 10_000) == mutants
    assert select_mutants(mutants, 0) == ()

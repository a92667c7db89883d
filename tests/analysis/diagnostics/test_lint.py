from convex_evals.analysis.diagnostics.lint import read_findings, read_mentioned_rules

LOG = """\
$ oxlint --format=json convex
{ "diagnostics": [{"message": "Unexpected any.","code": "typescript(no-explicit-any)","labels": [{"span": {}}]}] }
(exit code 1)
convex/helpers.ts:5:8 @typescript-eslint/no-explicit-any: Unexpected `any`. Specify a different type.
convex/helpers.ts:9:24 @typescript-eslint/no-unsafe-call: Unsafe call of a(n) `any` typed value.
convex/helpers.ts:9:24 @typescript-eslint/no-unsafe-call: Unsafe call of a(n) `any` typed value.
src/App.tsx:3:1 no-undef: 'React' is not defined.
"""


def test_findings_have_rule_and_place_and_count_once() -> None:
    found = read_findings(LOG)
    assert [(each.name, each.place) for each in found] == [
        ("@typescript-eslint/no-explicit-any", "convex/helpers.ts:5"),
        ("@typescript-eslint/no-unsafe-call", "convex/helpers.ts:9"),
        ("no-undef", "src/App.tsx:3"),
    ]


def test_a_rule_is_the_same_mistake_in_every_file() -> None:
    other = LOG.replace("convex/helpers.ts:5:8", "convex/users.ts:77:1")
    assert (
        read_findings(LOG)[0].fingerprint
        == read_findings(other)[0].fingerprint
        == ("lint:@typescript-eslint/no-explicit-any")
    )


def test_rules_that_a_person_names_are_found_by_their_short_names() -> None:
    found = read_mentioned_rules("`no-misused-promises` in a well-known place")
    assert [each.name for each in found] == ["@typescript-eslint/no-misused-promises"]

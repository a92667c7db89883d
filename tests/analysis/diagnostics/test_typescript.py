from convex_evals.analysis.diagnostics.typescript import read_type_errors

OUTPUT = """\
$ tsc --pretty false --project convex
convex/index.ts(11,66): error TS2339: Property 'iter' does not exist on type 'OrderedQuery<{ posts: 1; }>'.
convex/index.ts(53,14): error TS7022: 'total' implicitly has type 'any' because it is referenced in its own initializer.
  The chain of types is long.
error TS18003: No inputs were found in config file.

(exit code 2)
"""


def test_every_error_has_its_code_place_and_complete_message() -> None:
    first, second, third = read_type_errors(OUTPUT)
    assert (first.name, first.place) == ("TS2339", "convex/index.ts:11")
    assert second.message.endswith("The chain of types is long.")
    assert (third.name, third.file, third.line) == ("TS18003", None, None)


def test_the_name_that_is_missing_belongs_to_the_fingerprint_and_other_names_do_not() -> None:
    first, second, _ = read_type_errors(OUTPUT)
    assert first.fingerprint == "type:TS2339 Property 'iter' does not exist on type 'OrderedQuery'."
    assert "total" not in second.fingerprint


def test_an_error_that_two_areas_report_counts_once() -> None:
    assert len(read_type_errors(OUTPUT + OUTPUT)) == 3

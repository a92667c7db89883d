import pytest

from convex_evals.core.fingerprints import LONGEST, normalised


@pytest.mark.parametrize(
    ("first", "second"),
    [
        (
            "storage id kg22v186v05v721wvvr9f71h658jb2zr not found",
            "storage id kg2aaaa6v05v721wvvr9f71h658jb2zz not found",
        ),
        ("[Request ID: 1a857dee35c6a655] Server Error", "[Request ID: 08c421af82305a10] Server Error"),
        ("cannot load ../convex/index.ts:12:3", "cannot load convex/users/all.ts:99:1"),
        ("Unable to reach http://127.0.0.1:33917/api", "Unable to reach http://127.0.0.1:44141/api"),
        ("o.map is not a function\n    at x (a.ts:1:1)", "e.map is not a function"),
        ("read 30 documents", "read 7 documents"),
    ],
)
def test_places_ids_addresses_and_numbers_do_not_matter(first: str, second: str) -> None:
    assert normalised(first) == normalised(second)


def test_different_mistakes_stay_different() -> None:
    assert normalised("v.map is not a function") != normalised("v.tuple is not a function")


def test_it_is_one_line_of_bounded_length() -> None:
    assert len(normalised("word \n" * 1000)) == LONGEST

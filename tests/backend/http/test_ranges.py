import pytest

from convex_evals.backend.http.ranges import ByteRange, UnsatisfiableRange, parse_range


@pytest.mark.parametrize(
    ("header", "expected"),
    [
        (None, None),
        ("bytes=0-3", ByteRange(0, 3)),
        ("Bytes = 2-2", ByteRange(2, 2)),
        ("bytes=4-", ByteRange(4, 9)),
        ("bytes=4-99", ByteRange(4, 9)),
        ("bytes=-3", ByteRange(7, 9)),
        ("bytes=-99", ByteRange(0, 9)),
        ("bytes=9-9", ByteRange(9, 9)),
        ("bytes=5-4", None),
        ("bytes=-", None),
        ("bytes=a-b", None),
        ("bytes=", None),
        ("items=0-3", None),
        ("garbage", None),
    ],
)
def test_one_range_is_cut_to_the_file_and_nonsense_is_ignored(header: str | None, expected: ByteRange | None) -> None:
    assert parse_range(header, 10) == expected


@pytest.mark.parametrize(
    "header", ["bytes=10-", "bytes=10-20", "bytes=99-100", "bytes=-0", "bytes=0-1,3-4", "bytes=1,2"]
)
def test_bytes_that_are_not_there_or_in_several_places_cannot_be_served(header: str) -> None:
    with pytest.raises(UnsatisfiableRange):
        parse_range(header, 10)


def test_all_of_an_empty_file_is_nothing() -> None:
    assert parse_range("bytes=0-3", 0) is None

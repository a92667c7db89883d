import pytest

from convex_evals.backend.values import COMMIT_TS, Value, format_size, nesting_of, size_of

SIZES: list[tuple[Value, int]] = [
    (None, 1),
    (True, 1),
    (5, 9),
    (COMMIT_TS, 9),
    (5.0, 9),
    ("abc", 5),
    ("é😀", 8),
    (b"abc", 5),
    ([], 2),
    ([None, 1.0], 12),
    ({}, 2),
    ({"ab": "x"}, 2 + 2 + 1 + 3),
    ({"_id": "x" * 32, "_creationTime": 1.0}, 2 + 38 + 23),
]


@pytest.mark.parametrize(("value", "size"), SIZES, ids=repr)
def test_a_value_has_the_size_that_limits_count(value: Value, size: int) -> None:
    assert size_of(value) == size


@pytest.mark.parametrize(
    ("value", "nesting"),
    [(1.0, 0), ([], 1), ({}, 1), ([1.0], 1), ({"a": [[]], "b": {}}, 3)],
    ids=repr,
)
def test_nesting_counts_containers_on_the_deepest_path(value: Value, nesting: int) -> None:
    assert nesting_of(value) == nesting


@pytest.mark.parametrize(
    ("size", "text"),
    [
        (0, "0 B"),
        (1023, "1023 B"),
        (1024, "1 KiB"),
        (1536 * 1024, "1.50 MiB"),
        (16 * 2**20, "16 MiB"),
        (int(1.2 * 2**20), "1.20 MiB"),
        (3 * 2**40, "3072 GiB"),
    ],
)
def test_sizes_are_shown_in_binary_units(size: int, text: str) -> None:
    assert format_size(size) == text

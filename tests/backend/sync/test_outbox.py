import pytest

from convex_evals.backend.sync.outbox import cut


@pytest.mark.parametrize(
    ("whole", "size", "pieces"),
    [
        ("abcdef", 6, ["abcdef"]),
        ("abcdefg", 3, ["abc", "def", "g"]),
        ("aé", 2, ["a", "é"]),
        ("😀😀a", 5, ["😀", "😀a"]),
    ],
)
def test_pieces_end_on_characters_and_join_to_the_whole(whole: str, size: int, pieces: list[str]) -> None:
    chunks = cut(whole, size)
    assert [chunk.chunk for chunk in chunks] == pieces
    assert [chunk.part_number for chunk in chunks] == list(range(len(pieces)))
    assert {chunk.total_parts for chunk in chunks} == {len(pieces)}
    assert {chunk.transition_id for chunk in chunks} == {str(len(whole.encode()))}

import pytest

from convex_evals.core.ids import ALPHABET, is_id, new_id, prefix


def test_an_id_has_32_characters_and_is_random_from_the_first() -> None:
    ids = [new_id() for _ in range(2000)]
    assert all(is_id(identifier) for identifier in ids)
    assert {identifier[0] for identifier in ids} == set(ALPHABET)
    assert len({prefix(identifier) for identifier in ids}) == len(ids)


@pytest.mark.parametrize("text", ["", "0" * 31, "0" * 33, "A" * 32, "i" + "0" * 31, "0" * 31 + "u", "0" * 31 + "\n"])
def test_other_texts_are_not_ids(text: str) -> None:
    assert not is_id(text)

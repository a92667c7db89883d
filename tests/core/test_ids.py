import re

from convex_evals.core.ids import ALPHABET, new_id, prefix


def test_an_id_has_32_characters_and_is_random_from_the_first() -> None:
    ids = [new_id() for _ in range(2000)]
    assert all(re.fullmatch("[0-9a-hjkmnp-tv-z]{32}", identifier) for identifier in ids)
    assert {identifier[0] for identifier in ids} == set(ALPHABET)
    assert len({prefix(identifier) for identifier in ids}) == len(ids)

import pytest
from hypothesis import strategies as st

from convex_evals.backend.values import INT64_MAX, INT64_MIN, Value

FIELD_NAMES = st.from_regex(r"[ -#%-~][ -~]{0,5}", fullmatch=True)
SCALARS = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(INT64_MIN, INT64_MAX),
    st.floats(),
    st.text(st.characters(codec="utf-8"), max_size=8),
    st.binary(max_size=8),
)


@pytest.fixture(scope="session")
def values() -> st.SearchStrategy[Value]:
    """Any Convex value, not too large."""
    return st.recursive(
        SCALARS,
        lambda children: st.lists(children, max_size=4) | st.dictionaries(FIELD_NAMES, children, max_size=4),
        max_leaves=12,
    )

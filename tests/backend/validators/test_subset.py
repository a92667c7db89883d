import pytest

from convex_evals.backend.validators import (
    ANY,
    BIGINT,
    BOOLEAN,
    COMMIT_TIMESTAMP,
    NULL,
    NUMBER,
    STRING,
    ArrayValidator,
    Field,
    IdValidator,
    LiteralValidator,
    ObjectValidator,
    RecordValidator,
    UnionValidator,
    Validator,
    is_subset,
)

USERS, POSTS = IdValidator("users"), IdValidator("posts")
A, B = LiteralValidator("a"), LiteralValidator("b")
REQUIRED = ObjectValidator({"a": Field(STRING)})
OPTIONAL = ObjectValidator({"a": Field(STRING, optional=True)})
NARROW = ObjectValidator({"a": Field(A)})
MORE = ObjectValidator({"a": Field(STRING), "b": Field(NULL, optional=True)})
EMPTY = ObjectValidator({})

SUBSETS: list[tuple[Validator, Validator]] = [
    (STRING, STRING),
    (STRING, ANY),
    (A, STRING),
    (USERS, STRING),
    (LiteralValidator(1.0), NUMBER),
    (LiteralValidator(True), BOOLEAN),
    (BIGINT, COMMIT_TIMESTAMP),
    (A, UnionValidator((A, B))),
    (UnionValidator((A, B)), STRING),
    (UnionValidator((A, B)), UnionValidator((NULL, STRING))),
    (UnionValidator(()), STRING),
    (ArrayValidator(A), ArrayValidator(STRING)),
    (RecordValidator(USERS, A), RecordValidator(STRING, STRING)),
    (NARROW, REQUIRED),
    (REQUIRED, OPTIONAL),
    (REQUIRED, MORE),
    (EMPTY, OPTIONAL),
    (MORE, RecordValidator(STRING, UnionValidator((STRING, NULL)))),
]

OTHERS: list[tuple[Validator, Validator]] = [
    (ANY, STRING),
    (STRING, A),
    (STRING, USERS),
    (USERS, POSTS),
    (NUMBER, BIGINT),
    (LiteralValidator(1), NUMBER),
    (LiteralValidator(True), BIGINT),
    (A, UnionValidator(())),
    (UnionValidator((STRING, NULL)), STRING),
    (ArrayValidator(STRING), ArrayValidator(A)),
    (OPTIONAL, REQUIRED),
    (MORE, REQUIRED),
    (EMPTY, REQUIRED),
    (REQUIRED, NARROW),
    (REQUIRED, RecordValidator(USERS, STRING)),
    (RecordValidator(STRING, STRING), OPTIONAL),
]


@pytest.mark.parametrize(("a", "b"), SUBSETS, ids=str)
def test_the_first_accepts_nothing_the_second_refuses(a: Validator, b: Validator) -> None:
    assert is_subset(a, b)


@pytest.mark.parametrize(("a", "b"), OTHERS, ids=str)
def test_the_first_may_accept_what_the_second_refuses(a: Validator, b: Validator) -> None:
    assert not is_subset(a, b)

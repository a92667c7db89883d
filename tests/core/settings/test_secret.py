import copy
import json
import logging
import pickle
import pprint
from dataclasses import asdict, dataclass

import orjson
import pytest

from convex_evals.core.settings import Secret

TEXT = "sk-very-secret-0123456789"


@dataclass(frozen=True)
class Holder:
    name: str
    key: Secret


def shown_in_all_ways(value: object) -> list[str]:
    return [
        str(value),
        repr(value),
        f"{value} {value!r} {value!s}",
        f"{value:>40}" if isinstance(value, Secret) else "",
        pprint.pformat(value),
        json.dumps(value, default=str),
        repr([value]),
        repr({"key": value}),
        str(ValueError(value)),
    ]


@pytest.mark.parametrize("value", [Secret(TEXT), Holder("openai", Secret(TEXT))], ids=["alone", "in a dataclass"])
def test_a_secret_never_shows_in_text(value: object, caplog: pytest.LogCaptureFixture) -> None:
    logging.getLogger("convex_evals").error("settings: %s %r", value, value)
    for text in [*shown_in_all_ways(value), caplog.text]:
        assert TEXT not in text


def test_only_reveal_gives_the_text() -> None:
    secret = Secret(TEXT)
    assert secret.reveal() == TEXT
    with pytest.raises(TypeError):
        vars(secret)


@pytest.mark.parametrize("protocol", range(pickle.HIGHEST_PROTOCOL + 1))
def test_a_secret_cannot_be_pickled(protocol: int) -> None:
    with pytest.raises(TypeError, match="cannot be pickled") as caught:
        pickle.dumps(Holder("openai", Secret(TEXT)), protocol)
    assert TEXT not in str(caught.value)


@pytest.mark.parametrize("dumps", [json.dumps, orjson.dumps])
def test_a_secret_cannot_become_json(dumps: object) -> None:
    assert callable(dumps)
    with pytest.raises(TypeError) as caught:
        dumps(asdict(Holder("openai", Secret(TEXT))))
    assert TEXT not in str(caught.value)


def test_copies_are_the_secret_itself() -> None:
    secret = Secret(TEXT)
    assert copy.copy(secret) is secret
    assert copy.deepcopy([secret])[0] is secret


def test_secrets_compare_by_their_text() -> None:
    assert Secret("a") == Secret("a")
    assert hash(Secret("a")) == hash(Secret("a"))
    assert Secret("a") != Secret("b")
    assert Secret("a") != "a"

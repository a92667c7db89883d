import pytest

from convex_evals.backend.errors import RequestError
from convex_evals.backend.storage import UploadTokens


class Clock:
    def __init__(self) -> None:
        self.now = 1_800_000_000.0

    def __call__(self) -> float:
        return self.now


def refusal(tokens: UploadTokens, token: str) -> RequestError:
    with pytest.raises(RequestError) as refused:
        tokens.component_of(token)
    return refused.value


@pytest.mark.parametrize("component", ["", "n57abc"])
def test_a_token_carries_its_component_and_can_be_used_again(component: str) -> None:
    tokens = UploadTokens("secret")
    token = tokens.issue(component)
    assert [tokens.component_of(token), tokens.component_of(token)] == [component, component]


def test_a_token_outlives_a_restart_with_the_same_secret() -> None:
    assert UploadTokens("secret").component_of(UploadTokens("secret").issue("c")) == "c"


def test_a_token_expires_after_an_hour() -> None:
    clock = Clock()
    tokens = UploadTokens("secret", clock)
    token = tokens.issue("")
    clock.now += 3599
    assert tokens.component_of(token) == ""
    clock.now += 1
    error = refusal(tokens, token)
    assert (error.status, error.code) == (401, "StorageTokenExpired")
    assert error.message == "Store File Authorization expired"


def test_anything_else_is_undecodable() -> None:
    tokens = UploadTokens("secret")
    token = tokens.issue("")
    changed = token[:50] + ("A" if token[50] != "A" else "B") + token[51:]
    for text in ["", "garbage", "é", "a" * 200, token[:-4], changed, UploadTokens("other").issue("")]:
        error = refusal(tokens, text)
        assert (error.status, error.code) == (401, "StorageTokenInvalid")
        assert error.message == "Couldn't decode the StoreFileAuthorization token"

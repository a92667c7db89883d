from pathlib import Path
from typing import Any

import pytest

from convex_evals.core.errors import UsageError
from convex_evals.core.settings import Settings, read_settings

FILE = """
[scores.production]
url = "https://scores.example.com/"

[scores.development]
url = "http://localhost:8484"
"""


def settings(folder: Path, text: str = FILE, **environment: str) -> Settings:
    (folder / "convex-evals.toml").write_text(text)
    return read_settings(environment={"HOME": str(folder), **environment}, cwd=folder)


def token(found: Any) -> str | None:
    return None if found is None or found.token is None else found.token.reveal()


def test_services_have_names(tmp_path: Path) -> None:
    found = settings(tmp_path).destination("production")
    assert found is not None
    assert found.shown == "production (https://scores.example.com)"
    assert settings(tmp_path).destination("https://scores.example.com") == found


def test_nothing_is_sent_anywhere_unless_someone_says_so(tmp_path: Path) -> None:
    assert settings(tmp_path).destination() is None
    assert settings(tmp_path, CONVEX_EVAL_URL="https://scores.example.com").destination("local") is None


def test_the_legacy_variable_names_a_service(tmp_path: Path) -> None:
    known = settings(tmp_path, CONVEX_EVAL_URL="https://scores.example.com").destination()
    assert known is not None and known.name == "production"
    other = settings(tmp_path, CONVEX_EVAL_URL="https://other.example.com", CONVEX_AUTH_TOKEN="abc").destination()
    assert other is not None
    assert (other.shown, token(other)) == ("https://other.example.com", "abc")


def test_each_service_has_a_token_of_its_own_or_the_common_one(tmp_path: Path) -> None:
    found = settings(tmp_path, CONVEX_AUTH_TOKEN="common", CONVEX_AUTH_TOKEN_PRODUCTION="own")
    assert token(found.destination("production")) == "own"
    assert token(found.destination("development")) == "common"
    assert token(found.without_secrets().destination("production")) is None
    assert "own" not in repr(found)


@pytest.mark.parametrize("to", ["staging", "ftp://example.com", "http://user:pass@example.com", "http://"])
def test_an_unknown_service_is_named_with_those_that_are_known(tmp_path: Path, to: str) -> None:
    with pytest.raises(UsageError, match="known are production, development"):
        settings(tmp_path).destination(to)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[scores.production]\n", "needs 'url'"),
        ('[scores.production]\nurl = "scores"\n', "needs a URL such as"),
        ('[scores.local]\nurl = "http://localhost"\n', "a name other than 'local'"),
        ('[scores.production]\nurl = "http://localhost"\ntoken = "x"\n', "unknown key 'token'"),
        ('scores = "x"\n', "must be a table"),
    ],
)
def test_a_mistake_in_the_file_is_one_sentence(tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises(UsageError, match=message):
        settings(tmp_path, text)


def test_a_token_is_only_for_the_origin_of_its_service(tmp_path: Path) -> None:
    (tmp_path / "convex-evals.toml").write_text('[scores.production]\nurl = "https://scores.example.com/team"\n')
    variables = {
        "HOME": str(tmp_path),
        "CONVEX_EVAL_URL": "http://127.0.0.1:8484",
        "CONVEX_AUTH_TOKEN": "usual",
        "CONVEX_AUTH_TOKEN_PRODUCTION": "own",
    }
    found = read_settings(environment=variables, cwd=tmp_path)
    sent = {
        url: token.reveal() if (token := found.token_for(url)) else None
        for url in (
            "https://scores.example.com:443",
            "http://127.0.0.1:8484/",
            "http://scores.example.com",
            "https://scores.example.com.evil.example",
            "http://127.0.0.1:8485",
        )
    }
    assert list(sent.values()) == ["own", "usual", None, None, None]

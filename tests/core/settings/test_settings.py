import pickle
import stat
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from convex_evals.core.errors import SettingsError, UsageError
from convex_evals.core.settings import Secret, Settings, read_settings


def read(folder: Path, environment: dict[str, str] | None = None, **overrides: str | None) -> Settings:
    return read_settings(overrides, environment={"HOME": str(folder), **(environment or {})}, cwd=folder)


def test_without_any_variable_the_defaults_hold(tmp_path: Path) -> None:
    assert read(tmp_path) == Settings(
        home=tmp_path, cache_folder=tmp_path / ".cache/convex-evals", search_path="/bin:/usr/bin"
    )


def test_options_win_over_the_environment_which_wins_over_the_env_file(tmp_path: Path) -> None:
    (tmp_path / ".env").write_text("MODELS=file\nTEST_FILTER=file\nEVALS_EXPERIMENT=file\n")
    settings = read(tmp_path, {"MODELS": "environment", "TEST_FILTER": "environment"}, MODELS="option", PATH=None)
    assert settings.models == ("option",)
    assert settings.test_filter == "environment"
    assert settings.experiment == "file"
    assert settings.env_file == tmp_path / ".env"


def test_legacy_variables_keep_working(tmp_path: Path) -> None:
    settings = read(
        tmp_path,
        {
            "MODELS": "gpt-5, claude-opus-4 ,,gpt-5",
            "TEST_FILTER": "^00[12]-.*/.*index",
            "EVALS_EXPERIMENT": "no_guidelines",
            "OUTPUT_TEMPDIR": "~/out",
            "CONVEX_EVAL_URL": "https://scores.example.com/",
            "CONVEX_AUTH_TOKEN": "token",
        },
    )
    assert settings.models == ("gpt-5", "claude-opus-4")
    assert settings.test_filter == "^00[12]-.*/.*index"
    assert settings.experiment == "no_guidelines"
    assert settings.output_folder == tmp_path / "out"
    assert settings.scores_url == "https://scores.example.com"
    assert settings.scores_token == Secret("token")


def test_an_empty_variable_is_the_same_as_none(tmp_path: Path) -> None:
    (tmp_path / ".env").write_text("OPENAI_API_KEY=from-file\n")
    settings = read(tmp_path, {"MODELS": " ", "OPENAI_API_KEY": "", "CONVEX_EVAL_URL": ""})
    assert settings.models == ()
    assert settings.scores_url is None
    assert settings.provider_key("openai") == Secret("from-file")


def test_provider_keys_are_known_by_provider(tmp_path: Path) -> None:
    settings = read(tmp_path, {"GEMINI_API_KEY": "gemini", "OPENROUTER_API_KEY": "router", "UNRELATED_API_KEY": "x"})
    assert [(key.provider, key.variable) for key in settings.provider_keys] == [
        ("google", "GEMINI_API_KEY"),
        ("openrouter", "OPENROUTER_API_KEY"),
    ]
    assert settings.provider_key("google") == Secret("gemini")
    assert settings.provider_key("openai") is None


def test_a_provider_of_the_user_has_a_key_by_its_name(tmp_path: Path) -> None:
    settings = read(tmp_path, {"MY_BOX_API_KEY": "mine", "lower_API_KEY": "x", "_API_KEY": "x", "OPENAI_API_KEY": "y"})
    assert settings.provider_key("my-box") == settings.provider_key("my_box") == Secret("mine")
    assert settings.provider_key("lower") is None
    assert [key.variable for key in settings.other_keys] == ["MY_BOX_API_KEY"]
    assert settings.without_secrets().provider_key("my-box") is None
    assert "mine" not in repr(settings)


def test_the_first_variable_of_a_provider_wins(tmp_path: Path) -> None:
    settings = read(tmp_path, {"GEMINI_API_KEY": "second", "GOOGLE_API_KEY": "first"})
    assert settings.provider_key("google") == Secret("first")


@pytest.mark.parametrize(
    ("environment", "folder"),
    [
        ({"CONVEX_EVALS_CACHE": "/var/cache/evals", "XDG_CACHE_HOME": "/xdg"}, "/var/cache/evals"),
        ({"CONVEX_EVALS_CACHE": "relative"}, "{cwd}/relative"),
        ({"CONVEX_EVALS_CACHE": "~/mine"}, "{cwd}/mine"),
        ({"XDG_CACHE_HOME": "/xdg"}, "/xdg/convex-evals"),
        ({"XDG_CACHE_HOME": "relative"}, "{cwd}/.cache/convex-evals"),
    ],
)
def test_the_cache_folder(tmp_path: Path, environment: dict[str, str], folder: str) -> None:
    assert read(tmp_path, environment).cache_folder == Path(folder.format(cwd=tmp_path))


def test_node_may_be_named_or_taken_from_the_system(tmp_path: Path) -> None:
    node = tmp_path / "bin/node"
    node.parent.mkdir()
    node.write_text("#!/bin/sh\n")
    node.chmod(node.stat().st_mode | stat.S_IXUSR)
    assert read(tmp_path, {"CONVEX_EVALS_NODE": "bin/node"}).node == node
    assert read(tmp_path, {"CONVEX_EVALS_NODE": "system", "PATH": str(node.parent)}).node == node


def test_network_variables_reach_package_clients_but_no_text(tmp_path: Path) -> None:
    environment = {
        "HTTPS_PROXY": "http://user:password@proxy:8080",
        "no_proxy": "localhost",
        "NODE_EXTRA_CA_CERTS": "/ca.pem",
        "npm_config_cafile": "/ca.pem",
        "NPM_CONFIG_PROXY": "http://proxy",
        "PIP_INDEX_URL": "https://user:password@mirror/simple",
    }
    settings = read(tmp_path, {**environment, "OPENAI_API_KEY": "sk-key", "LD_PRELOAD": "evil.so"})
    assert settings.network_environment() == environment
    assert "password" not in repr(settings)
    assert "sk-key" not in repr(settings)


def test_settings_without_secrets_can_be_sent_to_another_process(tmp_path: Path) -> None:
    settings = read(tmp_path, {"OPENAI_API_KEY": "sk-key", "CONVEX_AUTH_TOKEN": "t", "HTTPS_PROXY": "http://p"})
    with pytest.raises(TypeError, match="without_secrets"):
        pickle.dumps(settings)
    sent = pickle.dumps(settings.without_secrets())
    assert b"sk-key" not in sent
    assert pickle.loads(sent) == settings.without_secrets()


@pytest.mark.parametrize(
    ("variable", "value", "message"),
    [
        ("TEST_FILTER", "(", "TEST_FILTER (environment) must be a regular expression, but '(' is not"),
        ("CONVEX_EVAL_URL", "scores", "must be a URL such as https://scores.example.com, but it is 'scores'"),
        ("CONVEX_EVAL_URL", "ftp://x", "must be a URL"),
        ("CONVEX_EVAL_URL", "https://me:secret@host", "but it is one with a user or a password in it (not shown)"),
        ("CONVEX_EVAL_URL", "http://", "must be a URL"),
        ("CONVEX_EVAL_URL", "http://host:99999", "must be a URL"),
        ("OPENAI_API_KEY", "sk secret", "OPENAI_API_KEY (environment) must be one word"),
        ("OPENAI_API_KEY", "sk-secret…", "OPENAI_API_KEY (environment) must be one word"),
        ("CONVEX_AUTH_TOKEN", "secret\nsecret", "CONVEX_AUTH_TOKEN (environment) must be one word"),
        ("CONVEX_EVALS_NODE", "/no/such/node", "must name an executable program, but '/no/such/node' is not one"),
        ("CONVEX_EVALS_NODE", "system", "there is no node on PATH"),
        ("CONVEX_EVALS_CACHE", "taken", "must name a folder"),
        ("OUTPUT_TEMPDIR", "taken", "must name a folder"),
    ],
)
def test_a_bad_value_is_one_sentence_without_secrets(tmp_path: Path, variable: str, value: str, message: str) -> None:
    (tmp_path / "taken").write_text("")
    with pytest.raises(SettingsError) as caught:
        read(tmp_path, {variable: value, "PATH": str(tmp_path)})
    assert message in str(caught.value)
    assert "secret" not in str(caught.value)
    assert "\n" not in str(caught.value)


def test_an_error_names_the_file_that_set_the_value(tmp_path: Path) -> None:
    (tmp_path / ".env").write_text("TEST_FILTER=[\n")
    with pytest.raises(SettingsError, match=r"TEST_FILTER \(.*/\.env\) must be a regular expression"):
        read(tmp_path)
    with pytest.raises(SettingsError, match=r"TEST_FILTER \(option\) must be"):
        read(tmp_path, TEST_FILTER="(")


def test_by_default_the_environment_and_folder_of_this_process_are_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("EVALS_EXPERIMENT", "here")
    (tmp_path / ".env").write_text("MODELS=a\n")
    assert (read_settings().experiment, read_settings().models) == ("here", ("a",))


def test_importing_the_settings_loads_nothing_heavy() -> None:
    heavy = ["pydantic", "dotenv", "asyncio", "httpx2", "ssl", "json", "rich", "typer"]
    source = f"import sys, convex_evals.core.settings; print([name for name in {heavy} if name in sys.modules])"
    printed = subprocess.run([sys.executable, "-c", source], check=True, capture_output=True, text=True).stdout
    assert printed == "[]\n"


FILE = """
[scores.production]
url = "https://scores.example.com/"

[scores.development]
url = "http://localhost:8484"
"""


def with_services(folder: Path, text: str = FILE, **environment: str) -> Settings:
    (folder / "convex-evals.toml").write_text(text)
    return read_settings(environment={"HOME": str(folder), **environment}, cwd=folder)


def token(found: Any) -> str | None:
    return None if found is None or found.token is None else found.token.reveal()


def test_services_have_names(tmp_path: Path) -> None:
    found = with_services(tmp_path).destination("production")
    assert found is not None
    assert found.shown == "production (https://scores.example.com)"
    assert with_services(tmp_path).destination("https://scores.example.com") == found


def test_nothing_is_sent_anywhere_unless_someone_says_so(tmp_path: Path) -> None:
    assert with_services(tmp_path).destination() is None
    assert with_services(tmp_path, CONVEX_EVAL_URL="https://scores.example.com").destination("local") is None


def test_the_legacy_variable_names_a_service(tmp_path: Path) -> None:
    known = with_services(tmp_path, CONVEX_EVAL_URL="https://scores.example.com").destination()
    assert known is not None and known.name == "production"
    other = with_services(tmp_path, CONVEX_EVAL_URL="https://other.example.com", CONVEX_AUTH_TOKEN="abc").destination()
    assert other is not None
    assert (other.shown, token(other)) == ("https://other.example.com", "abc")


def test_each_service_has_a_token_of_its_own_or_the_common_one(tmp_path: Path) -> None:
    found = with_services(tmp_path, CONVEX_AUTH_TOKEN="common", CONVEX_AUTH_TOKEN_PRODUCTION="own")
    assert token(found.destination("production")) == "own"
    assert token(found.destination("development")) == "common"
    assert token(found.without_secrets().destination("production")) is None
    assert "own" not in repr(found)


@pytest.mark.parametrize("to", ["staging", "ftp://example.com", "http://user:pass@example.com", "http://"])
def test_an_unknown_service_is_named_with_those_that_are_known(tmp_path: Path, to: str) -> None:
    with pytest.raises(UsageError, match="known are production, development") as caught:
        with_services(tmp_path).destination(to)
    assert ":pass" not in str(caught.value)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[scores.production]\n", "needs 'url'"),
        ('[scores.production]\nurl = "scores"\n', "needs a URL such as"),
        ('[scores.production]\nurl = "https://me:pass@host"\n', r"a password in it \(not shown\)"),
        ('[scores.local]\nurl = "http://localhost"\n', "a name other than 'local'"),
        ('[scores.production]\nurl = "http://localhost"\ntoken = "x"\n', "unknown key 'token'"),
        ('scores = "x"\n', "must be a table"),
    ],
)
def test_a_mistake_in_the_file_is_one_sentence(tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises(UsageError, match=message):
        with_services(tmp_path, text)


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

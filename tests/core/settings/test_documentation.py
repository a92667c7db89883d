from pathlib import Path

from convex_evals.core.settings import PROVIDER_VARIABLES, Settings

PAGE = (Path(__file__).parents[3] / "docs/settings.md").read_text()


def test_every_provider_variable_is_documented() -> None:
    for provider, variables in PROVIDER_VARIABLES.items():
        assert f"| {provider} | {', '.join(f'`{variable}`' for variable in variables)} |" in PAGE


def test_every_setting_is_documented() -> None:
    derived = {"home", "search_path", "env_file"}
    assert [field for field in Settings.__dataclass_fields__ if field not in derived and f"`{field}`" not in PAGE] == []

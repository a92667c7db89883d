"""The pinned rules, for both linters."""

import json
from pathlib import Path

import pytest

from convex_evals.core.processes import base_environment, run
from convex_evals.pipeline.lint.rules import eslint_name, oxlint_config, rules_for
from convex_evals.pipeline.tools import Tools

TASTE = ("prefer-const", "no-unused-vars", "explicit-function-return-type", "require-await", "no-var", "no-console")


@pytest.mark.parametrize("area", ["convex", "src"])
def test_matters_of_taste_are_not_linted(area: str) -> None:
    names = {name.rpartition("/")[2] for name in rules_for(area)}
    assert names.isdisjoint(TASTE)


@pytest.mark.parametrize("area", ["convex", "src"])
async def test_oxlint_knows_every_rule(tools: Tools, tmp_path: Path, area: str) -> None:
    config = oxlint_config(area)
    path = tmp_path / "oxlint.json"
    path.write_text(json.dumps(config))
    command = [*tools.toolchain.node_command("oxlint"), "--type-aware", f"--config={path}", "--print-config"]
    environment = {**base_environment(tmp_path), "OXLINT_TSGOLINT_PATH": str(tools.toolchain.binary("tsgolint"))}
    result = await run(command, cwd=tmp_path, timeout=60, environment=environment)
    assert result.ok, result.output.text
    rules = config["rules"]
    assert isinstance(rules, dict)
    assert len(json.loads(result.output.read())["rules"]) == len(rules)


@pytest.mark.parametrize(
    ("code", "name"),
    [
        ("typescript(no-explicit-any)", "@typescript-eslint/no-explicit-any"),
        ("typescript-eslint(no-floating-promises)", "@typescript-eslint/no-floating-promises"),
        ("eslint(no-unused-expressions)", "@typescript-eslint/no-unused-expressions"),
        ("eslint(no-debugger)", "no-debugger"),
        ("eslint-plugin-react-hooks(rules-of-hooks)", "react-hooks/rules-of-hooks"),
        ("", "syntax"),
        ("typescript(tsconfig-error)", "typescript(tsconfig-error)"),
    ],
)
def test_findings_have_the_names_that_eslint_users_know(code: str, name: str) -> None:
    assert eslint_name(code) == name

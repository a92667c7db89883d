from datetime import timedelta
from pathlib import Path

import pytest

from convex_evals.core.errors import UsageError
from convex_evals.schedule import ModelRule, Rules, read_rules


def written(folder: Path, text: str) -> Path:
    path = folder / "convex-evals.toml"
    path.write_text(text)
    return path


def test_without_a_file_or_a_section_the_defaults_hold(tmp_path: Path) -> None:
    assert read_rules(None) == Rules()
    assert read_rules(written(tmp_path, "[scores.production]\nurl = 'https://scores.example.com'")) == Rules()


def test_every_rule_is_read(tmp_path: Path) -> None:
    text = """
    [schedule]
    models = ["openai/*", "google/*"]
    skip = ["google/old"]
    experiments = ["default", "no_guidelines"]
    every = "2w"
    cool_down = "12h"
    runs_per_tick = 1
    budget_per_tick = 7.5
    budget_per_month = 0
    assumed_cost = 2
    [[schedule.rule]]
    models = ["openai/gpt-4*"]
    every = "30d"
    """
    assert read_rules(written(tmp_path, text)) == Rules(
        models=("openai/*", "google/*"),
        skip=("google/old",),
        experiments=("default", "no_guidelines"),
        every=timedelta(days=14),
        cool_down=timedelta(hours=12),
        runs_per_tick=1,
        budget_per_tick=7.5,
        budget_per_month=0.0,
        assumed_cost=2.0,
        exceptions=(ModelRule(("openai/gpt-4*",), timedelta(days=30)),),
    )


def test_models_can_be_chosen_and_left_out() -> None:
    rules = Rules(models=("openai/*",), skip=("*/old",))
    assert [rules.includes(model) for model in ("openai/new", "openai/old", "google/new")] == [True, False, False]


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("every = 'weekly'", "has every = 'weekly', which must be hours, days or weeks, as in 12h, 7d or 2w."),
        ("every = '0d'", "must be hours, days or weeks"),
        ("budget_per_tick = -1", "has budget_per_tick = -1, which must be a number that is not negative."),
        ("budget = 3", "has the unknown key 'budget'"),
        ("[[schedule.rule]]\nevery = '1d'", "needs 'models'"),
    ],
)
def test_a_mistake_is_one_sentence_that_names_the_place(tmp_path: Path, text: str, complaint: str) -> None:
    with pytest.raises(UsageError) as error:
        read_rules(written(tmp_path, f"[schedule]\n{text}"))
    assert complaint in str(error.value) and "convex-evals.toml" in str(error.value)

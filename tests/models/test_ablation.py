from pathlib import Path

import pytest

from convex_evals.core.errors import UsageError
from convex_evals.models.ablation import plan_variants
from convex_evals.models.experiments import find_experiment

GUIDE = "# Guide\n\n## One\n\nFirst.\n\n## Two words\n\nSecond, which is longer.\n"


@pytest.fixture
def guide(tmp_path: Path) -> Path:
    (tmp_path / "guide.md").write_text(GUIDE)
    return tmp_path / "guide.md"


def test_every_section_is_left_out_once_and_then_all_of_them(guide: Path) -> None:
    variants = plan_variants(find_experiment("default").with_guidelines(guide))
    assert [(each.kind, each.section, each.experiment.name) for each in variants] == [
        ("all", None, "guidelines_guide"),
        ("without", "One", "guidelines_guide_without_one"),
        ("without", "Two words", "guidelines_guide_without_two_words"),
        ("none", None, "guidelines_guide_without_guidelines"),
    ]
    texts = [each.experiment.read_guidelines() for each in variants]
    assert [each.text if each else None for each in texts] == [
        GUIDE,
        "# Guide\n\n## Two words\n\nSecond, which is longer.\n",
        "# Guide\n\n## One\n\nFirst.\n\n",
        None,
    ]


def test_the_length_of_what_is_left_out_is_known(guide: Path) -> None:
    variants = plan_variants(find_experiment("default").with_guidelines(guide))
    assert [each.tokens for each in variants] == [0, 4, 10, 16]


def test_some_sections_can_be_chosen(guide: Path) -> None:
    variants = plan_variants(find_experiment("default").with_guidelines(guide), ["Two words", "Two words"])
    assert [each.section for each in variants] == [None, "Two words", None]


@pytest.mark.parametrize(
    ("experiment", "text", "sections", "complaint"),
    [
        ("no_guidelines", None, [], "The experiment no_guidelines has no guidelines"),
        ("default", GUIDE, ["Three"], "has no section 'Three'; it has: One, Two words"),
        ("default", "Just be good.\n", [], "has no sections; they begin with an h2 heading"),
    ],
)
def test_what_cannot_be_left_out_is_one_sentence(
    guide: Path, experiment: str, text: str | None, sections: list[str], complaint: str
) -> None:
    chosen = find_experiment(experiment)
    if text is not None:
        guide.write_text(text)
        chosen = chosen.with_guidelines(guide)
    with pytest.raises(UsageError, match=complaint):
        plan_variants(chosen, sections)

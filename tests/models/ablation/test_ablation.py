from pathlib import Path

import pytest

from convex_evals.core.errors import UsageError
from convex_evals.models.ablation import Change, paired_change, plan_variants
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


def rates(**values: float) -> dict[str, float]:
    return values


@pytest.mark.parametrize(
    ("before", "after", "change"),
    [
        (rates(a=1, b=1), rates(a=1, b=1), Change(0, 0, 0, 2)),
        (rates(a=1, b=1), rates(a=0, b=0), Change(-1, -1, -1, 2)),
        (rates(a=0.5), rates(a=1), Change(0.5, 0.5, 0.5, 1)),
        (rates(a=1, b=0, c=1), rates(c=0, d=1), Change(-1, -1, -1, 1)),
        (rates(a=1), rates(b=1), None),
        (rates(), rates(), None),
    ],
)
def test_a_change_is_the_mean_over_the_evals_of_both(
    before: dict[str, float], after: dict[str, float], change: Change | None
) -> None:
    assert paired_change(before, after) == change


def test_an_interval_holds_the_mean_narrows_with_more_evals_and_is_always_the_same() -> None:
    widths = []
    for count in (8, 32, 128):
        before = {f"e{number}": 1.0 for number in range(count)}
        after = {f"e{number}": float(number % 4 != 0) for number in range(count)}
        change = paired_change(before, after)
        assert change is not None and change == paired_change(after=after, before=before)
        assert change.mean == -0.25
        assert change.low < change.mean < change.high <= 0
        # The standard error of a share of a quarter, 1.96 times to both sides.
        assert change.high - change.low == pytest.approx(2 * 1.96 * (0.25 * 0.75 / count) ** 0.5, rel=0.25)
        widths.append(change.high - change.low)
    assert widths == sorted(widths, reverse=True)


@pytest.mark.parametrize(("low", "high", "certain"), [(-0.2, -0.1, True), (0.1, 0.2, True), (-0.1, 0, False)])
def test_a_change_is_certain_when_its_interval_is_on_one_side(low: float, high: float, certain: bool) -> None:
    assert Change((low + high) / 2, low, high, 9).is_certain is certain

from pathlib import Path

import pytest

from convex_evals.core.errors import UsageError
from convex_evals.models import AskOptions
from convex_evals.models.experiments import Experiment, find_experiment, load_experiments, plan_variants
from convex_evals.models.prompt import built_in_guidelines

OURS = ["default", "no_guidelines", "agents_md", "web_search", "web_search_no_guidelines"]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "rules.md").write_text("# Rules\n\n## One\n\nBe brief.\n")
    return tmp_path


def test_everyone_has_the_same_experiments_each_with_a_description(folder: Path) -> None:
    experiments = load_experiments(folder)
    assert list(experiments) == OURS
    assert all(experiment.description for experiment in experiments.values())


@pytest.mark.parametrize(
    ("name", "has_guidelines", "delivery", "web_search"),
    [
        ("default", True, "prompt", False),
        ("no_guidelines", False, "prompt", False),
        ("agents_md", True, "agents_md", False),
        ("web_search", True, "prompt", True),
        ("web_search_no_guidelines", False, "prompt", True),
    ],
)
def test_what_an_experiment_sets(
    folder: Path, name: str, has_guidelines: bool, delivery: str, web_search: bool
) -> None:
    settings = find_experiment(name, folder).prompt_settings(["convex/**"])
    assert settings.guidelines == (built_in_guidelines() if has_guidelines else None)
    assert (settings.delivery, settings.web_search) == (delivery, web_search)
    assert settings.answer_files == ("convex/**",)


def test_no_name_means_the_default(folder: Path) -> None:
    assert find_experiment(None, folder).name == "default"


def test_a_user_adds_experiments_with_guidelines_named_relative_to_the_file(folder: Path) -> None:
    (folder / "experiments.toml").write_text('[terse]\ndescription = "Short"\nguidelines = "rules.md"\n')
    experiment = find_experiment("terse", folder)
    guidelines = experiment.read_guidelines()
    assert experiment.source == folder / "experiments.toml"
    assert guidelines is not None
    assert guidelines.text == "# Rules\n\n## One\n\nBe brief.\n"
    assert list(load_experiments(folder)) == [*OURS, "terse"]


def test_a_user_may_replace_an_experiment_of_ours(folder: Path) -> None:
    (folder / "experiments.toml").write_text('[default]\nguidelines = "none"\n')
    assert find_experiment("default", folder).read_guidelines() is None


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("[a", "is not valid TOML"),
        ("a = 1", "has a = 1, which must be a table."),
        ("[A]", "[A], must have a name of lower-case letters, digits, _ and -."),
        ("[a]\nguidelines = 1", "[a], has guidelines = 1, which must be a text that is not empty."),
        ('[a]\ndelivery = "mail"', "has delivery = 'mail', which must be one of prompt, agents_md."),
        ("[a]\nweb_search = 1", "has web_search = 1, which must be true or false."),
        (
            '[a]\nguideline = "x"',
            "has the unknown key 'guideline'; it may have: delivery, description, ",
        ),
        (
            '[a]\nguidelines = "none"\ndelivery = "agents_md"',
            "has no guidelines, so it must not have a delivery either.",
        ),
    ],
)
def test_a_mistake_in_the_file_is_one_sentence(folder: Path, text: str, complaint: str) -> None:
    (folder / "experiments.toml").write_text(text)
    with pytest.raises(UsageError) as caught:
        load_experiments(folder)
    assert str(caught.value).startswith(str(folder / "experiments.toml"))
    assert complaint in str(caught.value)


def test_an_unknown_experiment_is_answered_with_the_known_ones(folder: Path) -> None:
    with pytest.raises(UsageError, match=r"There is no experiment 'x'; there are: default, no_guidelines, "):
        find_experiment("x", folder)


def test_guidelines_of_ones_own_make_another_experiment(folder: Path) -> None:
    assert find_experiment("default", folder).with_guidelines(folder / "My Rules.md").name == "guidelines_my_rules"
    custom = find_experiment("agents_md", folder).with_guidelines(folder / "rules.md")
    assert custom.name == "agents_md_guidelines_rules"
    assert custom.delivery == "agents_md"
    assert custom.read_guidelines() is not None


def test_guidelines_for_an_experiment_without_any_are_refused(folder: Path) -> None:
    with pytest.raises(UsageError, match="contradicts it"):
        find_experiment("no_guidelines", folder).with_guidelines(folder / "rules.md")


@pytest.mark.parametrize(
    "asking",
    [
        AskOptions(),
        AskOptions(Experiment("mine", guidelines="none", web_search=True)),
        AskOptions(Experiment("default_without_queries", without=("Queries",))),
        AskOptions(Experiment("guided", guidelines=Path("/a/guide.md"), delivery="agents_md")),
        AskOptions(base_url="http://127.0.0.1:8080/v1", cache_scope="x"),
    ],
)
def test_a_run_remembers_how_it_asks(asking: AskOptions) -> None:
    assert AskOptions.from_json(asking.experiment.name, asking.as_json()) == asking


def test_guidelines_are_remembered_by_their_complete_path(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.chdir(tmp_path)
    recorded = AskOptions(find_experiment("default").with_guidelines(Path("guide.md"))).as_json()
    assert recorded["guidelines"] == str(tmp_path / "guide.md")


def test_a_run_that_remembers_nothing_has_its_experiments_name() -> None:
    assert AskOptions.from_json("old", None) == AskOptions(Experiment("old"))


@pytest.mark.parametrize(
    ("url", "complaint"),
    [
        ("ftp://x", "must be a URL such as http://127.0.0.1:8080/v1, but it is 'ftp://x'"),
        ("127.0.0.1:8080", "must be a URL"),
        ("http://", "must be a URL"),
        ("http://x:0/v1", "must be a URL"),
        ("http://x:port", "must be a URL"),
        ("http://me:secret@x/v1", "must not have a user or a password in it"),
        ("http://secret@x/v1", "must not have a user or a password in it"),
    ],
)
def test_an_invalid_address_is_refused_without_showing_its_password(url: str, complaint: str) -> None:
    with pytest.raises(UsageError, match=complaint) as refused:
        AskOptions(base_url=url)
    assert "secret" not in str(refused.value)


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

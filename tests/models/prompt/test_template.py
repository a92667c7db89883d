import pytest

from convex_evals.core.errors import UsageError
from convex_evals.models.prompt import built_in_template, parse_template

TEXT = """\
<!-- version: 3 -->
<!-- system -->
You are {{role}}.
<!-- user -->
Begin.
{{#extra}}

Extra: {{extra}}
{{/extra}}

{{task}}
"""


def test_a_template_has_a_version_and_a_part_per_role() -> None:
    template = parse_template(TEXT)
    assert template.version == 3
    assert template.fill_system({"role": "kind"}) == "You are kind.\n"


def test_lines_of_a_condition_are_there_only_with_a_value() -> None:
    template = parse_template(TEXT)
    assert template.fill_user({"extra": "", "task": "Go."}) == "Begin.\n\nGo.\n"
    assert template.fill_user({"extra": "more", "task": "Go."}) == "Begin.\n\nExtra: more\n\nGo.\n"


def test_a_value_is_never_taken_for_a_part_of_the_template() -> None:
    template = parse_template(TEXT)
    assert template.fill_user({"extra": "{{task}}", "task": "{{#extra}}\n"}).count("{{task}}") == 1


def test_any_change_to_the_file_is_another_hash() -> None:
    assert parse_template(TEXT).sha256 != parse_template(TEXT + "\n").sha256


@pytest.mark.parametrize(
    "text",
    [
        "",
        TEXT.removeprefix("<!-- version: 3 -->\n"),
        TEXT.replace("<!-- user -->\n", ""),
        TEXT.replace("<!-- system -->\n", ""),
        f"{TEXT}<!-- user -->\n",
        TEXT.replace("<!-- system", "Hello\n<!-- system"),
    ],
)
def test_a_template_without_its_parts_is_refused(text: str) -> None:
    with pytest.raises(UsageError, match="A prompt template must begin with"):
        parse_template(text)


def test_ours_is_one_of_them() -> None:
    assert built_in_template().version >= 1

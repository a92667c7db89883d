from pathlib import Path

import pytest

from convex_evals.core.errors import UsageError
from convex_evals.models.prompt import (
    Guidelines,
    PromptSettings,
    built_in_guidelines,
    built_in_template,
    known_packages,
    parse_template,
    prompt_fingerprint,
    read_guidelines,
    render_prompt,
)
from convex_evals.models.responses import parse_response
from convex_evals.suite import Given

GUIDE = Guidelines("guide.md", "# Guide\n\n## One\n\n````ts\n`a`\n````\n")
TASK = "Write `convex/a.ts`.\n\nIt costs $5 and has {{task}} in it."
SECTIONED_TEXT = """\
# Guide

Read it.

## One

```md
## Not a section
```

## Two ##
### Deeper

Last line"""
SECTIONED = Guidelines("guide.md", SECTIONED_TEXT)


def user(settings: PromptSettings) -> str:
    return render_prompt(TASK, settings).user


def test_the_task_is_at_the_end_verbatim() -> None:
    assert user(PromptSettings()).endswith(f"\n# Task\n\n{TASK}\n")


def test_nothing_of_the_template_is_left() -> None:
    prompt = render_prompt("A task.", PromptSettings(GUIDE, web_search=True, answer_files=["convex/**"]))
    assert "{{" not in prompt.text
    assert "\n\n\n" not in prompt.text


def test_guidelines_are_a_section_of_the_prompt() -> None:
    assert "\n# Convex guidelines\n\n# Guide\n\n## One\n" in user(PromptSettings(GUIDE))
    assert "AGENTS.md" not in user(PromptSettings(GUIDE))


def test_guidelines_can_come_as_the_projects_agents_md_in_a_block_that_holds_them() -> None:
    prompt = user(PromptSettings(GUIDE, delivery="agents_md"))
    assert f"\n`````markdown\n{GUIDE.text}`````\n" in prompt
    assert "# Convex guidelines" not in prompt


@pytest.mark.parametrize("delivery", ["prompt", "agents_md"])
def test_without_guidelines_the_prompt_does_not_mention_any(delivery: str) -> None:
    prompt = user(PromptSettings(delivery="agents_md" if delivery == "agents_md" else "prompt"))
    assert "uidelines" not in prompt
    assert "AGENTS.md" not in prompt


def test_package_versions_are_those_of_the_toolchain() -> None:
    assert f"\n  - `convex` {known_packages()['convex']}\n" in user(PromptSettings())
    assert "\n  - `typescript` 9.9.9\n" in user(PromptSettings(packages={"typescript": "9.9.9"}))


def test_only_globs_that_leave_something_out_are_mentioned() -> None:
    assert "patterns" not in user(PromptSettings())
    assert "these patterns: `convex/**`, `*.json`\n" in user(PromptSettings(answer_files=["convex/**", "*.json"]))


def test_web_search_is_mentioned_when_there_is_one() -> None:
    assert "search" not in user(PromptSettings())
    assert "\n# Web search\n" in user(PromptSettings(web_search=True))


def test_the_format_that_is_asked_for_is_the_one_that_is_read() -> None:
    example = user(PromptSettings()).partition("````markdown\n")[2].partition("````")[0]
    parsed = parse_response(example, "stop")
    assert list(parsed.files) == ["package.json", "convex/messages.ts"]
    assert not parsed.notes
    assert not parsed.problems


def test_the_text_that_is_kept_has_both_parts() -> None:
    prompt = render_prompt(TASK, PromptSettings())
    assert prompt.text == f"<!-- system -->\n{prompt.system}<!-- user -->\n{prompt.user}"


SETTINGS = [
    PromptSettings(),
    PromptSettings(GUIDE),
    PromptSettings(Guidelines("guide.md", f"{GUIDE.text}!")),
    PromptSettings(GUIDE, delivery="agents_md"),
    PromptSettings(GUIDE, web_search=True),
    PromptSettings(GUIDE, answer_files=["convex/**"]),
    PromptSettings(GUIDE, packages={"convex": "1.0.0"}),
]


def test_every_difference_in_asking_is_another_fingerprint() -> None:
    fingerprints = {prompt_fingerprint(settings) for settings in SETTINGS}
    assert len(fingerprints) == len(SETTINGS)


def test_the_name_of_the_guidelines_does_not_count() -> None:
    assert prompt_fingerprint(PromptSettings(GUIDE)) == prompt_fingerprint(
        PromptSettings(Guidelines("other.md", GUIDE.text))
    )


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


GIVEN = Given({"convex/a.ts": "export const A = 1;\n", "README.md": "```\nblock\n```\n"}, ("convex/a.ts",))


def test_given_files_stand_before_the_task_with_what_may_change() -> None:
    prompt = render_prompt(TASK, PromptSettings(), GIVEN)
    assert "into a folder that has the files of an existing project, the packages" in prompt.system
    assert (
        "\n\n# The project so far\n\nThe files below exist already. Answer with the files that you change or add"
        in prompt.user
    )
    assert (
        "only those that match one of these patterns: `convex/a.ts`. You may add new files.\n\n## convex/a"
        in prompt.user
    )
    assert "\n## convex/a.ts\n\n```ts\nexport const A = 1;\n```\n\n## README.md\n\n````md\n```\n" in prompt.user
    assert prompt.user.endswith(f"````\n\n# Task\n\n{TASK}\n")
    assert "\n\n\n" not in prompt.text


def test_without_a_restriction_none_is_mentioned() -> None:
    assert "patterns" not in render_prompt(TASK, PromptSettings(), Given(GIVEN.files)).user


def test_that_no_given_file_may_change_is_said() -> None:
    said = "Change or delete none of these files; add new ones.\n\n## convex/a"
    assert said in render_prompt(TASK, PromptSettings(), Given(GIVEN.files, ())).user
    for given in (GIVEN, Given(GIVEN.files), Given()):
        assert "none of these files" not in render_prompt(TASK, PromptSettings(), given).user


def test_the_versions_of_a_given_project_come_before_ours() -> None:
    assert "the versions in it are the ones that count" in render_prompt(TASK, PromptSettings(), GIVEN).user
    assert "the versions in it" not in user(PromptSettings())


def test_a_file_with_an_empty_block_is_there_and_empty() -> None:
    assert parse_response("# Files\n\n## convex/a.ts\n\n```ts\n```\n").files == {"convex/a.ts": ""}


def test_sections_are_h2_headings_outside_code() -> None:
    assert [section.title for section in SECTIONED.sections] == ["One", "Two"]
    assert SECTIONED.introduction == "# Guide\n\nRead it.\n\n"
    assert SECTIONED.introduction + "".join(section.text for section in SECTIONED.sections) == SECTIONED_TEXT


def test_a_section_can_be_left_out() -> None:
    less = SECTIONED.without("One")
    assert less.text == "# Guide\n\nRead it.\n\n## Two ##\n### Deeper\n\nLast line"
    assert less.name == "guide.md without One"
    assert less.sha256 != SECTIONED.sha256


def test_a_section_that_is_not_there_cannot_be_left_out() -> None:
    with pytest.raises(UsageError, match=r"guide\.md has no section 'Three'; it has: One, Two\."):
        SECTIONED.without("Three")


def test_a_users_own_guidelines_are_read(tmp_path: Path) -> None:
    (tmp_path / "own.md").write_text(SECTIONED_TEXT)
    assert read_guidelines(tmp_path / "own.md") == Guidelines("own.md", SECTIONED_TEXT)


@pytest.mark.parametrize(
    ("content", "complaint"),
    [(None, "No such file or directory"), (b"\xff\xfe\xff", "it is not UTF-8 text"), (b" \n", "are empty")],
)
def test_guidelines_that_cannot_be_used_are_one_sentence(tmp_path: Path, content: bytes | None, complaint: str) -> None:
    path = tmp_path / "own.md"
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(UsageError, match=complaint):
        read_guidelines(path)


def test_ours_have_a_section_for_every_part_of_convex() -> None:
    titles = {section.title for section in built_in_guidelines().sections}
    assert len(titles) == len(built_in_guidelines().sections)
    assert titles >= {
        "Functions",
        "Validators",
        "Schema and indexes",
        "Queries",
        "Pagination",
        "Mutations",
        "Actions and the Node.js runtime",
        "HTTP",
        "Scheduling and crons",
        "Files",
        "Search",
        "Types",
        "Clients",
        "Components",
    }

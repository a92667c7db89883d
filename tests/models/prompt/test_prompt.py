import pytest

from convex_evals.models.parsing import parse_response
from convex_evals.models.prompt import Guidelines, PromptSettings, known_packages, prompt_fingerprint, render_prompt

GUIDE = Guidelines("guide.md", "# Guide\n\n## One\n\n````ts\n`a`\n````\n")
TASK = "Write `convex/a.ts`.\n\nIt costs $5 and has {{task}} in it."


def user(settings: PromptSettings) -> str:
    return render_prompt(TASK, settings).user


def test_the_task_stands_at_the_end_word_for_word() -> None:
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

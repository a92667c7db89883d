from pathlib import Path

import pytest

from convex_evals.core.errors import UsageError
from convex_evals.models.prompt import Guidelines, built_in_guidelines, read_guidelines

TEXT = """\
# Guide

Read it.

## One

```md
## Not a section
```

## Two ##
### Deeper

Last line"""
GUIDE = Guidelines("guide.md", TEXT)


def test_sections_are_h2_headings_outside_code() -> None:
    assert [section.title for section in GUIDE.sections] == ["One", "Two"]
    assert GUIDE.introduction == "# Guide\n\nRead it.\n\n"
    assert GUIDE.introduction + "".join(section.text for section in GUIDE.sections) == TEXT


def test_a_section_can_be_left_out() -> None:
    less = GUIDE.without("One")
    assert less.text == "# Guide\n\nRead it.\n\n## Two ##\n### Deeper\n\nLast line"
    assert less.name == "guide.md without One"
    assert less.sha256 != GUIDE.sha256


def test_a_section_that_is_not_there_cannot_be_left_out() -> None:
    with pytest.raises(UsageError, match=r"guide\.md has no section 'Three'; it has: One, Two\."):
        GUIDE.without("Three")


def test_a_users_own_guidelines_are_read(tmp_path: Path) -> None:
    (tmp_path / "own.md").write_text(TEXT)
    assert read_guidelines(tmp_path / "own.md") == Guidelines("own.md", TEXT)


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

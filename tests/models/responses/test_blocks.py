import re

from hypothesis import example, given
from hypothesis import strategies as st

from convex_evals.models.responses import parse_response, render_block

PART = st.text("abcXYZ019_-.[]()$@+~ äß中", min_size=1, max_size=8).filter(
    lambda part: part.strip() == part and ".." not in part
)
EXTENSION = st.sampled_from(["ts", "tsx", "json", "md", "css", "html", "yml", "d.ts", "test.ts"])
NAME = st.builds(
    lambda parts, end: f"{'/'.join(parts)}.{end}", st.lists(PART, min_size=1, max_size=4), EXTENSION
).filter(lambda name: not name.startswith("./"))
LINE = st.one_of(
    st.text(st.characters(exclude_characters="\n", exclude_categories=["Cs"]), max_size=20),
    st.sampled_from(
        ["```", "```ts", "````", "~~~", "# Files", "## convex/b.ts", "<think>", "</think>", "", "   ```", "\r"]
    ),
)
TEXT = st.lists(LINE, max_size=8).map(lambda lines: "".join(f"{line}\n" for line in lines))
LANGUAGES = {"md": "markdown", "yml": "yaml"}


def render_files(files: dict[str, str]) -> str:
    """An answer as models are asked for it."""
    return "\n".join(["# Files\n", *(section(name, text) for name, text in files.items())])


def section(name: str, text: str) -> str:
    extension = name.rpartition(".")[2]
    heading = name if re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9./@-]*", name) else f"`{name}`"
    return f"## {heading}\n\n{render_block(text, LANGUAGES.get(extension, extension))}"


@given(st.dictionaries(NAME, TEXT, max_size=4))
@example({"README.md": "# Files\n\n## convex/b.ts\n```ts\n1\n```\n"})
@example({"a.ts": "\r\n", "b.md": "```\n", "c.json": ""})
def test_any_files_survive_being_written_and_read(files: dict[str, str]) -> None:
    parsed = parse_response(render_files(files))
    assert parsed.files == files
    assert not parsed.truncated
    assert list(parsed.files) == list(files)


@given(st.dictionaries(NAME, TEXT.filter(bool), min_size=1, max_size=3), st.data())
def test_a_response_that_is_cut_anywhere_has_no_file_that_is_not_whole(
    files: dict[str, str], data: st.DataObject
) -> None:
    whole = render_files(files)
    parsed = parse_response(whole[: data.draw(st.integers(0, len(whole) - 2))])
    assert parsed.files.items() <= files.items()


@given(st.text())
def test_no_text_is_too_strange_to_be_read(text: str) -> None:
    parse_response(text)


def test_a_last_line_without_an_end_gets_one() -> None:
    assert parse_response(render_files({"a.ts": "1;"})).files == {"a.ts": "1;\n"}

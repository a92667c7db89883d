import pytest

from convex_evals.cli.layout import Table, reflowed, wrapped

TEST = "test_removing_a_document_that_is_gone_is_an_error_but_a_file_may_be_gone"
RUN, MODEL, EVAL = "0a1b2c3d", "openrouter/deepseek/deepseek-chat-v3.1", "001-data_modeling/011-deconstruct_validators"


@pytest.mark.parametrize("width", [30, 60, 80])
def test_lines_are_broken_between_words(width: int) -> None:
    text = "tsc: convex/index.ts(53,14): error TS7022: 'add' implicitly has type 'any' because it has no annotation."
    lines = wrapped(text, width, "", "    ")
    assert all(len(line) <= width for line in lines)
    assert " ".join(line.strip() for line in lines) == text
    assert all(line.startswith("    ") for line in lines[1:])


def test_a_word_too_long_for_a_line_is_not_moved() -> None:
    assert wrapped(f"✗ {TEST} (grader.py:92)", 60, "    ", "        ") == [f"    ✗ {TEST} (grader.py:92)"]
    assert wrapped(f"✗ {TEST} (grader.py:92)", 80, "    ", "        ") == [f"    ✗ {TEST}", "        (grader.py:92)"]


def test_a_dot_between_facts_ends_a_line_and_begins_none() -> None:
    assert wrapped("run 0a1b2c3d · sample/expert · 6 of 10 passed", 30, hanging="  ") == [
        "run 0a1b2c3d · sample/expert ·",
        "  6 of 10 passed",
    ]


def test_paragraphs_and_lists_of_markdown_are_rewrapped() -> None:
    text = "Write a backend that finds\nflats by city.\n\n- `rent` is the\n  given one.\n- `rooms`\n"
    assert list(reflowed(text, 30)) == [
        "Write a backend that finds",
        "flats by city.",
        "",
        "- `rent` is the given one.",
        "- `rooms`",
    ]
    assert list(reflowed("- a `city` that is long enough to break", 20)) == [
        "- a `city` that is",
        "  long enough to",
        "  break",
    ]


def test_code_tables_and_headings_stay_as_they_are() -> None:
    text = "# A heading that is long\n````md\n```ts\nconst a = 1; // long line\nb\n```\nc\n````\n| a | b |\n| - | - |\n"
    assert list(reflowed(text, 10)) == text.splitlines()


def lines(table: Table, width: int) -> list[str]:
    return [row.cells[0] for row in table.lines(width)]


@pytest.fixture
def table() -> Table:
    made = Table(["run", "model", "status", "why"], drop=("status",), fold="why")
    made.add_row(RUN, MODEL, "completed", "tests: expected one thing and received another thing instead")
    return made


def test_a_table_that_fits_is_shown_as_it_is(table: Table) -> None:
    heading, row = lines(table, 140)
    assert heading.split() == ["run", "model", "status", "why"]
    assert row.startswith(f"{RUN}  {MODEL}  completed  tests: expected one thing and received another thing instead")


@pytest.mark.parametrize("width", [100, 80, 74])
def test_columns_go_and_texts_are_folded_before_a_name_is_broken(table: Table, width: int) -> None:
    shown = lines(table, width)
    assert all(len(line) <= width for line in shown)
    assert shown[0].split() == ["run", "model", "why"]
    assert shown[1].startswith(f"{RUN}  {MODEL}  tests:")
    assert " ".join(line[48:].strip() for line in shown[1:]).endswith("another thing instead")


@pytest.mark.parametrize("width", [66, 50])
def test_a_text_goes_below_its_row_when_its_column_would_be_narrow(table: Table, width: int) -> None:
    shown = lines(table, width)
    assert all(len(line) <= width for line in shown)
    assert shown[:2] == [f"{'run':<10}model", f"{RUN}  {MODEL}"]
    assert shown[2].startswith("    tests: expected one thing")


@pytest.mark.parametrize("width", [48, 45])
def test_where_there_is_no_room_for_columns_rows_are_paragraphs(table: Table, width: int) -> None:
    shown = lines(table, width)
    assert all(len(line) <= width for line in shown)
    assert RUN in shown[0]
    assert any(MODEL in line for line in shown)


def test_a_long_word_in_a_text_is_not_broken_either() -> None:
    table = Table(["eval", "why"], fold="why")
    table.add_row("000-basics/000-first", "tests 1/2: test_reads_only_the_messages_it_returns (grader.py:54)")
    assert any("test_reads_only_the_messages_it_returns" in line for line in lines(table, 60))
    assert all(len(line) <= 60 for line in lines(table, 60))


def test_headings_are_abbreviated_before_columns_go() -> None:
    table = Table(["eval", "filesystem", "seconds"], drop=("seconds", "filesystem"), short={"filesystem": "file"})
    table.add_row(EVAL, "✓", "1.5")
    assert lines(table, 70)[0].split() == ["eval", "filesystem", "seconds"]
    assert lines(table, 60)[0].split() == ["eval", "file", "seconds"]
    assert lines(table, 55)[0].split() == ["eval", "file"]
    assert lines(table, 45) == [f"{'eval':<44}".rstrip(), EVAL]


def test_a_heading_of_a_group_needs_no_column_of_its_own() -> None:
    table = Table(["eval", "pipeline"])
    table.add_row("a category with a long name", style="bold")
    table.add_row("  000-first", "full")
    assert lines(table, 40)[2] == "  000-first  full"


def test_columns_go_until_a_text_that_may_be_cut_has_room() -> None:
    table = Table(["eval", "grader", "task"], drop=("grader",), cut="task")
    table.add_row("000-first", "pytest", "Write a backend that finds flats by several conditions, and sorts them.")
    assert lines(table, 100)[1].endswith("and sorts them.")
    assert lines(table, 60)[1] == "000-first  pytest  Write a backend that finds flats by …"
    assert lines(table, 58)[1] == "000-first  Write a backend that finds flats by several …"
    assert lines(table, 30)[1] == "000-first  Write a backend …"


def test_where_many_texts_have_a_word_too_long_for_their_column_all_stand_below() -> None:
    table = Table(["eval", "why"], fold="why")
    table.add_row("000-basics/000-first", "tests: test_reads_only_the_messages_it_returns (grader.py:54)")
    table.add_row("000-basics/001-second", "tsc: expected one thing and received another thing instead")
    assert lines(table, 60)[-3:] == [
        "000-basics/001-second",
        "    tsc: expected one thing and received another thing",
        "    instead",
    ]
    for number in range(2, 9):
        table.add_row(f"000-basics/00{number}-more", "tsc: expected one thing and received another thing instead")
    assert any(line.startswith("000-basics/001-second  tsc: expected one thing") for line in lines(table, 60))


def test_columns_without_content_go_first() -> None:
    table = Table(["run", "started", "score", "cost"], drop=("cost", "started", "score"))
    table.add_row(RUN, "2026-11-17", "", "$0.50")
    assert lines(table, 36)[0].split() == ["run", "started", "score", "cost"]
    assert lines(table, 28)[0].split() == ["run", "started", "cost"]
    assert lines(table, 24)[0].split() == ["run", "started"]

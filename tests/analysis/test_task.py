import pytest

from convex_evals.analysis.task import Task

TASK = Task(
    """\
Write `convex/files.ts`:

- `save` takes a name. It must store the file.
- You may add helpers in `lib.ts`.
- DO NOT add a `returns` validator.

```ts
export default { files: { name: string } };
```
Return the body as any. Only create `convex/files.ts`.
"""
)


def test_sentences_have_a_polarity() -> None:
    polarities = {each.text.rstrip(".").rpartition(" ")[2]: each.polarity for each in TASK.instructions}
    assert (polarities["file"], polarities["`lib.ts`"], polarities["validator"]) == ("must", "may", "must not")


@pytest.mark.parametrize(("terms", "demanded"), [(("stor",), True), (("lib.ts",), False), (("returns",), False)])
def test_only_requirements_are_demanded(terms: tuple[str, ...], demanded: bool) -> None:
    assert (TASK.demands(*terms) is not None) is demanded


def test_what_must_not_be_is_forbidden() -> None:
    assert TASK.forbids("returns")
    assert not TASK.forbids("helper")


def test_a_word_of_english_is_not_a_type() -> None:
    assert TASK.asks_for_type("any")
    assert not Task("Do not create any more functions.").asks_for_type("any")


def test_given_code_is_known() -> None:
    assert "name: string" in TASK.given


@pytest.mark.parametrize(("path", "asked"), [("convex/files.ts", True), ("src/App.tsx", False)])
def test_files_are_asked_for_by_name(path: str, asked: bool) -> None:
    assert TASK.asks_for_file(path) is asked


TWO = """Write two functions.

- `notes`, with the field `hidden`

- `add` stores a note. An empty one is an error.
- `list` returns the notes.

Nobody waits long."""


def test_what_is_said_about_another_function_is_left_out() -> None:
    about = Task(TWO).about(["list"], ["add"])
    assert "returns the notes" in about
    assert "Nobody waits" in about
    assert "error" not in about


def test_what_declares_fields_says_nothing_about_behaviour() -> None:
    assert "hidden" not in Task(TWO).behaviour
    assert "error" in Task(TWO).behaviour


@pytest.mark.parametrize(
    ("said", "path", "is_open"),
    [
        ("The tables and other files are up to you.", "convex/tokens.ts", True),
        ("Other files in `src/` are up to you.", "src/list.tsx", True),
        ("Other files in `src/` are up to you.", "convex/list.ts", False),
        ("You may add functions in new files in `convex/`.", "convex/list.ts", True),
        ("You may not change other files.", "convex/list.ts", False),
        ("Write `convex/index.ts`.", "convex/list.ts", False),
    ],
)
def test_a_task_may_leave_files_to_the_answer(said: str, path: str, is_open: bool) -> None:
    assert Task(f"Write a backend. {said}\n").leaves_open(path) is is_open

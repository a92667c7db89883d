from convex_evals.web.pages.diff import FileDiff, compare_answers

LONG = "".join(f"line {number}\n" for number in range(40))


def only(reference: dict[str, str], answer: dict[str, str]) -> FileDiff:
    (found,) = compare_answers(reference, answer)
    return found


def test_files_that_differ_come_before_those_that_are_the_same() -> None:
    found = compare_answers(
        {"a.ts": "1\n", "b.ts": "1\n", "c.ts": "1\n"}, {"a.ts": "1\n", "b.ts": "2\n", "d.ts": "1\n"}
    )
    assert [(each.path, each.kind) for each in found] == [
        ("b.ts", "changed"),
        ("c.ts", "missing"),
        ("d.ts", "added"),
        ("a.ts", "same"),
    ]


def test_a_changed_line_stands_between_its_neighbours_and_the_rest_is_a_gap() -> None:
    found = only({"a.txt": LONG}, {"a.txt": LONG.replace("line 20\n", "line twenty\n")})
    assert [(block.kind, len(block.new) or block.hidden) for block in found.blocks] == [
        ("gap", 16),
        ("same", 4),
        ("changed", 1),
        ("same", 4),
        ("gap", 15),
    ]
    changed = found.blocks[2]
    assert (changed.old[0].number, changed.new[0].number) == (21, 21)
    assert changed.new[0].markup == 'line <span class="x">twenty</span>'
    assert (found.added, found.removed) == (1, 1)


def test_what_a_model_wrote_is_text_in_a_diff() -> None:
    found = only({}, {"a.ts": "<script>alert(1)</script>\n\u202eevil"})
    text = "".join(line.markup for block in found.blocks for line in block.new)
    assert "<script>" not in text and "\u202e" not in text


def test_a_file_too_large_to_compare_says_so() -> None:
    assert only({"a.txt": "x\n" * 5_000}, {"a.txt": "y\n" * 5_000}).kind == "large"

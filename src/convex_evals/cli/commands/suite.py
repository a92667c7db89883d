"""Commands about a suite: `list`, `task` and `new-eval`."""

from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from convex_evals.cli.completion import complete_category, complete_eval
from convex_evals.cli.options import Categories, EvalsFolder, Experiment, Filter, Guidelines, Json, Names, TagNames

if TYPE_CHECKING:
    from convex_evals.controls import Scaffold
    from convex_evals.suite import Eval, Problem, Suite, SuiteSettings

LONGEST_LINE = 78
MANY = 5
MOST = 0.5
LEAST_WORDS = 4
_DIFFICULTY = "difficulty"


def list_evals(
    category: Categories = None,
    filter: Filter = None,
    name: Names = None,
    tag: TagNames = None,
    evals: EvalsFolder = None,
    json: Json = False,
) -> None:
    """List the evals of a suite by category.

    Broken evals are reported on standard error, the others are listed, and the exit code is 2.

    Examples:
      convex-evals list
      convex-evals list -c queries
      convex-evals list --evals my-suite --json
    """
    from convex_evals.cli.output import print_json, remark
    from convex_evals.core.errors import SuiteError
    from convex_evals.suite import Selection, find_suite, load_suite, select

    suite = load_suite(find_suite(evals))
    for problem in suite.problems:
        remark(f"broken: {problem}")
    chosen = select(suite, Selection(category or (), filter, name or (), tag or ()))
    if json:
        print_json(_as_json(suite, chosen))
    else:
        _print_table(suite, chosen)
    if suite.problems:
        raise typer.Exit(SuiteError.exit_code)


def _print_table(suite: "Suite", chosen: tuple["Eval", ...]) -> None:
    from convex_evals.cli.output import count, print_lines, print_table, table

    tags = [_DIFFICULTY] if any(each.tags.difficulty for each in chosen) else []
    tags += ["concepts"] if any(each.tags.concepts for each in chosen) else []
    headings = ["eval", "pipeline", "grader", "gaps", *tags, "task"]
    drop = [name for name in ("gaps", "grader", "pipeline", "concepts") if name in headings]
    rows = table(headings, drop=drop, short={_DIFFICULTY: "level"}, cut="task")
    opening = _opening([_first_of(each) for each in suite.evals])
    by_category = _by_category(chosen)
    for category, members in by_category.items():
        rows.add_row(f"{category} ({len(members)})", style="bold")
        for each in members:
            grader, gaps = _grader(each) or "none yet", "yes" if each.gaps else "no"
            known = {_DIFFICULTY: each.tags.difficulty or "", "concepts": " ".join(each.tags.concepts)}
            about = (known[name] for name in tags)
            rows.add_row(f"  {each.name}", each.pipeline, grader, gaps, *about, _first_line(each, opening))
    print_table(rows)
    evals, categories = count(len(chosen), "eval"), count(len(by_category), "category", "categories")
    broken = f", {len(suite.problems)} broken" if suite.problems else ""
    levels = f" · {_levels_text(chosen)}" if _DIFFICULTY in tags else ""
    print_lines(["", f"{evals} in {categories}{broken}{levels} · {suite.root} · suite {suite.fingerprint[:12]}"])


def _levels_text(chosen: Sequence["Eval"]) -> str:
    """`69 easy, 26 medium, 5 hard, 66 without difficulty`."""
    from convex_evals.suite import Difficulty

    counts = Counter(each.tags.difficulty for each in chosen)
    said = [f"{counts[level]} {level or 'without difficulty'}" for level in (*Difficulty, None) if counts[level]]
    return ", ".join(said)


def _first_line(each: "Eval", opening: str) -> str:
    """Without the words that most tasks of the suite begin with, which would tell them apart by nothing."""
    from convex_evals.core.text import shortened

    line = _first_of(each)
    rest = line.removeprefix(f"{opening} ")
    return shortened(f"… {rest}" if opening and rest != line else line, LONGEST_LINE)


def _first_of(each: "Eval") -> str:
    return each.task.strip().splitlines()[0]


def _opening(tasks: Sequence[str]) -> str:
    """`Write a Convex backend in TypeScript`: what most tasks begin with, if there are many, and it is more than a word
    or two. Leaving out less would save no room, and break the sentences."""
    opening: list[str] = []
    split, enough = [task.split() for task in tasks], max(MANY, MOST * len(tasks))
    while True:
        number = len(opening)
        following = Counter(words[number] for words in split if words[:number] == opening and len(words) > number)
        word, shared = max(following.items(), key=lambda each: each[1], default=("", 0))
        if shared < enough:
            return " ".join(opening) if len(opening) >= LEAST_WORDS else ""
        opening.append(word)


def _as_json(suite: "Suite", chosen: tuple["Eval", ...]) -> dict[str, object]:
    before = suite.settings.packages_before
    return {
        "suite": {
            "root": str(suite.root),
            "fingerprint": suite.fingerprint,
            "packagesBefore": before.isoformat() if before else None,
            "answerFiles": list(suite.settings.answer_files),
            "total": len(suite.evals),
        },
        "categories": [{"category": name, "evals": len(group)} for name, group in _by_category(chosen).items()],
        "tags": [{"tag": name, "evals": number} for name, number in sorted(_tag_counts(chosen).items())],
        "evals": [_eval_json(each) for each in chosen],
        "problems": [_problem_json(problem) for problem in suite.problems],
        "warnings": [_problem_json(problem) for problem in suite.warnings],
    }


def _eval_json(each: "Eval") -> dict[str, object]:
    return {
        "eval": each.id,
        "category": each.category,
        "name": each.name,
        "path": str(each.path),
        "pipeline": each.pipeline.value,
        "grader": _grader(each),
        "task": each.task,
        "hasGaps": each.gaps is not None,
        "hasGiven": each.has_given,
        "tags": _tags_json(each),
        "fingerprints": {"content": each.fingerprints.content, "grader": each.fingerprints.grader},
    }


def _tags_json(each: "Eval") -> dict[str, object]:
    level, source = each.tags.difficulty, each.tags.difficulty_source
    return {"concepts": list(each.tags.concepts), "difficulty": level and {"level": level.value, "source": source}}


def _problem_json(problem: "Problem") -> dict[str, str]:
    return {"path": str(problem.path), "found": problem.found, "fix": problem.fix}


def _tag_counts(chosen: tuple["Eval", ...]) -> dict[str, int]:
    counts: dict[str, int] = {}
    for name in (name for each in chosen for name in each.tags.names):
        counts[name] = counts.get(name, 0) + 1
    return counts


def _by_category(chosen: tuple["Eval", ...]) -> dict[str, list["Eval"]]:
    groups: dict[str, list[Eval]] = {}
    for each in chosen:
        groups.setdefault(each.category, []).append(each)
    return groups


def _grader(each: "Eval") -> str | None:
    return each.grader.kind.value if each.grader else None


def new_eval(
    category: Annotated[
        str,
        typer.Argument(
            metavar="CATEGORY",
            autocompletion=complete_category,
            help="An existing category (queries, 002, 002-queries) or a new one.",
        ),
    ],
    name: Annotated[str, typer.Argument(metavar="NAME", help="A word; the next free number is prefixed.")],
    given: Annotated[bool, typer.Option("--given", help="Start from one that changes a given project.")] = False,
    evals: EvalsFolder = None,
) -> None:
    """Create an eval that validates, with its controls.

    Start from its small example about authors and notes, and make the task, the answer and the grader yours.
    Nothing is overwritten.

    Examples:
      convex-evals new-eval queries newest_per_author
      convex-evals new-eval basics first --evals my-suite
    """
    from convex_evals.controls import plan_eval, suite_for_writing

    suite = suite_for_writing(evals)
    scaffold = plan_eval(suite, category, name, given=given)
    scaffold.write()
    _say(scaffold, suite, evals, given)


def _say(scaffold: "Scaffold", suite: Path, evals: Path | None, given: bool) -> None:
    from convex_evals.cli.output import print_lines

    for path in sorted(scaffold.files):
        typer.echo(_from_here(path))
    place, option = _from_here(suite / scaffold.category / scaffold.name), f" --evals {evals}" if evals else ""
    chosen, recording = f"-f {scaffold.category}/{scaffold.name}{option}", scaffold.recording
    print_lines(
        [
            "",
            "Now change it into what you want to ask:",
            f"  1. {place}/TASK.txt, {'given/, eval.json, ' if given else ''}answer/ and grader.py",
            f"  2. convex-evals validate {chosen}",
            "  3. the wrong and the alternative answers below controls/",
            f"  4. convex-evals controls {chosen} --mutate",
            *([f"  5. {_from_here(recording)}, an answer as a model could give it"] if recording else []),
            "docs/writing-evals.md says what makes a good one.",
        ]
    )


def _from_here(path: Path) -> Path:
    here = Path.cwd()
    return path.relative_to(here) if path.is_relative_to(here) else path


def task(
    eval: Annotated[
        str,
        typer.Argument(
            metavar="EVAL", autocompletion=complete_eval, help="The eval (012-index_and_filter or index_and_filter)."
        ),
    ],
    prompt: Annotated[
        bool, typer.Option("--prompt", help="Print the whole prompt, exactly as `run` would send it.")
    ] = False,
    experiment: Experiment = None,
    guidelines: Guidelines = None,
    evals: EvalsFolder = None,
) -> None:
    """Print the task of an eval, and name the files it starts from if there are any.

    Examples:
      convex-evals task index_and_filter
      convex-evals task index_and_filter --prompt
      convex-evals task index_and_filter --prompt -e no_guidelines
    """
    from convex_evals.cli.output import print_text
    from convex_evals.core.errors import UsageError
    from convex_evals.suite import Selection, find_suite, load_suite, select

    if not prompt and (experiment or guidelines):
        raise UsageError("--experiment and --guidelines decide how models are prompted; add --prompt.")
    suite = load_suite(find_suite(evals))
    for each in select(suite, Selection((), None, (eval,))):
        print_text(_prompt(each, suite.settings, experiment, guidelines) if prompt else _task(each))


def _task(asked: "Eval") -> str:
    from convex_evals.suite import read_given

    given = read_given(asked)
    if not given:
        return asked.task
    fixed = set(given.files) - set(given.changeable)
    names = [f"- {path}{' (must not change)' if path in fixed else ''}" for path in given.files]
    return "\n".join([asked.task.rstrip(), "", "Given files (--prompt shows their contents):", "", *names])


def _prompt(asked: "Eval", suite: "SuiteSettings", experiment: str | None, guidelines: Path | None) -> str:
    from convex_evals.core.settings import read_settings
    from convex_evals.models import find_experiment, prompt_for

    chosen = find_experiment(experiment or read_settings().experiment, guidelines=guidelines)
    return prompt_for(asked, chosen.prompt_settings(suite.answer_files)).text

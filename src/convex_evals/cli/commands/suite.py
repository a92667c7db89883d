"""Commands about a suite: `list`, `controls`, `new-eval`."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from convex_evals.cli.options import Categories, EvalsFolder, Filter, Jobs, Json, JsonFile, Names, SandboxMode

if TYPE_CHECKING:
    from convex_evals.controls import Scaffold
    from convex_evals.suite import Eval, Problem, Suite

MOST_MUTANTS = 25


def list_evals(
    category: Categories = None,
    filter: Filter = None,
    name: Names = None,
    evals: EvalsFolder = None,
    json: Json = False,
) -> None:
    """List the evals of a suite by category.

    Broken evals are reported on standard error, the others are listed, and the exit code is 2.
    """
    from convex_evals.cli.output import print_json, remark
    from convex_evals.core.errors import SuiteError
    from convex_evals.suite import Selection, find_suite, load_suite, select

    suite = load_suite(find_suite(evals))
    for problem in suite.problems:
        remark(f"broken: {problem}")
    chosen = select(suite, Selection(category or (), filter, name or ()))
    if json:
        print_json(_as_json(suite, chosen))
    else:
        _print_table(suite, chosen)
    if suite.problems:
        raise typer.Exit(SuiteError.exit_code)


def _print_table(suite: "Suite", chosen: tuple["Eval", ...]) -> None:
    from convex_evals.cli.output import count, print_table, table

    rows = table(["eval", "pipeline", "grader", "gaps"])
    by_category = _by_category(chosen)
    for category, members in by_category.items():
        rows.add_row(f"{category} ({len(members)})", style="bold")
        for each in members:
            rows.add_row(f"  {each.name}", each.pipeline, _grader(each) or "none yet", "yes" if each.gaps else "no")
    print_table(rows)
    evals, categories = count(len(chosen), "eval"), count(len(by_category), "category", "categories")
    broken = f", {len(suite.problems)} broken" if suite.problems else ""
    typer.echo(f"\n{evals} in {categories}{broken} · {suite.root} · suite {suite.fingerprint[:12]}")


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
        "hasGaps": each.gaps is not None,
        "fingerprints": {"content": each.fingerprints.content, "grader": each.fingerprints.grader},
    }


def _problem_json(problem: "Problem") -> dict[str, str]:
    return {"path": str(problem.path), "found": problem.found, "fix": problem.fix}


def _by_category(chosen: tuple["Eval", ...]) -> dict[str, list["Eval"]]:
    groups: dict[str, list[Eval]] = {}
    for each in chosen:
        groups.setdefault(each.category, []).append(each)
    return groups


def _grader(each: "Eval") -> str | None:
    return each.grader.kind.value if each.grader else None


def controls(
    category: Categories = None,
    filter: Filter = None,
    name: Names = None,
    mutate: Annotated[
        bool,
        typer.Option("--mutate", help="Also mutate the reference answers, and report how many mutants are caught."),
    ] = False,
    mutants: Annotated[
        int | None,
        typer.Option("--mutants", min=1, metavar="N", help=f"With --mutate: at most N per eval, not {MOST_MUTANTS}."),
    ] = None,
    evals: EvalsFolder = None,
    jobs: Jobs = None,
    sandbox: SandboxMode = None,
    json: JsonFile = None,
) -> None:
    """Check graders with answers whose verdict is known.

    The reference answer must pass, an empty project must fail, each wrong control must fail at its step and test, each
    alternative must pass. Nothing is stored. The exit code is 1 when one is judged otherwise, when a control is broken,
    or when less than nine of ten mutants are caught; it is 3 when there is something without a verdict.
    """
    from convex_evals.cli.controls import ControlsOptions, perform
    from convex_evals.core.errors import UsageError
    from convex_evals.suite import Selection

    if mutants is not None and not mutate:
        raise UsageError("--mutants says how many mutants to make; add --mutate.")
    most = (mutants or MOST_MUTANTS) if mutate else None
    selection = Selection(category or (), filter, name or ())
    raise typer.Exit(perform(ControlsOptions(selection, evals, most, jobs, json, sandbox or "required")))


def new_eval(
    category: Annotated[
        str, typer.Argument(metavar="CATEGORY", help="An existing category (queries, 002, 002-queries) or a new one.")
    ],
    name: Annotated[str, typer.Argument(metavar="NAME", help="A word; the next free number is prefixed.")],
    evals: EvalsFolder = None,
) -> None:
    """Create an eval that validates, with its controls.

    Start from its small example about authors and notes, and make the task, the answer and the grader yours.
    Nothing is overwritten.
    """
    from convex_evals.controls import plan_eval, suite_for_writing

    suite = suite_for_writing(evals)
    scaffold = plan_eval(suite, category, name)
    scaffold.write()
    _say(scaffold, suite, evals)


def _say(scaffold: "Scaffold", suite: Path, evals: Path | None) -> None:
    for path in sorted(scaffold.files):
        typer.echo(_from_here(path))
    place, option = _from_here(suite / scaffold.category / scaffold.name), f" --evals {evals}" if evals else ""
    chosen = f"-f {scaffold.category}/{scaffold.name}{option}"
    typer.echo(
        f"\nNow change it into what you want to ask:\n"
        f"  1. {place}/TASK.txt, answer/ and grader.py\n"
        f"  2. convex-evals validate {chosen}\n"
        f"  3. the wrong and the alternative answers below controls/\n"
        f"  4. convex-evals controls {chosen} --mutate\n"
        f"docs/writing-evals.md says what makes a good one."
    )


def _from_here(path: Path) -> Path:
    here = Path.cwd()
    return path.relative_to(here) if path.is_relative_to(here) else path

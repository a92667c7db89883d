"""`convex-evals list`: what a suite asks."""

from typing import TYPE_CHECKING

import typer

from convex_evals.cli.options import Categories, EvalsFolder, Filter, Json, Names

if TYPE_CHECKING:
    from convex_evals.suite import Eval, Problem, Suite


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

"""`task`: what an eval asks for, and the whole prompt that a model is sent."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from convex_evals.cli.completion import complete_eval
from convex_evals.cli.options import EvalsFolder, Experiment, Guidelines

if TYPE_CHECKING:
    from convex_evals.suite import Eval, SuiteSettings


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

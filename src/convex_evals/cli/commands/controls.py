"""`convex-evals controls`: do graders tell right from wrong, and a new answer that asks them."""

from typing import Annotated

import typer

from convex_evals.cli.completion import complete_eval
from convex_evals.cli.options import EvalsFolder, SandboxMode, takes
from convex_evals.cli.runs.options import FOR_CONTROLS, ControlsOptions
from convex_evals.cli.tree import Commands

controls = Commands()


@controls.callback(invoke_without_command=True)
@takes(ControlsOptions, only=FOR_CONTROLS)
def check(context: typer.Context, options: ControlsOptions) -> None:
    """Check graders with answers whose verdict is known.

    The reference answer must pass, an empty project must fail, each wrong control must fail at its step and test, each
    alternative must pass. Nothing is stored. The exit code is 1 if a verdict is wrong, a control is broken, or
    fewer than nine in ten mutants are caught; 3 if something has no verdict.

    Examples:
      convex-evals controls
      convex-evals controls -f index_and_filter --mutate
      convex-evals controls new index_and_filter wrong-scan
    """
    from convex_evals.cli.controls import perform

    if context.invoked_subcommand is None:
        raise typer.Exit(perform(options))


@controls.command("new")
def new(
    eval: Annotated[
        str, typer.Argument(metavar="EVAL", autocompletion=complete_eval, help="The eval that is answered.")
    ],
    name: Annotated[
        str, typer.Argument(metavar="NAME", help="wrong-… for a wrong answer, alternative-… for another right one.")
    ],
    why: Annotated[
        str | None, typer.Option("--why", metavar="TEXT", help="What is wrong or different, in a sentence.")
    ] = None,
    evals: EvalsFolder = None,
    sandbox: SandboxMode = None,
) -> None:
    """Write a control: edit a copy of the reference answer, and it becomes a patch.

    The first time, the reference answer is copied, and opened in $EDITOR if there is one. Then, or when you run the
    same command again, the changed copy is graded and stored as a patch that says at which step and test it fails. The
    exit code is 1 when a wrong answer passes or an alternative fails; the copy stays, and you can change it further.

    Examples:
      convex-evals controls new index_and_filter wrong-scan
      convex-evals controls new index_and_filter wrong-scan --why 'The index is not used.'
    """
    from convex_evals.cli.editor import DraftOptions, write_control

    raise typer.Exit(write_control(DraftOptions(eval, name, why, evals, sandbox or "required")))

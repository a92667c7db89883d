"""`convex-evals show`: one run, or everything about one eval of it."""

from typing import Annotated, Literal

import typer

from convex_evals.cli.options import Json, Scores


def show(
    run: Annotated[str, typer.Argument(metavar="RUN", help="A run id, or its first characters.")],
    eval: Annotated[
        str | None, typer.Argument(metavar="[EVAL]", help="One eval of it (name or category/name).")
    ] = None,
    trial: Annotated[int, typer.Option("--trial", min=1, help="Which trial of the eval.")] = 1,
    log: Annotated[
        Literal["filesystem", "install", "deploy", "tsc", "eslint", "tests"] | None,
        typer.Option("--log", help="Print the complete log of this step."),
    ] = None,
    files: Annotated[bool, typer.Option("--files", help="Print the files that the model wrote.")] = False,
    prompt: Annotated[bool, typer.Option("--prompt", help="Print the prompt.")] = False,
    response: Annotated[bool, typer.Option("--response", help="Print the model's response, word for word.")] = False,
    json: Json = False,
    scores: Scores = None,
) -> None:
    """Show a run as a table of evals and steps, or everything about one of its evals."""
    from convex_evals.cli.output import print_json
    from convex_evals.cli.runs.as_json import run_json
    from convex_evals.cli.runs.display import print_eval, print_evidence, print_run, shown_json
    from convex_evals.cli.runs.lookup import existing_scores, find_attempt
    from convex_evals.core.errors import UsageError

    asks_for_evidence = log is not None or files or prompt or response
    with existing_scores(scores) as store:
        record = store.find_run(run)
        if eval is None:
            if asks_for_evidence:
                raise UsageError("--log, --files, --prompt and --response are about one eval; name it after the run.")
            print_json(run_json(store, record)) if json else print_run(store, record)
            return
        details = find_attempt(store, record, eval, trial)
        if json:
            print_json(shown_json(store, record, details))
        elif asks_for_evidence:
            print_evidence(store, record, details, log=log, files=files, prompt=prompt, response=response)
        else:
            print_eval(store, record, details)

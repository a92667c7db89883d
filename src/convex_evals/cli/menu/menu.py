"""From question to question to a run, to the command line that says the same, or to another command."""

import shlex
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final

from convex_evals.cli.main import run as run_command
from convex_evals.cli.menu.questions import (
    Offer,
    ask_one,
    ask_several,
    ask_text,
    offer_categories,
    offer_evals,
    offer_missing,
    offer_models,
)
from convex_evals.cli.models import ListedModel, list_models
from convex_evals.cli.output import count, print_lines
from convex_evals.cli.runs.command import open_scores, perform
from convex_evals.cli.runs.lookup import last_address
from convex_evals.cli.runs.options import RunOptions
from convex_evals.cli.runs.plans import Prepared, prepare
from convex_evals.cli.runs.summaries import estimate_lines
from convex_evals.core.distribution import invoked_name
from convex_evals.core.errors import UsageError
from convex_evals.core.settings import Settings, read_settings
from convex_evals.models import DEFAULT_EXPERIMENT, AskOptions, load_experiments, load_registry
from convex_evals.runner import Estimate, last_failures
from convex_evals.scores import ScoresStore, database_status
from convex_evals.suite import Eval, find_suite, load_suite

AT_HOME: Final = "local/"
AT_HOME_OFFER: Final = Offer(AT_HOME, "local/… · a model served on this machine or in this network")
USUAL_URL: Final = "http://127.0.0.1:8080/v1"
RUN, START, CHANGE, LEAVE = "run", "start", "change", "leave"
LOOKS: Final = (Offer("show", "look at the latest run"), Offer("serve --open", "open the pages in a browser"))
"""What there is to do once there are runs. The value of an offer is a command line."""
FIRST_STEPS: Final = (
    Offer("demo", "see a demo, without a key"),
    Offer("doctor", "check whether this machine is ready"),
)


@dataclass(frozen=True, slots=True)
class Scope:
    """Which evals: all of them, unless something is given."""

    categories: Sequence[str] = ()
    names: Sequence[str] = ()
    failed: bool = False


@dataclass(frozen=True, slots=True)
class MenuSelection:
    models: Sequence[str]
    base_url: str | None = None
    experiment: str = DEFAULT_EXPERIMENT
    scope: Scope = Scope()
    trials: int = 1

    def options(self, *, dry_run: bool = False) -> RunOptions:
        return RunOptions(
            models=list(self.models),
            categories=list(self.scope.categories),
            names=list(self.scope.names),
            failed=self.scope.failed,
            experiment=self.experiment,
            base_url=self.base_url,
            trials=self.trials,
            dry_run=dry_run,
        )

    @property
    def command(self) -> str:
        """What to type to have the same without the menu."""
        words = ["run"]
        for option, values in (("-m", self.models), ("-c", self.scope.categories), ("--name", self.scope.names)):
            words += [word for value in values for word in (option, value)]
        words += ["--failed"] if self.scope.failed else []
        words += ["-e", self.experiment] if self.experiment != DEFAULT_EXPERIMENT else []
        words += ["--base-url", self.base_url] if self.base_url is not None else []
        words += ["--trials", str(self.trials)] if self.trials > 1 else []
        return f"{invoked_name()} {shlex.join(words)}"


def open_menu() -> int:
    """Asks until a run is started or nothing is wanted any more; returns the exit code."""
    while True:
        match ask_one("What would you like to do?", _commands()):
            case "run":
                return _run_models()
            case "leave":
                return 0
            case command:
                print(f"\n  {invoked_name()} {command}\n")
                run_command(command.split())


def _commands() -> list[Offer]:
    looks = LOOKS if database_status(None).condition != "missing" else ()
    return [Offer(RUN, "run models"), *looks, *FIRST_STEPS, Offer(LEAVE, "leave")]


def _run_models() -> int:
    settings = read_settings()
    evals = load_suite(find_suite(None)).evals
    while True:
        chosen = _ask(settings, evals)
        prepared = _describe(chosen, settings)
        choices = [Offer(START, "start it")] if prepared.plans else []
        question = "Start this run?" if choices else "What would you like to do?"
        match ask_one(question, [*choices, Offer(CHANGE, "choose again"), Offer(LEAVE, "leave")]):
            case "start":
                return perform(chosen.options())
            case "leave":
                return 0


def _ask(settings: Settings, evals: Sequence[Eval]) -> MenuSelection:
    known = list_models(load_registry(), settings, None)
    chosen = _ask_models(known)
    if any(_is_asked(name, known) for name in chosen.models):
        chosen = replace(chosen, experiment=_ask_experiment())
    chosen = replace(chosen, scope=_ask_scope(chosen, evals))
    trials = ask_text("How many trials per task?", "1", _complain_about_number)
    return replace(chosen, trials=int(trials))


def _ask_models(known: Sequence[ListedModel]) -> MenuSelection:
    chosen = ask_several("Which models?", [*offer_models(known), AT_HOME_OFFER, *offer_missing(known)])
    if not any(name.startswith(AT_HOME) for name in chosen):
        return MenuSelection(chosen)
    if AT_HOME in chosen:
        name = ask_text("What does the server call the model?", "", _complain_about_name)
        chosen = [f"{AT_HOME}{name}" if each == AT_HOME else each for each in chosen]
    address = last_address(None) or USUAL_URL
    return MenuSelection(chosen, base_url=ask_text("Where is the server?", address, _complain_about_url))


def _ask_experiment() -> str:
    experiments = load_experiments().values()
    return ask_one("Which experiment?", [Offer(each.name, f"{each.name} · {each.description}") for each in experiments])


def _ask_scope(chosen: MenuSelection, evals: Sequence[Eval]) -> Scope:
    offers = [Offer("all", f"all {len(evals)}"), Offer("categories", "by category"), Offer("single", "one by one")]
    if _have_failed(chosen):
        offers.append(Offer("failed", "what failed last time"))
    match ask_one("Which evals?", offers):
        case "categories":
            return Scope(categories=ask_several("Which categories?", offer_categories(evals)))
        case "single":
            return Scope(names=ask_several("Which ones?", offer_evals(evals)))
        case "failed":
            return Scope(failed=True)
        case _:
            return Scope()


def _have_failed(chosen: MenuSelection) -> bool:
    """Whether each of the models has a run in which something failed."""
    with open_scores(chosen.options(dry_run=True)) as store:
        return all(_has_failed(name, chosen.experiment, store) for name in chosen.models)


def _has_failed(model: str, experiment: str, store: ScoresStore) -> bool:
    return bool(last_failures(store, model, experiment))


def _describe(chosen: MenuSelection, settings: Settings) -> Prepared:
    """Says what would be done, what it would cost, and how to do it without the menu."""
    asked = chosen.options(dry_run=True)
    with open_scores(asked) as store:
        prepared = prepare(asked, store, settings)
        estimates = [each for plan in prepared.plans if (each := Estimate.of(plan, store)) is not None]
    answers = sum(len(plan.work) for plan in prepared.plans)
    evals = len({work.eval.id for plan in prepared.plans for work in plan.work})
    models = count(len(prepared.plans), "model")
    print(f"\n{count(evals, 'eval')}, {models}, {count(answers, 'answer')} to grade")
    for estimate in estimates:
        print_lines(estimate_lines(estimate))
    if not estimates:
        print("no provider is asked, so it costs nothing")
    print(f"\n  {chosen.command}\n")
    return prepared


def _is_asked(name: str, known: Sequence[ListedModel]) -> bool:
    """Whether a prompt is sent to it."""
    entry = next((each.entry for each in known if each.entry.slug == name), None)
    return entry is None or entry.api not in ("built-in", "recorded")


def _complain_about_number(text: str) -> str | None:
    return None if text.strip().isdecimal() and int(text) > 0 else "A whole number above 0."


def _complain_about_name(text: str) -> str | None:
    return None if text.strip() and " " not in text.strip() else "One word, as the server's list of models has it."


def _complain_about_url(text: str) -> str | None:
    try:
        AskOptions(base_url=text.strip())
    except UsageError as error:
        return str(error).removeprefix("--base-url ").capitalize()
    return None

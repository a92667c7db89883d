"""Commands and groups of commands that are explained, spelled and completed in one way.

- Help has a summary in full, plain names of values, and the examples that end the docstring of a command.
- Of several long names of an option only the first is shown; the others are older spellings that keep working.
- `--json` alone prints to standard output, also where a file may follow it.
- `-1` names the latest run and `-2` the one before it, also where it could be taken for an option.
"""

import inspect
import re
import textwrap
from collections.abc import Callable, Iterable, Iterator
from typing import Any, Final

import typer
from typer.core import TyperCommand, TyperGroup

from convex_evals.cli.layout import wrapped
from convex_evals.cli.output import GIVEN
from convex_evals.core.distribution import as_invoked

EXAMPLES: Final = "Examples:"
OPTIONAL: Final = frozenset({"--json"})
"""Options whose value may be missing, which means standard output."""
RUNS: Final = frozenset({"run", "runs"})
_COUNTED: Final = re.compile(r"-\d+")


class OurCommand(TyperCommand):
    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        rest = super().parse_args(ctx, spelled_out(args, self.get_params(ctx)))
        GIVEN.remember(ctx)
        return rest

    def format_help_text(self, ctx: Any, formatter: Any) -> None:
        write_text(text_of(self.help), formatter)

    def format_options(self, ctx: Any, formatter: Any) -> None:
        write_records(self, ctx, formatter)

    def format_epilog(self, ctx: Any, formatter: Any) -> None:
        write_examples(examples_of(self.help), formatter)

    def get_short_help_str(self, limit: int = 0) -> str:
        return summary_of(self.help)

    def collect_usage_pieces(self, ctx: Any) -> list[str]:
        return ["[OPTIONS]", *(argument_name(each) for each in self.get_params(ctx) if is_argument(each))]


class OurGroup(TyperGroup):
    def get_params(self, ctx: Any) -> list[Any]:
        """Typer's own flags (help, completion) have no default, and it loads pydantic to find out what that means."""
        parameters = super().get_params(ctx)
        for parameter in parameters:
            if getattr(parameter, "is_flag", False) and parameter.default is None:
                parameter.default = False
        return parameters

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        rest = super().parse_args(ctx, spelled_out(args, self.get_params(ctx)))
        GIVEN.remember(ctx)
        return rest

    def format_help_text(self, ctx: Any, formatter: Any) -> None:
        write_text(text_of(self.help), formatter)

    def format_options(self, ctx: Any, formatter: Any) -> None:
        write_records(self, ctx, formatter)
        self.format_commands(ctx, formatter)

    def format_epilog(self, ctx: Any, formatter: Any) -> None:
        write_examples(examples_of(self.help), formatter)

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        shown = ((name, self.commands[name]) for name in self.list_commands(ctx))
        with formatter.section("Commands"):
            write_list([(name, each.get_short_help_str()) for name, each in shown if not each.hidden], formatter)

    def get_short_help_str(self, limit: int = 0) -> str:
        return summary_of(self.help)

    def collect_usage_pieces(self, ctx: Any) -> list[str]:
        return ["[OPTIONS]", "[COMMAND [ARGS]...]" if self.invoke_without_command else "COMMAND [ARGS]..."]


class Commands(typer.Typer):
    """A group of commands, used like `typer.Typer`; the docstring of its callback explains it."""

    def __init__(self, cls: type[OurGroup] = OurGroup) -> None:
        super().__init__(cls=cls, rich_markup_mode=None, pretty_exceptions_enable=False)

    def command(self, name: str | None = None, **settings: Any) -> Callable[[Any], Any]:
        return super().command(name, **{"cls": OurCommand, **settings})


def text_of(help: str | None) -> str:
    return inspect.cleandoc(help or "").partition(f"\n\n{EXAMPLES}\n")[0]


def examples_of(help: str | None) -> tuple[str, ...]:
    """The command lines that end a docstring."""
    found = inspect.cleandoc(help or "").partition(f"\n\n{EXAMPLES}\n")[2]
    return tuple(line.strip() for line in found.splitlines() if line.strip())


def summary_of(help: str | None) -> str:
    """The first sentence, or the first paragraph where that is one."""
    first = " ".join(text_of(help).partition("\n\n")[0].split())
    return f"{first.partition('. ')[0].rstrip('.')}."


def write_text(text: str, formatter: Any) -> None:
    """Paragraphs. The path of a page stays whole, so that it can be copied."""
    with formatter.indentation():
        margin = " " * formatter.current_indent
        for paragraph in as_invoked(text).split("\n\n") if text else ():
            lines = wrapped(" ".join(paragraph.split()), formatter.width, margin, margin)
            formatter.write("\n" + "".join(f"{line}\n" for line in lines))


def write_examples(examples: tuple[str, ...], formatter: Any) -> None:
    if examples:
        formatter.write(f"\n{EXAMPLES}\n")
        for line in examples:
            formatter.write(f"  {as_invoked(line)}\n")


def write_records(command: Any, ctx: Any, formatter: Any) -> None:
    for title, wanted in (("Arguments", True), ("Options", False)):
        parameters = (each for each in command.get_params(ctx) if is_argument(each) is wanted)
        records = [record for each in parameters if (record := help_record(each, ctx)) is not None]
        if records:
            with formatter.section(title):
                write_list(records, formatter)


def write_list(records: Iterable[tuple[str, str]], formatter: Any) -> None:
    """Names and what they mean, in two columns; lines are broken between words only."""
    records = list(records)
    width = formatter.width - formatter.current_indent
    column = min(max(len(name) for name, _ in records), max(20, width * 2 // 5)) + 2
    margin = " " * formatter.current_indent
    for name, text in records:
        lines = textwrap.wrap(text, width - column, break_on_hyphens=False, break_long_words=False) or [""]
        first, rest = (lines[0], lines[1:]) if len(name) + 2 <= column else ("", lines)
        formatter.write(f"{margin}{name.ljust(column)}{first}".rstrip() + "\n")
        for line in rest:
            formatter.write(f"{margin}{' ' * column}{line}\n")


def is_argument(parameter: Any) -> bool:
    return bool(parameter.param_type_name == "argument")


def help_record(parameter: Any, ctx: Any) -> tuple[str, str] | None:
    """How a parameter is written, and what it means."""
    if getattr(parameter, "hidden", False):
        return None
    explained = as_invoked(parameter.help or "")
    default = _default(parameter, ctx)
    if default and "(default:" not in explained:
        explained = f"{explained.removesuffix('.')} (default: {default})."
    if is_argument(parameter):
        return argument_name(parameter), explained
    value = "" if parameter.is_flag else f" {value_name(parameter)}"
    return f"{', '.join(shown_names(parameter))}{value}", explained


def shown_names(option: Any) -> list[str]:
    short = [name for name in option.opts if not name.startswith("--")]
    return [*short, *[name for name in option.opts if name.startswith("--")][:1]]


def argument_name(argument: Any) -> str:
    name = argument.metavar or argument.name.upper()
    return name if argument.required or name.startswith("[") else f"[{name}]"


def value_name(option: Any) -> str:
    choices = option.type_descriptor.choices
    if option.metavar:
        name = str(option.metavar)
    elif choices:
        name = "|".join(str(getattr(each, "value", each)) for each in choices)
    else:
        name = "N" if option.type_descriptor.annotation in (int, float) else "TEXT"
    return f"[{name}]" if OPTIONAL.intersection(option.opts) else name


def _default(parameter: Any, ctx: Any) -> str:
    default = parameter.get_default(ctx, call=False)
    if default is None or default == "" or isinstance(default, bool) or not parameter.show_default:
        return ""
    shown = default if isinstance(default, (list, tuple)) else [getattr(default, "value", default)]
    return ", ".join(f"{each:g}" if isinstance(each, float) else str(each) for each in shown)


def spelled_out(args: list[str], parameters: list[Any]) -> list[str]:
    """What was left out or is read otherwise by Typer is written in full."""
    return list(_spelled_out(args, parameters))


def _spelled_out(args: list[str], parameters: list[Any]) -> Iterator[str]:
    values = {name for each in parameters if not is_argument(each) and not each.is_flag for name in each.opts}
    takes_runs = any(is_argument(each) and each.name in RUNS for each in parameters)
    before = ""
    for index, word in enumerate(args):
        if before == "--":
            yield from args[index:]
            return
        counted = takes_runs and before not in values and _COUNTED.fullmatch(word)
        yield f"latest~{int(word[1:]) - 1}" if counted else word
        following = args[index + 1] if index + 1 < len(args) else "--"
        if word in values & OPTIONAL and following.startswith("-") and following != "-":
            yield "-"
        before = word

"""Command lines in messages: whoever copies one gets what it speaks of.

They are printed with the name that works here, and with the scores and the suite that this command was given, so that
`convex-evals show 0a1b2c3d` finds the run that the message is about.
"""

import re
import shlex
from typing import Any, Final

from convex_evals.core.distribution import as_invoked

REPEATED: Final = {"--scores": "URL", "--evals": "DIR"}
"""By name, and what is its value: elsewhere `--evals` is a number or a name."""
_IN_TEXT: Final = re.compile(r"`convex-evals ([^`\n]+)`")
_WHOLE_LINE: Final = re.compile(r"^ *(?:\d\. )?convex-evals (\S[^\n]*)$", re.MULTILINE)


class Given:
    """The options of this command that hints repeat, and all commands, which say which of them take these."""

    def __init__(self) -> None:
        self.options: dict[str, str] = {}
        self.tree: Any = None

    def remember(self, context: Any) -> None:
        """Call for every command and group whose options are read, from the outermost on."""
        if context.parent is None:
            self.options, self.tree = {}, context.command
        for parameter in context.command.params:
            value = context.params.get(parameter.name)
            if value is not None and _is_repeated(parameter):
                self.options[parameter.opts[0]] = str(value)

    def missing(self, words: str) -> str:
        """What to append to a command line."""
        if not self.options or "--help" in words:
            return ""
        known = self._options_of(words.split())
        lacks = (name for name in REPEATED if name in self.options and name in known and name not in words)
        return "".join(f" {name} {shlex.quote(self.options[name])}" for name in lacks)

    def _options_of(self, words: list[str]) -> set[str]:
        command = self.tree
        for word in words:
            commands = getattr(command, "commands", {})
            command = commands.get(word) or (commands.get("run") if commands else None)
            if not getattr(command, "commands", None):
                break
        return {each.opts[0] for each in getattr(command, "params", ()) if _is_repeated(each)}


def _is_repeated(parameter: Any) -> bool:
    return bool(REPEATED.get(parameter.opts[0], "") == parameter.metavar)


GIVEN: Final = Given()


def as_typed(text: str) -> str:
    """The text with command lines as they must be typed here."""
    text = _IN_TEXT.sub(lambda found: f"`convex-evals {found[1]}{GIVEN.missing(found[1])}`", text)
    text = _WHOLE_LINE.sub(lambda found: f"{found[0]}{GIVEN.missing(found[1])}", text)
    return as_invoked(text)

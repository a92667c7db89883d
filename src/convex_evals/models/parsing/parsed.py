"""What a response holds."""

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class ParsedResponse:
    """The files of a response, and what a reader should know about how they were found.

    `files` are complete ones only, under the names the model gave them. `truncated` means that the model was stopped
    before it was done: whatever `files` holds, it is not the whole answer.
    """

    files: Mapping[str, str]
    notes: tuple[str, ...] = ()  # what was normalised or assumed
    truncated: bool = False
    problems: tuple[str, ...] = ()  # what is missing or wrong

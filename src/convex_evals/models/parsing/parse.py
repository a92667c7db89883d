"""From a response to its files."""

from collections.abc import Sequence

from convex_evals.models.parsing.finish import is_cut_off
from convex_evals.models.parsing.other_formats import files_in_json, files_in_tags
from convex_evals.models.parsing.parsed import ParsedResponse
from convex_evals.models.parsing.reader import Candidate, Reader
from convex_evals.models.parsing.reasoning import final_channel, without_reasoning
from convex_evals.models.parsing.selection import Choice, choose

NOTHING = "The response holds no files."


def parse_response(text: str, finish_reason: str | None = None) -> ParsedResponse:
    """The files in what a model wrote. `finish_reason` is the provider's word for why it stopped, if it said so."""
    notes: list[str] = []
    problems: list[str] = []
    answer = without_reasoning(_lines(final_channel(text), notes))
    if answer.removed:
        notes.append("Reasoning is left out.")
    if answer.unfinished:
        problems.append("The reasoning never ends, so there is no answer.")
    reader = Reader()
    reader.read(answer.lines)
    choice = _choose(reader.candidates, answer.lines)
    notes += [*reader.notes, *choice.notes]
    if is_cut_off(finish_reason):
        problems.append(f"The model was stopped before it was done ({finish_reason}).")
    problems += choice.problems
    if not choice.files:
        problems.append(NOTHING)
    truncated = is_cut_off(finish_reason) or answer.unfinished or reader.open_at_end or choice.cut_off
    return ParsedResponse(choice.files, tuple(notes), truncated, tuple(problems))


def _choose(candidates: Sequence[Candidate], lines: Sequence[str]) -> Choice:
    if any(candidate.name for candidate in candidates):
        return choose(candidates)
    text = "\n".join(lines)
    other = files_in_tags(text) or files_in_json(text, [candidate.text for candidate in candidates])
    return choose(other) if other else choose(candidates)


def _lines(text: str, notes: list[str]) -> list[str]:
    """Only when every line ends the Windows way is that the response's doing; otherwise a file has such lines in it."""
    text = text.removeprefix("\ufeff")
    if "\r\n" in text and text.count("\r\n") == text.count("\n"):
        notes.append("Windows line ends became plain ones.")
        text = text.replace("\r\n", "\n")
    return text.split("\n")

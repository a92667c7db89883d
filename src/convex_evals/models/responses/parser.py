"""From a response to its files."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from convex_evals.models.responses.blocks import Candidate, Reader, files_in_json, files_in_tags, read_block, read_fence
from convex_evals.models.responses.names import plain_name


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


@dataclass(slots=True)
class Choice:
    files: dict[str, str] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)
    cut_off: bool = False  # a file has no end


NOTHING = "The response contains no files."


def parse_response(text: str, finish_reason: str | None = None) -> ParsedResponse:
    """The files in what a model wrote. `finish_reason` is the provider's word for why it stopped, if it said so."""
    notes: list[str] = []
    problems: list[str] = []
    answer = without_reasoning(_lines(final_channel(text), notes))
    if answer.removed:
        notes.append("Reasoning was removed.")
    if answer.unfinished:
        problems.append("The reasoning never ends, so there is no answer.")
    reader = Reader()
    reader.read(answer.lines)
    choice = _choose_format(reader.candidates, answer.lines)
    notes += [*reader.notes, *choice.notes]
    problems += choice.problems
    truncated = is_cut_off(finish_reason) or answer.unfinished or reader.open_at_end or choice.cut_off
    if not choice.files and not is_cut_off(finish_reason):
        problems.append(NOTHING)
    return ParsedResponse(choice.files, tuple(notes), truncated, tuple(problems))


def _choose_format(candidates: Sequence[Candidate], lines: Sequence[str]) -> Choice:
    if any(candidate.name for candidate in candidates):
        return _choose(candidates)
    text = "\n".join(lines)
    other = files_in_tags(text) or files_in_json(text, [candidate.text for candidate in candidates])
    return _choose(other) if other else _choose(candidates)


def _lines(text: str, notes: list[str]) -> list[str]:
    """Only when every line ends the Windows way is that the response's doing; otherwise a file has such lines in it."""
    text = text.removeprefix("\ufeff")
    if "\r\n" in text and text.count("\r\n") == text.count("\n"):
        notes.append("Windows line endings were converted.")
        text = text.replace("\r\n", "\n")
    return text.split("\n")


# The words of OpenAI (chat and responses), Anthropic, Google, Mistral and servers that imitate them.
_AT_THE_LIMIT: Final = frozenset({"length", "max_length", "max_tokens", "max_output_tokens", "token_limit"})
_CUT_OFF: Final = _AT_THE_LIMIT | frozenset(
    {
        "model_length",
        "model_context_window_exceeded",
        "incomplete",
        "content_filter",
        "safety",
        "recitation",
        "blocklist",
        "prohibited_content",
        "spii",
        "error",
        "abort",
        "cancelled",
    }
)


def is_cut_off(finish_reason: str | None) -> bool:
    """Whether the model was stopped before it was done. No reason given says nothing."""
    return finish_reason is not None and _plain(finish_reason) in _CUT_OFF


def _plain(finish_reason: str) -> str:
    return finish_reason.lower().rpartition(".")[2]


def cut_off(finish_reason: str | None) -> str:
    """How an answer ended that is not the whole one, in words that follow “was”."""
    if finish_reason is None or not is_cut_off(finish_reason):
        return "cut off"
    return "cut off at the output limit" if _plain(finish_reason) in _AT_THE_LIMIT else f"cut off ({finish_reason})"


_TAGS: Final = r"think|thinking|thought|thoughts|reasoning|reflection|analysis|scratchpad"
_OPENING: Final = re.compile(rf"^\s*(?:<(?P<tag>{_TAGS})>|\[(?P<bracket>THINK)\])", re.IGNORECASE)
_LONE_CLOSING: Final = re.compile(rf"^\s*(?:</(?:{_TAGS})>|\[/THINK\])", re.IGNORECASE)
# Servers that do not understand a model's channels pass their markers on.
_CHANNELS: Final = re.compile(r"\s*(?:<\|(?:channel|start)\|>|analysis)")
_FINAL_CHANNEL: Final = re.compile(r".*?(?:<\|channel\|>final[^<]*<\|message\|>|assistantfinal(?=\W))", re.DOTALL)
_END_MARKERS: Final = re.compile(r"(?:<\|(?:end|return|eot_id|im_end|endoftext)\|>|</s>)\s*$")


@dataclass(frozen=True, slots=True)
class Remainder:
    """The lines that are not reasoning. `unfinished`: the reasoning never came to its end."""

    lines: tuple[str, ...]
    removed: bool
    unfinished: bool = False


def final_channel(text: str) -> str:
    """The answer alone, when a response has the markers of channels in it."""
    text = _END_MARKERS.sub("", text)
    final = _FINAL_CHANNEL.match(text) if _CHANNELS.match(text) else None
    return text[final.end() :] if final else text


def without_reasoning(lines: Sequence[str]) -> Remainder:
    """Looks for tags outside code blocks only: a file may have them in it."""
    lines = list(lines)
    kept: list[str] = []
    removed, number = False, 0
    while number < len(lines):
        opening = _OPENING.match(lines[number])
        if opening:
            removed, number = True, _skip_reasoning(lines, number, opening)
            if number == len(lines):
                return Remainder(tuple(kept), removed, unfinished=True)
            continue
        if _LONE_CLOSING.match(lines[number]) and not removed:
            # The opening tag was part of the prompt, so all that came before is reasoning.
            kept, removed = [_LONE_CLOSING.sub("", lines[number])], True
            number += 1
            continue
        fence = read_fence(lines[number])
        after = read_block(lines, number, fence, nests=fence.is_markdown).after if fence else number + 1
        kept += lines[number:after]
        number = after
    return Remainder(tuple(kept), removed)


def _skip_reasoning(lines: list[str], start: int, opening: re.Match[str]) -> int:
    """The number of the line with the closing tag, of which only the rest is left; or of the line after the last."""
    closing = f"</{opening['tag']}>" if opening["tag"] else "[/THINK]"
    for number in range(start, len(lines)):
        found = lines[number].lower().find(closing.lower())
        if found >= 0:
            lines[number] = lines[number][found + len(closing) :]
            return number
    return len(lines)


def _choose(candidates: Sequence[Candidate]) -> Choice:
    """Blocks below "Files" count before all others, and blocks that are certainly a file before extracts of it."""
    choice = Choice()
    by_name: dict[str, list[Candidate]] = {}
    for candidate in _below_files(candidates, choice):
        if candidate.name is not None:
            by_name.setdefault(_name(candidate.name.text, choice), []).append(candidate)
    for name, blocks in by_name.items():
        _choose_block(name, blocks, choice)
    unnamed = sum(candidate.name is None for candidate in candidates)
    if unnamed:
        choice.notes.append(f"{_count(unnamed, 'code block')} without a file name: ignored.")
    return choice


def _below_files(candidates: Sequence[Candidate], choice: Choice) -> Sequence[Candidate]:
    below = [candidate for candidate in candidates if candidate.below_files]
    if not any(candidate.name for candidate in below):
        return candidates
    before = sum(candidate.name is not None for candidate in candidates) - sum(each.name is not None for each in below)
    if before:
        choice.notes.append(f"{_count(before, 'file')} before the files section: ignored.")
    return below


def _name(given: str, choice: Choice) -> str:
    plain = plain_name(given)
    if plain != given:
        choice.notes.append(f"{given} is read as {plain}.")
    return plain


def _choose_block(name: str, blocks: Sequence[Candidate], choice: Choice) -> None:
    certain = [block for block in blocks if block.name and block.name.certain]
    extracts = len(blocks) - len(certain) if certain else 0
    possible = certain or blocks
    if extracts:
        choice.notes.append(f"{name}: {_count(extracts, 'extract')} ignored.")
    if len(possible) > 1:
        choice.notes.append(f"{name} appears {len(possible)} times; the last one is used.")
    if possible[-1].complete:
        choice.files[name] = possible[-1].text
    else:
        choice.cut_off = True
        choice.problems.append(f"{name} is cut off: its code block never ends.")


def _count(number: int, thing: str) -> str:
    return f"{number} {thing}{'' if number == 1 else 's'}"

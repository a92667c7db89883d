"""Reasoning that a model, or the server in front of it, left in the response."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from convex_evals.models.parsing.fences import read_block, read_fence

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

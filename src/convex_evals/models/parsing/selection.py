"""Which of the blocks of a response are its files."""

from collections.abc import Sequence
from dataclasses import dataclass, field

from convex_evals.models.parsing.file_names import plain_name
from convex_evals.models.parsing.reader import Candidate


@dataclass(slots=True)
class Choice:
    files: dict[str, str] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)
    cut_off: bool = False  # a file has no end


def choose(candidates: Sequence[Candidate]) -> Choice:
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
        choice.notes.append(f"{_count(unnamed, 'code block')} without a file name: not taken.")
    return choice


def _below_files(candidates: Sequence[Candidate], choice: Choice) -> Sequence[Candidate]:
    below = [candidate for candidate in candidates if candidate.below_files]
    if not any(candidate.name for candidate in below):
        return candidates
    before = sum(candidate.name is not None for candidate in candidates) - sum(each.name is not None for each in below)
    if before:
        choice.notes.append(f"{_count(before, 'file')} before the section of files: not taken.")
    return below


def _name(given: str, choice: Choice) -> str:
    plain = plain_name(given)
    if plain != given:
        choice.notes.append(f"{given} is taken for {plain}.")
    return plain


def _choose_block(name: str, blocks: Sequence[Candidate], choice: Choice) -> None:
    certain = [block for block in blocks if block.name and block.name.certain]
    extracts = len(blocks) - len(certain) if certain else 0
    possible = certain or blocks
    if extracts:
        choice.notes.append(f"{name}: {_count(extracts, 'extract')} not taken.")
    if len(possible) > 1:
        choice.notes.append(f"{name} is there {len(possible)} times: the last one is taken.")
    if possible[-1].complete:
        choice.files[name] = possible[-1].text
    else:
        choice.cut_off = True
        choice.problems.append(f"{name} is cut off: its code block never ends.")


def _count(number: int, thing: str) -> str:
    return f"{number} {thing}{'' if number == 1 else 's'}"

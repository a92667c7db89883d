"""What is wrong with how a batch of hostile answers ended: verdicts, and traces that it left or found."""

import re
from collections.abc import Iterator, Sequence
from typing import Final

from .answers import HostileAnswer
from .batch import Batch, World

LONGEST_LINE: Final = 5_000
CONTROLS: Final = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")


def problems(world: World, answers: Sequence[HostileAnswer], batch: Batch) -> list[str]:
    """A sentence for each; none when everything held."""
    return [*_verdicts(answers, batch), *_leaks(world, batch), *effects(world), *_texts(batch)]


def _verdicts(answers: Sequence[HostileAnswer], batch: Batch) -> Iterator[str]:
    for answer in answers:
        result = batch.results[answer.name]
        if not answer.expected.fits(result.status, result.step, result.kind):
            yield f"{answer.name} should be {answer.expected}, but it is {result}"


def _leaks(world: World, batch: Batch) -> Iterator[str]:
    for secret in world.canaries.secrets:
        culprits = [name for name, result in batch.results.items() if secret in repr(result.details)]
        if secret.encode() in batch.shown + batch.kept:
            yield f"{secret} was read by {', '.join(culprits) or 'an answer that was tried again'}"


def effects(world: World) -> Iterator[str]:
    """What happened around the answers since the last time."""
    visits, world.canaries.visits[:] = list(world.canaries.visits), []
    yield from (f"a canary had a visitor: {visit}" for visit in visits)
    yield from (f"{path} was changed" for path in world.canaries.changed_files())
    yield from (f"{path} was changed in the cache" for path in world.changed_in_cache())
    yield from (f"{left} was left behind" for left in world.leftovers())
    if world.canaries.victim.poll() is not None:
        yield "a process beside the run was killed"


def _texts(batch: Batch) -> Iterator[str]:
    text = batch.shown.decode(errors="replace")
    if found := CONTROLS.search(text):
        yield f"a control character is shown: {text[max(0, found.start() - 200) : found.end() + 20]!r}"
    output, _, _ = text.partition("\n{\n")
    if longest := next((line for line in output.splitlines() if len(line) > LONGEST_LINE), None):
        yield f"a line of {len(longest)} characters is shown: {longest[:200]!r}"

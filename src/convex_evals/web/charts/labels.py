"""Names beside points: each where it covers no point, no whisker and no other name, if there is such a place."""

from collections.abc import Iterator, Sequence
from typing import Final, NamedTuple

CHARACTER: Final = 6.4
LINE: Final = 13.0
BESIDE: Final = 9.0
FURTHEST: Final = 4
"""Lines above and below a point at which a place is looked for."""


class Box(NamedTuple):
    left: float
    top: float
    right: float
    bottom: float

    def shared(self, other: "Box") -> float:
        """The area that both cover."""
        width = min(self.right, other.right) - max(self.left, other.left)
        height = min(self.bottom, other.bottom) - max(self.top, other.top)
        return max(width, 0.0) * max(height, 0.0)


class Anchor(NamedTuple):
    """A name and the point it belongs to."""

    name: str
    x: float
    y: float


def place_names(anchors: Sequence[Anchor], obstacles: Sequence[Box], frame: Box) -> list[Box]:
    """A box for each name, in the order given. Boxes stay inside the frame."""
    taken, found = list(obstacles), list[Box]()
    for anchor in anchors:
        best = min(_places(anchor, frame), key=lambda place: sum(map(place.shared, taken)))
        taken.append(best)
        found.append(best)
    return found


def _places(anchor: Anchor, frame: Box) -> Iterator[Box]:
    """The nearest first, right before left."""
    width = len(anchor.name) * CHARACTER
    for step in (0.0, *(sign * lines for lines in range(1, FURTHEST + 1) for sign in (-1.0, 1.0))):
        top = min(max(anchor.y - LINE / 2 + step * LINE, frame.top), frame.bottom - LINE)
        for left in (anchor.x + BESIDE, anchor.x - BESIDE - width):
            inside = min(max(left, frame.left), max(frame.right - width, frame.left))
            yield Box(inside, top, inside + width, top + LINE)

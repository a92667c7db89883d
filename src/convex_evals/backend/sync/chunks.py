"""Large Transitions, cut into pieces for clients that can join them."""

from collections.abc import Iterator

from convex_evals.backend.sync.server_messages import TransitionChunk

LARGEST_WHOLE = 5_000_000


def cut(transition: str, size: int = LARGEST_WHOLE) -> list[TransitionChunk]:
    """`transition` in pieces of at most `size` bytes, never splitting a character."""
    raw = transition.encode()
    pieces = list(_pieces(raw, size))
    return [TransitionChunk(piece, number, len(pieces), str(len(raw))) for number, piece in enumerate(pieces)]


def _pieces(raw: bytes, size: int) -> Iterator[str]:
    start = 0
    while start < len(raw):
        end = min(start + size, len(raw))
        while end < len(raw) and raw[end] & 0xC0 == 0x80:  # inside a UTF-8 character
            end -= 1
        yield raw[start:end].decode()
        start = end

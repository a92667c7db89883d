"""What models really write, turned into files; and files written the way models are asked to."""

from convex_evals.models.responses.blocks import read_block, read_fence, render_block
from convex_evals.models.responses.parser import ParsedResponse, cut_off, is_cut_off, parse_response

__all__ = [
    "ParsedResponse",
    "cut_off",
    "is_cut_off",
    "parse_response",
    "read_block",
    "read_fence",
    "render_block",
]

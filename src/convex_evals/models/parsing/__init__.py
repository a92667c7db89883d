"""What models really write, turned into files; and files written the way models are asked to."""

from convex_evals.models.parsing.parse import parse_response
from convex_evals.models.parsing.parsed import ParsedResponse
from convex_evals.models.parsing.render import render_block, render_files

__all__ = ["ParsedResponse", "parse_response", "render_block", "render_files"]

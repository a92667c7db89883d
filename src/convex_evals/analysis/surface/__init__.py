"""What the installed `convex` package offers, and what an answer uses that it does not."""

from convex_evals.analysis.surface.scopes import complained_symbols, snippet_symbols, unknown_symbols
from convex_evals.analysis.surface.surface import Member, Surface, read_surface

__all__ = ["Member", "Surface", "complained_symbols", "read_surface", "snippet_symbols", "unknown_symbols"]

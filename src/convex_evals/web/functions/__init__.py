"""Convex's function API, for the commands and clients of people who know the original."""

from convex_evals.web.functions.calls import functions

__all__ = ["functions"]

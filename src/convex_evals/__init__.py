"""Measures how well language models write Convex backends, and explains why they fail."""

__version__ = "0.1.0"

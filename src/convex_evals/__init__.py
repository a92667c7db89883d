"""Measures how well language models write Convex backends, and explains why they fail."""

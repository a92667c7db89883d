"""What is seen while a run works: a live table on a terminal, lines elsewhere, events for programs."""

from convex_evals.cli.progress.board import clock_time
from convex_evals.cli.progress.display import SHORT_STEPS, SIGNS, watching
from convex_evals.cli.progress.event_log import event_stream, logging_events

__all__ = ["SHORT_STEPS", "SIGNS", "clock_time", "event_stream", "logging_events", "watching"]

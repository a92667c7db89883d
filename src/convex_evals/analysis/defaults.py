"""Limits that commands state and the analysis keeps."""

from typing import Final

PROBE_SECONDS: Final = 12.0
"""For each failure: 19 of them are done in three minutes on two cores."""

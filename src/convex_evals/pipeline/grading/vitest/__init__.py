"""Graders of suites written elsewhere: vitest files, run as they are."""

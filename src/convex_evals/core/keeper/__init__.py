"""The process that starts programs for us and answers for everything they leave behind.

It runs apart from the main process (see docs/processes.md) on a bare interpreter, so this package
imports nothing but the standard library, and as little of that as it can.
"""

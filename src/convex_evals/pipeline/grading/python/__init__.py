"""Graders written in Python: pytest functions, run in processes forked from a warm one."""

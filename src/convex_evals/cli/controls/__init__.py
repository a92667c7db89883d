"""The command `controls` from beginning to end."""

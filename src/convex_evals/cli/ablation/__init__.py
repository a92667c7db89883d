"""The command `ablate` from beginning to end."""

"""The command `models`: which there are, and whether one can be asked."""

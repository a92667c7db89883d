"""Entry point of `convex-evals`."""

import sys


def main() -> None:
    sys.exit("convex-evals: the command line is being built")

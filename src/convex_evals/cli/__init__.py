"""The command line: `convex-evals`."""

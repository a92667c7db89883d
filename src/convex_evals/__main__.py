"""`python -m convex_evals` is `convex-evals`."""

from convex_evals.cli.main import main

main()

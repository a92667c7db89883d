"""One module per command. Only `typer` and light modules at the top; what a command needs is imported inside it."""

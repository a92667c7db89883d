"""The history of the tables, and what reads what earlier versions kept as text."""

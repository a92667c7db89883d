"""What Alembic runs. The connection, already inside a transaction, comes from `scores/schema.py`."""

from alembic import context

from convex_evals.scores.schema import VERSION_TABLE

context.configure(
    connection=context.config.attributes["connection"],
    version_table=VERSION_TABLE,
    render_as_batch=True,
)
with context.begin_transaction():
    context.run_migrations()

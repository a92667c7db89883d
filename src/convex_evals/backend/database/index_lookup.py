"""Finding an index by its name, with the texts for those that cannot be used."""

from convex_evals.backend.database.indexes import TableIndex
from convex_evals.backend.errors import DeveloperError


def split_index_name(full_name: str) -> tuple[str, str]:
    table, separator, name = full_name.partition(".")
    if not separator:
        raise DeveloperError(f"Invalid index name {full_name}: it must be a table and an index, joined by a period")
    return table, name


def index_not_found(table: str, index: str) -> DeveloperError:
    return DeveloperError(f"Index {table}.{index} not found.")


def check_usable(index: TableIndex) -> None:
    name = index.named.full_name
    if index.pending:
        raise DeveloperError(f"Index {name} is currently backfilling and not available to query yet.")
    if index.spec.staged:
        raise DeveloperError(f"Index {name} is currently staged and not available to query until it is enabled.")

"""How large and how deep a value is, as limits and usage figures count it."""

from convex_evals.backend.values.types import Value


def size_of(value: Value) -> int:
    if isinstance(value, str):
        return (len(value) if value.isascii() else len(value.encode())) + 2
    if isinstance(value, dict):
        size = 2 + len(value)
        for name, item in value.items():
            size += len(name) + size_of(item)
        return size
    if isinstance(value, list):
        return 2 + sum(map(size_of, value))
    if isinstance(value, bytes):
        return len(value) + 2
    return 1 if value is None or isinstance(value, bool) else 9


def nesting_of(value: Value) -> int:
    """0 for a scalar, else one more than the deepest child. Counts level by level, so no value is too deep for it."""
    nesting = 0
    level = [value] if isinstance(value, list | dict) else []
    while level:
        nesting += 1
        level = [child for container in level for child in _children(container) if isinstance(child, list | dict)]
    return nesting


def _children(container: list[Value] | dict[str, Value]) -> list[Value]:
    return container if isinstance(container, list) else list(container.values())


def format_size(size: int) -> str:
    """In binary units, with at most two decimals: `1.50 MiB`, `16 MiB`."""
    amount, unit = float(size), "B"
    for larger in ("KiB", "MiB", "GiB"):
        if amount < 1024:
            break
        amount, unit = amount / 1024, larger
    return f"{amount:.2f}".removesuffix(".00") + f" {unit}"

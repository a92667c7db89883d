"""A text that must not appear anywhere by accident."""

from typing import Final, NoReturn, Self

MASK: Final = "**********"


class Secret:
    """Holds a key or token. Only `reveal` gives the text; printing, formatting and logging give a mask."""

    __slots__ = ("__value",)

    def __init__(self, value: str) -> None:
        self.__value = value

    def reveal(self) -> str:
        return self.__value

    def __str__(self) -> str:
        return MASK

    def __repr__(self) -> str:
        return f"Secret('{MASK}')"

    def __format__(self, specification: str) -> str:
        return format(MASK, specification)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Secret):
            return NotImplemented
        return self.__value == other.__value

    def __hash__(self) -> int:
        return hash(self.__value)

    def __copy__(self) -> Self:
        return self

    def __deepcopy__(self, memo: object) -> Self:
        return self

    def __reduce_ex__(self, protocol: object) -> NoReturn:
        raise TypeError("a Secret cannot be pickled; send Settings.without_secrets() to other processes")

    def __getstate__(self) -> NoReturn:
        raise TypeError("a Secret has no state to show; call reveal() where the text is needed")

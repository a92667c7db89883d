"""Texts that must not appear anywhere by accident: keys, and the variables that hold them."""

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
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
        raise TypeError("a Secret does not show its state; call reveal() where the text is needed")


# The first variable that is set wins.
PROVIDER_VARIABLES: Final[Mapping[str, tuple[str, ...]]] = MappingProxyType(
    {
        "anthropic": ("ANTHROPIC_API_KEY",),
        "deepseek": ("DEEPSEEK_API_KEY",),
        "fireworks": ("FIREWORKS_API_KEY",),
        "google": ("GOOGLE_API_KEY", "GEMINI_API_KEY", "GOOGLE_GENERATIVE_AI_API_KEY"),
        "groq": ("GROQ_API_KEY",),
        "mistral": ("MISTRAL_API_KEY",),
        "moonshot": ("MOONSHOT_API_KEY",),
        "openai": ("OPENAI_API_KEY",),
        "openrouter": ("OPENROUTER_API_KEY",),
        "together": ("TOGETHER_API_KEY",),
        "xai": ("XAI_API_KEY",),
    }
)


_SUFFIX: Final = "_API_KEY"


def key_variables(provider: str) -> tuple[str, ...]:
    """The variables that may hold a provider's key. A user-defined provider has NAME_API_KEY."""
    return PROVIDER_VARIABLES.get(provider) or (f"{provider.upper().replace('-', '_')}{_SUFFIX}",)


def provider_of(variable: str) -> str | None:
    """The user-defined provider, with _ for -, whose key this variable would hold."""
    known = any(variable in variables for variables in PROVIDER_VARIABLES.values())
    name = variable.removesuffix(_SUFFIX)
    return name.lower() if name not in ("", variable) and variable.isupper() and not known else None


@dataclass(frozen=True, slots=True)
class ProviderKey:
    provider: str
    variable: str
    secret: Secret

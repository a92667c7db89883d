"""Ids of runs and everything else we store: 32 lower-case base-32 characters, random from the first."""

import secrets

ALPHABET = "0123456789abcdefghjkmnpqrstvwxyz"
LENGTH = 32
PREFIX_LENGTH = 8


def new_id() -> str:
    return "".join(secrets.choice(ALPHABET) for _ in range(LENGTH))


def is_id(text: str) -> bool:
    return len(text) == LENGTH and all(character in ALPHABET for character in text)


def prefix(identifier: str) -> str:
    """The part reports are named after."""
    return identifier[:PREFIX_LENGTH]

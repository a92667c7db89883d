"""Ids of runs and everything else we store: 32 random lower-case base-32 characters."""

import secrets

ALPHABET = "0123456789abcdefghjkmnpqrstvwxyz"
LENGTH = 32
PREFIX_LENGTH = 8


def new_id() -> str:
    return "".join(secrets.choice(ALPHABET) for _ in range(LENGTH))


def prefix(identifier: str) -> str:
    """The part reports are named after."""
    return identifier[:PREFIX_LENGTH]

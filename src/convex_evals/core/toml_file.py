"""TOML files that people write by hand: every mistake in one is one sentence that names the file and the place."""

import tomllib
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import date, datetime
from pathlib import Path
from typing import Any, NoReturn

from convex_evals.core.errors import UsageError


def read_toml(path: Path, text: str | None = None) -> "TomlTable":
    """The whole file as a table; `text` is what it says, if that is known already."""
    try:
        return TomlTable(path, "", tomllib.loads(path.read_text(encoding="utf-8") if text is None else text))
    except tomllib.TOMLDecodeError as error:
        raise UsageError(f"{path} is not valid TOML: {error}.") from error
    except UnicodeDecodeError as error:
        raise UsageError(f"{path} is not UTF-8 text.") from error
    except OSError as error:
        raise UsageError(f"{path} cannot be read: {error.strerror}.") from error


@dataclass(slots=True)
class TomlTable:
    """A table whose values are asked for by type. `finish` complains about keys that nobody asked for."""

    path: Path
    place: str  # where in the file: empty, or "[default]"
    values: dict[str, Any]
    _asked: set[str] = field(default_factory=set)

    def text(self, key: str) -> str | None:
        value = self._take(key)
        if value is not None and not (isinstance(value, str) and value.strip()):
            self._refuse(key, "a text that is not empty", value)
        return value

    def required_text(self, key: str) -> str:
        value = self.text(key)
        if value is None:
            raise UsageError(f"{self.where} needs {key!r}.")
        return value

    def one_of(self, key: str, choices: tuple[str, ...]) -> str | None:
        value = self._take(key)
        if value is not None and value not in choices:
            self._refuse(key, f"one of {', '.join(choices)}", value)
        return None if value is None else str(value)

    def flag(self, key: str) -> bool | None:
        value = self._take(key)
        if value is not None and not isinstance(value, bool):
            self._refuse(key, "true or false", value)
        return value

    def whole_number(self, key: str) -> int | None:
        value = self._take(key)
        if value is not None and (isinstance(value, bool) or not isinstance(value, int) or value < 1):
            self._refuse(key, "a whole number above 0", value)
        return value

    def amount(self, key: str) -> float | None:
        value = self._take(key)
        if value is not None and (isinstance(value, bool) or not isinstance(value, int | float) or value < 0):
            self._refuse(key, "a number that is not negative", value)
        return None if value is None else float(value)

    def day(self, key: str) -> date | None:
        value = self._take(key)
        if value is not None and (isinstance(value, datetime) or not isinstance(value, date)):
            self._refuse(key, "a day, as in 2026-11-15 without quotes", value)
        return value

    def texts(self, key: str) -> tuple[str, ...]:
        value = self._take(key)
        if value is not None and not (isinstance(value, list) and all(isinstance(each, str) for each in value)):
            self._refuse(key, 'a list of texts, as in ["frontier"]', value)
        return tuple(value or ())

    def table(self, key: str) -> "TomlTable | None":
        value = self._take(key)
        if value is not None and not isinstance(value, dict):
            self._refuse(key, "a table", value)
        return None if value is None else TomlTable(self.path, _join(self.place, key), value)

    def tables(self) -> "Iterator[tuple[str, TomlTable]]":
        """Every key with its table: for files that are tables and nothing else."""
        for key in self.values:
            found = self.table(key)
            assert found is not None
            yield key, found

    def list_of_tables(self, key: str) -> "list[TomlTable]":
        value = self._take(key)
        if value is not None and not (isinstance(value, list) and all(isinstance(each, dict) for each in value)):
            self._refuse(key, f"tables that begin with [[{key}]]", value)
        return [TomlTable(self.path, f"[[{key}]] number {n}", each) for n, each in enumerate(value or (), start=1)]

    def finish(self) -> None:
        unknown = sorted(self.values.keys() - self._asked)
        if unknown:
            known = ", ".join(sorted(self._asked))
            raise UsageError(f"{self.where} has the unknown key {unknown[0]!r}; it may have: {known}.")

    @property
    def where(self) -> str:
        return f"{self.path}, {self.place}," if self.place else f"{self.path}"

    def _take(self, key: str) -> Any:
        self._asked.add(key)
        return self.values.get(key)

    def _refuse(self, key: str, wanted: str, value: object) -> NoReturn:
        raise UsageError(f"{self.where} has {key} = {value!r}, which must be {wanted}.")


def _join(place: str, key: str) -> str:
    if place.startswith("[["):
        return f"{place}, {key}"
    return f"[{place.strip('[]')}.{key}]" if place else f"[{key}]"

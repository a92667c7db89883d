"""Which client is on the line, and what it can do."""

import re
from dataclasses import dataclass

SEMVER = re.compile(r"(\d+)\.(\d+)\.(\d+)(?:-[0-9A-Za-z.-]+)?(?:\+[0-9A-Za-z.-]+)?")
FIRST_WITH_CHUNKS = (1, 28, 0)


@dataclass(frozen=True, slots=True)
class ClientVersion:
    name: str = "unknown"
    number: tuple[int, int, int] = (0, 0, 0)

    @classmethod
    def of_path(cls, version: str) -> "ClientVersion":
        """npm clients put their version into the path: `/api/1.44.0/sync`."""
        return cls("npm", _number(version))

    @classmethod
    def of_header(cls, value: str | None) -> "ClientVersion":
        """Others send `Convex-Client: python-0.8.1`. The longest suffix that is a version wins."""
        header = value or ""
        for dash in re.finditer("-", header):
            version = header[dash.end() :]
            if SEMVER.fullmatch(version):
                return cls(header[: dash.start()].lower(), _number(version))
        return cls()

    @property
    def joins_chunks(self) -> bool:
        return self.name == "npm" and self.number >= FIRST_WITH_CHUNKS


def _number(version: str) -> tuple[int, int, int]:
    match = SEMVER.fullmatch(version)
    return (int(match[1]), int(match[2]), int(match[3])) if match else (0, 0, 0)

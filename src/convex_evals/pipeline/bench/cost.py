"""Wall and processor time."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Cost:
    wall_ms: float = 0.0
    cpu_ms: float = 0.0

    def __add__(self, other: "Cost") -> "Cost":
        return Cost(self.wall_ms + other.wall_ms, self.cpu_ms + other.cpu_ms)

    def to_json(self) -> dict[str, float]:
        return {"wallMs": round(self.wall_ms, 1), "cpuMs": round(self.cpu_ms, 1)}

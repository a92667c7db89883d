"""Scheduled functions and cron jobs."""

import json
from dataclasses import dataclass
from typing import Any, Literal

from convex_evals.pipeline.grading.kit.values import Int64, from_json

State = Literal["pending", "inProgress", "success", "failed", "canceled"]


@dataclass(frozen=True, slots=True)
class ScheduledFunction:
    """`function` is like `messages:send`; times are milliseconds since 1970."""

    id: str
    function: str
    args: dict[str, Any]
    state: State
    scheduled_for: float
    scheduled_at: float
    error: str | None

    @property
    def delay_ms(self) -> float:
        """How long after it was scheduled it was to run."""
        return self.scheduled_for - self.scheduled_at


@dataclass(frozen=True, slots=True)
class CronJob:
    """`schedule` is like `{"type": "interval", "seconds": 60}`; `runs` of it, oldest first, are statuses."""

    name: str
    function: str
    args: dict[str, Any]
    schedule: dict[str, Any]
    runs: tuple[str, ...]


def parse_scheduled(document: dict[str, Any]) -> ScheduledFunction:
    args = document["args"]
    return ScheduledFunction(
        id=document["_id"],
        function=function_name(document["name"]),
        args=args[0] if args else {},
        state=document["state"]["kind"],
        scheduled_for=document["scheduledTime"],
        scheduled_at=document["_creationTime"],
        error=document["state"].get("error"),
    )


def parse_cron(document: dict[str, Any], runs: list[dict[str, Any]]) -> CronJob:
    spec = document["cronSpec"]
    return CronJob(
        name=document["name"],
        function=function_name(spec["udfPath"]),
        args=_arguments(spec["udfArgs"]),
        schedule={name: _plain(part) for name, part in spec["cronSchedule"].items()},
        runs=tuple(run["status"]["type"] for run in runs if run["name"] == document["name"]),
    )


def function_name(path: str) -> str:
    """`messages.js:send` as graders write it."""
    module, _, name = path.rpartition(":")
    return f"{module.removesuffix('.js')}:{name}"


def _arguments(encoded: bytes) -> dict[str, Any]:
    given = from_json(json.loads(encoded))
    first: dict[str, Any] = given[0] if given else {}
    return first


def _plain(part: object) -> object:
    return int(part) if isinstance(part, Int64) else part

"""What the worker reports about an evaluated module (`runtime/js/analyze.mjs`), before any rule is applied to it."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Literal, cast

Json = Mapping[str, object]


@dataclass(frozen=True, slots=True)
class Thrown:
    """Code of the app threw. `text` is `Uncaught …` with its frames; `logs` are the console lines before it."""

    text: str
    logs: tuple[str, ...] = ()
    missing_variable: str | None = None  # the unset environment variable an auth config asked for

    @classmethod
    def parse(cls, json: Json) -> "Thrown":
        variable = json.get("missingVariable")
        logs = cast(Iterable[str], json.get("logs") or ())
        return cls(str(json["text"]), tuple(logs), None if variable is None else str(variable))


@dataclass(frozen=True, slots=True)
class Exported:
    """What calling an export method gave: exactly one field is set, or none when there is no such method."""

    text: str | None = None
    thrown: Thrown | None = None
    problem: Literal["notFunction", "notString"] | None = None

    @classmethod
    def parse(cls, json: Json | None) -> "Exported":
        if json is None:
            return cls()
        if "thrown" in json:
            return cls(thrown=Thrown.parse(_object(json["thrown"])))
        if "text" in json:
            return cls(text=str(json["text"]))
        return cls(problem="notString" if json["problem"] == "notString" else "notFunction")


@dataclass(frozen=True, slots=True)
class SourcePosition:
    line: int
    column: int

    @classmethod
    def parse(cls, json: object) -> "SourcePosition | None":
        if json is None:
            return None
        return cls(cast(int, _object(json)["line"]), cast(int, _object(json)["column"]))


@dataclass(frozen=True, slots=True)
class ExportFacts:
    """One export that carries at least one of the markers of a Convex function."""

    name: str
    markers: frozenset[str]
    args: Exported
    returns: Exported
    handler: Literal["absent", "function", "invalid"]
    callable: bool
    position: SourcePosition | None

    @classmethod
    def parse(cls, json: Json) -> "ExportFacts":
        return cls(
            name=str(json["name"]),
            markers=frozenset(cast(Iterable[str], json["markers"])),
            args=Exported.parse(_optional(json["args"])),
            returns=Exported.parse(_optional(json["returns"])),
            handler=cast(Literal["absent", "function", "invalid"], json["handler"]),
            callable=bool(json["callable"]),
            position=SourcePosition.parse(json["position"]),
        )


@dataclass(frozen=True, slots=True)
class RouteFacts:
    """One entry of `getRoutes()`. What is not a string is None."""

    is_entry: bool
    path: str | None
    method: str | None
    is_action: bool
    has_handler: bool
    position: SourcePosition | None

    @classmethod
    def parse(cls, json: Json) -> "RouteFacts":
        return cls(
            is_entry=bool(json["isEntry"]),
            path=cast(str | None, json["path"]),
            method=cast(str | None, json["method"]),
            is_action=bool(json["isAction"]),
            has_handler=bool(json["hasHandler"]),
            position=SourcePosition.parse(json["position"]),
        )


@dataclass(frozen=True, slots=True)
class RouterFacts:
    exported: bool
    is_router: bool
    has_routes: bool
    routes: tuple[RouteFacts, ...] | None  # None when `getRoutes()` did not return an array
    thrown: Thrown | None

    @classmethod
    def parse(cls, json: Json) -> "RouterFacts":
        routes = cast("list[Json] | None", json.get("routes"))
        thrown = _optional(json.get("thrown"))
        return cls(
            exported=bool(json["exported"]),
            is_router=bool(json.get("isRouter")),
            has_routes=bool(json.get("hasRoutes")),
            routes=None if routes is None else tuple(RouteFacts.parse(route) for route in routes),
            thrown=None if thrown is None else Thrown.parse(thrown),
        )


@dataclass(frozen=True, slots=True)
class CronsFacts:
    exported: bool
    is_crons: bool
    export: Exported  # empty when there is no `export` method

    @classmethod
    def parse(cls, json: Json) -> "CronsFacts":
        return cls(bool(json["exported"]), bool(json.get("isCrons")), Exported.parse(_optional(json.get("export"))))


@dataclass(frozen=True, slots=True)
class ModuleFacts:
    exports: tuple[ExportFacts, ...]
    router: RouterFacts | None  # of http.js
    crons: CronsFacts | None  # of crons.js

    @classmethod
    def parse(cls, json: Json) -> "ModuleFacts":
        exports = cast("list[Json]", json["exports"])
        router, crons = _optional(json.get("router")), _optional(json.get("crons"))
        return cls(
            exports=tuple(ExportFacts.parse(export) for export in exports),
            router=None if router is None else RouterFacts.parse(router),
            crons=None if crons is None else CronsFacts.parse(crons),
        )


def _object(json: object) -> Json:
    return cast(Json, json)


def _optional(json: object) -> Json | None:
    return cast("Json | None", json)

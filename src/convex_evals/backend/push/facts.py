"""What the worker reports about an evaluated module (`runtime/js/analyze.mjs`), before any rule is applied to it.

Every `parse` raises ProtocolError: a worker runs what was pushed, and may report anything."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final, Literal

from convex_evals.backend.runtime import Fields

Json = Mapping[str, Any]
Handler = Literal["absent", "function", "invalid"]
HANDLERS: Final[Mapping[str, Handler]] = {"absent": "absent", "function": "function"}
_FRAME: Final = re.compile(
    r"^ +at (?:.* \()?(?:\.{1,2}/)*+(?P<file>[^\s()]+):(?P<line>\d+):(?P<column>\d+)\)?$", re.MULTILINE
)


@dataclass(frozen=True, slots=True)
class SourcePlace:
    """`file` is relative to the project, like `convex/messages.ts`."""

    file: str
    line: int
    column: int


@dataclass(frozen=True, slots=True)
class Thrown:
    """Code of the app threw. `text` is `Uncaught …` with its frames; `logs` are the console lines before it."""

    text: str
    logs: tuple[str, ...] = ()
    missing_variable: str | None = None  # the unset environment variable an auth config asked for

    @classmethod
    def parse(cls, json: Json) -> "Thrown":
        fields = Fields(json)
        return cls(fields.text("text"), fields.texts("logs"), fields.optional_text("missingVariable"))

    @property
    def place(self) -> SourcePlace | None:
        """The innermost frame in the project's own code. JavaScript has its stack as text only."""
        frames = (match for match in _FRAME.finditer(self.text) if "node_modules/" not in match["file"])
        frame = next(frames, None)
        return SourcePlace(frame["file"], int(frame["line"]), int(frame["column"])) if frame else None


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
        fields = Fields(json)
        if fields.has("thrown"):
            return cls(thrown=Thrown.parse(json["thrown"]))
        if fields.has("text"):
            return cls(text=fields.text("text"))
        return cls(problem="notString" if fields.text("problem") == "notString" else "notFunction")


@dataclass(frozen=True, slots=True)
class SourcePosition:
    line: int
    column: int

    @classmethod
    def parse(cls, json: object) -> "SourcePosition | None":
        if json is None:
            return None
        return cls(Fields(json).integer("line"), Fields(json).integer("column"))


@dataclass(frozen=True, slots=True)
class ExportFacts:
    """One export that carries at least one of the markers of a Convex function."""

    name: str
    markers: frozenset[str]
    args: Exported
    returns: Exported
    handler: Handler
    callable: bool
    position: SourcePosition | None

    @classmethod
    def parse(cls, json: Json) -> "ExportFacts":
        fields = Fields(json)
        return cls(
            name=fields.text("name"),
            markers=frozenset(fields.texts("markers")),
            args=Exported.parse(json.get("args")),
            returns=Exported.parse(json.get("returns")),
            handler=HANDLERS.get(fields.text("handler"), "invalid"),
            callable=fields.flag("callable"),
            position=SourcePosition.parse(json.get("position")),
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
        fields = Fields(json)
        return cls(
            is_entry=fields.flag("isEntry"),
            path=fields.optional_text("path"),
            method=fields.optional_text("method"),
            is_action=fields.flag("isAction"),
            has_handler=fields.flag("hasHandler"),
            position=SourcePosition.parse(json.get("position")),
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
        fields = Fields(json)
        return cls(
            exported=fields.flag("exported"),
            is_router=fields.flag("isRouter"),
            has_routes=fields.flag("hasRoutes"),
            routes=tuple(map(RouteFacts.parse, fields.objects("routes"))) if fields.has("routes") else None,
            thrown=Thrown.parse(json["thrown"]) if fields.has("thrown") else None,
        )


@dataclass(frozen=True, slots=True)
class CronsFacts:
    exported: bool
    is_crons: bool
    export: Exported  # empty when there is no `export` method

    @classmethod
    def parse(cls, json: Json) -> "CronsFacts":
        fields = Fields(json)
        return cls(fields.flag("exported"), fields.flag("isCrons"), Exported.parse(json.get("export")))


@dataclass(frozen=True, slots=True)
class ModuleFacts:
    exports: tuple[ExportFacts, ...]
    router: RouterFacts | None  # of http.js
    crons: CronsFacts | None  # of crons.js

    @classmethod
    def parse(cls, json: Json) -> "ModuleFacts":
        fields = Fields(json)
        return cls(
            exports=tuple(map(ExportFacts.parse, fields.objects("exports"))),
            router=RouterFacts.parse(json["router"]) if fields.has("router") else None,
            crons=CronsFacts.parse(json["crons"]) if fields.has("crons") else None,
        )

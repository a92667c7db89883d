"""What a deployment declares: functions, routes and the schema; and whether two deployments declare the same."""

import json
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from convex_evals.pipeline.grading.kit.assertions import closest
from convex_evals.pipeline.grading.kit.errors import EvalBroken, Mismatch

if TYPE_CHECKING:
    from convex_evals.pipeline.grading.kit.deployment import Deployment

_NAMES = {"bigint": "int64"}


@dataclass(frozen=True, slots=True)
class Field:
    """`type` is the validator in the words of TypeScript, like `v.array(v.string())`."""

    type: str
    optional: bool

    def __str__(self) -> str:
        return f"v.optional({self.type})" if self.optional else self.type


def fields_of(validator: Any, what: str) -> dict[str, Field]:
    if not isinstance(validator, dict) or validator.get("type") != "object":
        raise AssertionError(f"{what} must be one object type, not {shown(validator)}")
    return {name: _field(entry) for name, entry in validator["value"].items()}


def shown(validator: Any) -> str:
    """As it stands in TypeScript. The order of fields and of union members is lost: equal validators, equal texts."""
    if validator is None:
        return "none"
    kind = validator["type"]
    match kind:
        case "object":
            entries = sorted(validator["value"].items())
            return "v.object({" + ", ".join(f"{name}: {_field(entry)}" for name, entry in entries) + "})"
        case "array":
            return f"v.array({shown(validator['value'])})"
        case "union":
            return f"v.union({', '.join(sorted(_members(validator)))})"
        case "record":
            return f"v.record({shown(validator['keys'])}, {_field(validator['values'])})"
        case "id":
            return f'v.id("{validator["tableName"]}")'
        case "literal":
            return f"v.literal({_literal(validator['value'])})"
        case _:
            return f"v.{_NAMES.get(kind, kind)}()"


def _members(union: dict[str, Any]) -> set[str]:
    """Unions in unions are one union."""
    members: set[str] = set()
    for member in union["value"]:
        members |= _members(member) if member["type"] == "union" else {shown(member)}
    return members


def _field(entry: dict[str, Any]) -> Field:
    return Field(shown(entry["fieldType"]), bool(entry.get("optional")))


def _literal(value: Any) -> str:
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    return repr(value) if isinstance(value, int) and not isinstance(value, bool) else json.dumps(value, sort_keys=True)


@dataclass(frozen=True, slots=True)
class FunctionSpec:
    """`name` is like `messages:list`; `args` and `returns` are validators as Convex writes them in JSON."""

    name: str
    kind: str  # "query", "mutation", "action"
    is_public: bool
    args: Any
    returns: Any

    def __str__(self) -> str:
        return f"a public {self.kind}" if self.is_public else f"an internal {self.kind}"

    @property
    def visibility(self) -> str:
        return "public" if self.is_public else "internal"

    @property
    def arguments(self) -> dict[str, Field]:
        return fields_of(self.args, f"the arguments of {self.name}")

    @property
    def has_args(self) -> bool:
        """Whether the arguments are validated at all."""
        return bool(self.args["type"] != "any")

    @property
    def returns_type(self) -> str | None:
        """The validator in the words of TypeScript; None without one."""
        return None if self.returns is None else shown(self.returns)


@dataclass(frozen=True, slots=True, order=True)
class Route:
    """An HTTP endpoint; the path of a prefix ends in `/*`."""

    method: str
    path: str


def parse_functions(spec: list[dict[str, Any]]) -> dict[str, FunctionSpec]:
    functions = [_function(entry) for entry in spec if entry["functionType"] != "HttpAction"]
    return {function.name: function for function in functions}


def parse_routes(spec: list[dict[str, Any]]) -> list[Route]:
    routes = [entry for entry in spec if entry["functionType"] == "HttpAction"]
    return sorted(Route(entry["method"], entry["path"]) for entry in routes)


def _function(entry: dict[str, Any]) -> FunctionSpec:
    module, _, name = entry["identifier"].rpartition(":")
    return FunctionSpec(
        name=f"{module.removesuffix('.js')}:{name}",
        kind=entry["functionType"].lower(),
        is_public=entry["visibility"]["kind"] == "public",
        args=entry["args"],
        returns=entry["returns"],
    )


@dataclass(frozen=True, slots=True)
class SearchIndex:
    search_field: str
    filter_fields: frozenset[str]


@dataclass(frozen=True, slots=True)
class VectorIndex:
    vector_field: str
    dimensions: int
    filter_fields: frozenset[str]


@dataclass(frozen=True, slots=True)
class Table:
    """`document_type` is the validator as Convex writes it in JSON; `indexes` map names to the declared fields."""

    name: str
    document_type: Any
    indexes: dict[str, list[str]]
    search_indexes: dict[str, SearchIndex]
    vector_indexes: dict[str, VectorIndex]

    @property
    def fields(self) -> dict[str, Field]:
        """The fields of documents; for tables of one object type only."""
        return fields_of(self.document_type, f"the documents of {self.name}")

    def has_index_on(self, *fields: str) -> bool:
        """Whether some index starts with these fields, in this order, whatever its name."""
        return any(tuple(index[: len(fields)]) == fields for index in self.indexes.values())


@dataclass(frozen=True, slots=True)
class Schema:
    tables: dict[str, Table]
    is_enforced: bool

    def table(self, name: str) -> Table:
        if name not in self.tables:
            raise AssertionError(f"the schema has no table {name}; {closest(name, self.tables)}")
        return self.tables[name]


def parse_schema(text: str | None) -> Schema:
    """A deployment without a schema has one without tables."""
    if text is None:
        return Schema({}, is_enforced=False)
    json_schema = json.loads(text)
    tables = [_table(entry) for entry in json_schema["tables"]]
    return Schema({table.name: table for table in tables}, json_schema.get("schemaValidation", True))


def _table(entry: dict[str, Any]) -> Table:
    return Table(
        name=entry["tableName"],
        document_type=entry.get("documentType"),
        indexes={index["indexDescriptor"]: _declared_fields(index) for index in entry.get("indexes", [])},
        search_indexes={
            index["indexDescriptor"]: SearchIndex(index["searchField"], frozenset(index.get("filterFields") or ()))
            for index in entry.get("searchIndexes", [])
        },
        vector_indexes={
            index["indexDescriptor"]: VectorIndex(
                index["vectorField"], int(index["dimensions"]), frozenset(index.get("filterFields") or ())
            )
            for index in entry.get("vectorIndexes", [])
        },
    )


def _declared_fields(index: dict[str, Any]) -> list[str]:
    """Without the field that Convex adds at the end of every index."""
    *fields, last = index["fields"]
    return fields if last == "_creationTime" else [*fields, last]


@dataclass(frozen=True, slots=True)
class _Problem:
    """Something is declared otherwise than in the answer; `hint` is what there is instead."""

    what: str
    expected: str
    received: str
    hint: str = ""
    on_lines: bool = False

    def __str__(self) -> str:
        if self.on_lines:
            return f"{self.what}\n  expected: {self.expected}\n  received: {self.received}"
        return f"{self.what}: expected {self.expected}, received {self.received}{self.hint}"


def same_function_spec(
    project: "Deployment",
    answer: "Deployment",
    functions: Collection[str] | None = None,
    *,
    returns: bool = False,
    exact: bool = False,
) -> None:
    """Kind, visibility and arguments must be those of the answer: of `functions`, or of all that are public there.

    `returns=True` compares return validators too; `exact=True` forbids further public functions.
    """
    received, expected = project.functions(), answer.functions()
    names = _wanted(functions, {name: spec for name, spec in expected.items() if spec.is_public}, expected)
    problems = [problem for name in names for problem in _function_problems(name, received, expected, returns)]
    if exact:
        surplus = sorted(name for name, spec in received.items() if spec.is_public and name not in names)
        problems += [_Problem(name, "nothing", str(received[name])) for name in surplus]
    _report("the functions differ from those of the task", problems)


def same_schema(
    project: "Deployment",
    answer: "Deployment",
    tables: Collection[str] | None = None,
    *,
    index_names: bool = True,
    exact: bool = False,
) -> None:
    """Fields and indexes must be those of the answer: of `tables`, or of all its tables.

    `index_names=False` compares what indexes cover, not what they are called; `exact=True` forbids further tables and
    indexes.
    """
    received, expected = project.schema().tables, answer.schema().tables
    names = _wanted(tables, expected, expected)
    problems = [problem for name in names for problem in _table_problems(name, received, expected, index_names, exact)]
    if exact:
        problems += [_Problem(name, "nothing", "a table") for name in sorted(received.keys() - expected.keys())]
    _report("the schema differs from that of the task", problems)


def _wanted(given: Collection[str] | None, default: Collection[str], known: Collection[str]) -> list[str]:
    names = list(default if given is None else given)
    for name in names:
        if name not in known:
            raise EvalBroken(f"the reference answer has no {name}; {closest(name, known)}")
    return names


def _report(headline: str, problems: list[_Problem]) -> None:
    if problems:
        message = "\n".join([headline, *map(str, problems)])
        raise Mismatch(message, problems[0].expected, problems[0].received)


def _function_problems(
    name: str, received: dict[str, FunctionSpec], expected: dict[str, FunctionSpec], returns: bool
) -> Iterator[_Problem]:
    wanted, found = expected[name], received.get(name)
    if found is None:
        yield _Problem(name, str(wanted), "nothing", f"; {closest(name, received)}")
        return
    yield from _differing(name, str(wanted), str(found))
    yield from _differing(f"{name} args", shown(wanted.args), shown(found.args))
    if returns:
        yield from _differing(f"{name} returns", shown(wanted.returns), shown(found.returns))


def _table_problems(
    name: str, received: dict[str, Table], expected: dict[str, Table], index_names: bool, exact: bool
) -> Iterator[_Problem]:
    wanted, found = expected[name], received.get(name)
    if found is None:
        yield _Problem(name, "a table", "nothing", f"; {closest(name, received)}")
        return
    yield from _differing(name, shown(wanted.document_type), shown(found.document_type))
    wanted_indexes, found_indexes = _indexes(wanted, index_names), _indexes(found, index_names)
    there = f"; there are: {', '.join(sorted(found_indexes)) or 'none'}"
    yield from (_Problem(name, index, "nothing", there) for index in wanted_indexes - found_indexes)
    if exact:
        yield from (_Problem(name, "nothing", index) for index in found_indexes - wanted_indexes)


def _indexes(table: Table, named: bool) -> set[str]:
    described = {f"index {name} ": f"on {', '.join(fields)}" for name, fields in table.indexes.items()}
    for name, search in table.search_indexes.items():
        described[f"search index {name} "] = f"on {search.search_field}, filtered by {sorted(search.filter_fields)}"
    for name, vector in table.vector_indexes.items():
        filters = sorted(vector.filter_fields)
        described[f"vector index {name} "] = f"on {vector.vector_field} ({vector.dimensions}), filtered by {filters}"
    if named:
        return {name + coverage for name, coverage in described.items()}
    return {f"{name.partition('index')[0]}index {coverage}" for name, coverage in described.items()}


def _differing(what: str, expected: str, received: str) -> Iterator[_Problem]:
    if expected != received:
        yield _Problem(what, expected, received, on_lines=True)

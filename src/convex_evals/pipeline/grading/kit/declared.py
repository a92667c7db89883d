"""Whether a project declares what the reference answer declares. Only for what the task dictates."""

from collections.abc import Collection, Iterator
from typing import TYPE_CHECKING

from convex_evals.pipeline.grading.kit.comparing import closest
from convex_evals.pipeline.grading.kit.errors import EvalBroken
from convex_evals.pipeline.grading.kit.functions import FunctionSpec
from convex_evals.pipeline.grading.kit.schema import Table
from convex_evals.pipeline.grading.kit.validators import shown

if TYPE_CHECKING:
    from convex_evals.pipeline.grading.kit.deployment import Deployment


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
        problems += [f"{name}: expected nothing, received {received[name]}" for name in surplus]
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
        problems += [
            f"{name}: expected nothing, received a table" for name in sorted(received.keys() - expected.keys())
        ]
    _report("the schema differs from that of the task", problems)


def _wanted(given: Collection[str] | None, default: Collection[str], known: Collection[str]) -> list[str]:
    names = list(default if given is None else given)
    for name in names:
        if name not in known:
            raise EvalBroken(f"the reference answer has no {name}; {closest(name, known)}")
    return names


def _report(headline: str, problems: list[str]) -> None:
    if problems:
        raise AssertionError("\n".join([headline, *problems]))


def _function_problems(
    name: str, received: dict[str, FunctionSpec], expected: dict[str, FunctionSpec], returns: bool
) -> Iterator[str]:
    wanted, found = expected[name], received.get(name)
    if found is None:
        yield f"{name}: expected {wanted}, received nothing; {closest(name, received)}"
        return
    yield from _differing(name, str(wanted), str(found))
    yield from _differing(f"{name} args", shown(wanted.args), shown(found.args))
    if returns:
        yield from _differing(f"{name} returns", shown(wanted.returns), shown(found.returns))


def _table_problems(
    name: str, received: dict[str, Table], expected: dict[str, Table], index_names: bool, exact: bool
) -> Iterator[str]:
    wanted, found = expected[name], received.get(name)
    if found is None:
        yield f"{name}: expected a table, received nothing; {closest(name, received)}"
        return
    yield from _differing(name, shown(wanted.document_type), shown(found.document_type))
    wanted_indexes, found_indexes = _indexes(wanted, index_names), _indexes(found, index_names)
    there = f"there are: {', '.join(sorted(found_indexes)) or 'none'}"
    yield from (f"{name}: expected {index}, received nothing; {there}" for index in wanted_indexes - found_indexes)
    if exact:
        yield from (f"{name}: expected nothing, received {index}" for index in found_indexes - wanted_indexes)


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


def _differing(what: str, expected: str, received: str) -> Iterator[str]:
    if expected != received:
        yield f"{what}\n  expected: {expected}\n  received: {received}"

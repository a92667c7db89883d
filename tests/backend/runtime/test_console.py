"""Log lines: how values look, and how many there may be."""

from pathlib import Path
from typing import Any

import orjson
import pytest

pytestmark = pytest.mark.asyncio(loop_scope="module")

# The types of conftest.py, which tests cannot import.
Stage = Any

VECTORS = orjson.loads((Path(__file__).parent / "vectors" / "inspect.json").read_bytes())


async def test_values_look_as_object_inspect_shows_them(stage: Stage) -> None:
    lines: dict[str, str] = {}
    for start in range(0, len(VECTORS), 25):
        part = VECTORS[start : start + 25]
        outcome = await stage.evaluate("".join(f"console.log({expression});\n" for expression, _ in part))
        assert outcome.failure is None, outcome.failure
        lines |= {part[n][0]: line.messages[0] for n, line in enumerate(outcome.log_lines)}
    expected = {expression: text[:32768] for expression, text in VECTORS}
    assert lines == expected


async def test_levels_and_separate_arguments(stage: Stage) -> None:
    body = """
        console.log('hi', {a: 1}); console.info(1); console.warn(2); console.error(3); console.debug('%s', 4);
        console.log();
    """
    outcome = await stage.evaluate(body)
    assert [line.text for line in outcome.log_lines] == [
        "[LOG] 'hi' {\n  a: 1\n}", "[INFO] 1", "[WARN] 2", "[ERROR] 3", "[DEBUG] '%s' 4", "[LOG] ",
    ]  # fmt: skip


async def test_nothing_else_is_on_the_console(stage: Stage) -> None:
    expected = ["debug", "error", "info", "log", "time", "timeEnd", "timeLog", "trace", "warn"]
    assert await stage.value("return Object.keys(console).sort();") == expected


async def test_timers_of_the_console(stage: Stage) -> None:
    body = """
        console.time('x'); console.time('x'); console.timeLog('x', 1); console.timeEnd('x'); console.timeEnd('x');
        console.time(); console.timeEnd();
    """
    outcome = await stage.evaluate(body)
    assert [line.text for line in outcome.log_lines] == [
        "[WARN] Timer 'x' already exists", "[INFO] x: 0ms 1", "[INFO] x: 0ms",
        "[WARN] Timer 'x' does not exist", "[INFO] default: 0ms",
    ]  # fmt: skip


async def test_300_lines_become_256_and_the_last_one_says_so(stage: Stage) -> None:
    outcome = await stage.evaluate("for (let i = 0; i < 300; i++) console.log(i);")
    assert len(outcome.log_lines) == 256
    assert outcome.log_lines[254].text == "[LOG] 254"
    assert outcome.log_lines[255].text == "[ERROR] Log overflow (maximum 256). Remaining log lines omitted."


async def test_256_lines_are_one_too_many(stage: Stage) -> None:
    outcome = await stage.evaluate("for (let i = 0; i < 255; i++) console.log(i);")
    assert outcome.log_lines[-1].text == "[LOG] 254"


async def test_a_long_line_is_cut(stage: Stage) -> None:
    (line,) = (await stage.evaluate("console.log('é'.repeat(30000), 'next');")).log_lines
    assert line.is_truncated
    assert sum(len(message.encode()) for message in line.messages) <= 32768
    assert line.text.endswith("é (truncated due to length)")


async def test_lines_written_before_a_failure_are_delivered(stage: Stage) -> None:
    outcome = await stage.evaluate("console.log('one'); throw new Error('x');")
    assert [line.text for line in outcome.log_lines] == ["[LOG] 'one'"]


async def test_lines_written_before_time_ran_out_are_delivered(stage: Stage) -> None:
    outcome = await stage.evaluate("console.log('one'); for (;;);", user_seconds=0.3)
    assert [line.text for line in outcome.log_lines] == ["[LOG] 'one'"]


async def test_lines_of_the_import_phase_come_first(stage: Stage) -> None:
    stage.deploy_source(
        "console.log('import'); export const f = { isQuery: true, invokeQuery: async () => (console.log('run'), '1') };"
    )
    for _ in range(2):
        assert [line.text for line in (await stage.run("test:f")).log_lines] == ["[LOG] 'import'", "[LOG] 'run'"]


async def test_an_object_that_cannot_be_rendered_fails_the_call_and_not_the_worker(stage: Stage) -> None:
    outcome = await stage.evaluate("console.log({ get a() { throw new Error('in getter'); } });")
    assert outcome.failure.message.startswith("Uncaught Error: in getter")

import asyncio
import os
import re
import resource
import signal
import socket
import sys
import time
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest
from tests.examples import exhaustively

from convex_evals.core.errors import ProcessError
from convex_evals.core.processes import Limits, ProcessResult, base_environment, run
from convex_evals.core.processes.execution import relayed
from convex_evals.core.processes.spawner import spawner

Python = Callable[..., Awaitable[ProcessResult]]
Shell = Callable[..., Awaitable[ProcessResult]]
IsAlive = Callable[[int], bool]
Until = Callable[..., Awaitable[None]]
linux_only = pytest.mark.skipif(sys.platform != "linux", reason="only Linux lets us adopt orphans")

# A grandchild that left both the process group and its parent, and ignores SIGTERM.
DAEMON = """
import os, signal, sys, time
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        open("daemon.pid.new", "w").write(str(os.getpid()))
        os.rename("daemon.pid.new", "daemon.pid")
        time.sleep(600)
    os._exit(0)
while not os.path.exists("daemon.pid"):
    time.sleep(0.005)
"""


def open_files() -> set[Path]:
    return set(Path("/proc/self/fd").iterdir())


def child_processes() -> list[str]:
    return Path(f"/proc/self/task/{os.getpid()}/children").read_text().split()


async def test_a_program_gets_its_arguments_verbatim_without_a_shell(tmp_path: Path) -> None:
    words = ["$HOME", "a b", "; rm -rf /", "", "*", "ü\udcff"]
    result = await run(["printf", "%s\\n", *words], cwd=tmp_path, timeout=60)
    assert result.output.read() == b"$HOME\na b\n; rm -rf /\n\n*\n\xc3\xbc\xff\n"
    assert result.ok
    assert result.ending == "exit code 0"


async def test_one_string_in_place_of_an_argument_list_is_a_type_error(tmp_path: Path) -> None:
    with pytest.raises(TypeError, match="list of strings"):
        await run("echo hello", cwd=tmp_path, timeout=60)


async def test_the_environment_is_empty_unless_given(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-secret")
    assert (await run(["env"], cwd=tmp_path, timeout=60)).output.read() == b""
    given = base_environment(tmp_path, {"EXTRA": "1"})
    printed = (await run(["env"], cwd=tmp_path, timeout=60, environment=given)).output.text.splitlines()
    assert sorted(printed) == sorted(f"{name}={value}" for name, value in given.items())


async def test_the_program_runs_in_its_working_folder(tmp_path: Path) -> None:
    await run(["touch", "here"], cwd=tmp_path, timeout=60)
    assert (tmp_path / "here").exists()


@pytest.mark.parametrize(
    ("source", "exit_code", "signal_number", "ending"),
    [
        ("raise SystemExit(0)", 0, None, "exit code 0"),
        ("raise SystemExit(3)", 3, None, "exit code 3"),
        ("import os; os._exit(255)", 255, None, "exit code 255"),
        ("import os; os.kill(os.getpid(), 11)", None, signal.SIGSEGV, "killed by SIGSEGV"),
        ("import os; os.kill(os.getpid(), 9)", None, signal.SIGKILL, "killed by SIGKILL"),
    ],
)
async def test_the_ending_is_an_exit_code_or_a_signal(
    python: Python, source: str, exit_code: int | None, signal_number: int | None, ending: str
) -> None:
    result = await python(source)
    assert (result.exit_code, result.signal, result.timed_out) == (exit_code, signal_number, False)
    assert result.ending == ending
    assert result.ok == (exit_code == 0)


async def test_signals_our_interpreter_ignores_have_their_usual_effect_in_the_program(shell: Shell) -> None:
    result = await shell("kill -PIPE $$; echo survived")
    assert result.signal == signal.SIGPIPE


async def test_a_program_that_outlives_its_time_is_stopped(python: Python) -> None:
    result = await python("import time; time.sleep(600)", timeout=0.2, grace=60)
    assert result.timed_out
    assert result.signal == signal.SIGTERM
    assert not result.ok
    assert re.fullmatch(r"stopped after [\d.]+ s", result.ending)
    assert 0.2 <= result.usage.wall < 60


async def test_a_program_that_handles_sigterm_may_clean_up(python: Python) -> None:
    farewell = "import signal, sys, time; signal.signal(15, lambda *_: (print('bye'), sys.exit(4))); time.sleep(600)"
    result = await python(farewell, timeout=3, grace=60)
    assert (result.exit_code, result.timed_out, result.output.text) == (4, True, "bye\n")


async def test_a_program_that_ignores_sigterm_is_killed_after_the_grace_period(python: Python) -> None:
    stubborn = "import signal, time; signal.signal(15, signal.SIG_IGN); print('deaf', flush=True); time.sleep(600)"
    result = await python(stubborn, timeout=3, grace=0.3)
    assert result.output.text == "deaf\n"
    assert (result.signal, result.timed_out) == (signal.SIGKILL, True)
    assert 3.3 <= result.usage.wall < 60


async def test_children_are_stopped_with_their_parent(shell: Shell, tmp_path: Path, is_alive: IsAlive) -> None:
    result = await shell("sleep 60 & echo $! > child.pid; trap '' TERM; wait; wait", timeout=3)
    assert result.timed_out
    assert not is_alive(int((tmp_path / "child.pid").read_text()))


async def test_what_a_finished_program_left_in_the_background_is_killed(
    shell: Shell, tmp_path: Path, is_alive: IsAlive
) -> None:
    result = await shell("sleep 600 & echo $! > child.pid", timeout=None)
    assert result.ok
    assert result.usage.wall < 60
    assert not is_alive(int((tmp_path / "child.pid").read_text()))


@linux_only
async def test_a_daemon_that_left_group_session_and_parent_is_killed_when_the_program_ends(
    python: Python, tmp_path: Path, is_alive: IsAlive
) -> None:
    result = await python(DAEMON)
    assert result.ok
    assert result.left_behind == 1
    assert not is_alive(int((tmp_path / "daemon.pid").read_text()))


@linux_only
async def test_a_daemon_is_killed_when_the_program_times_out(python: Python, tmp_path: Path, is_alive: IsAlive) -> None:
    result = await python(DAEMON + "\ntime.sleep(600)", timeout=4)
    assert result.timed_out
    assert not is_alive(int((tmp_path / "daemon.pid").read_text()))


@linux_only
async def test_cancelling_kills_the_whole_process_tree_before_the_cancellation_continues(
    python: Python, tmp_path: Path, is_alive: IsAlive, until: Until
) -> None:
    source = DAEMON + "\nopen('main.pid', 'w').write(str(os.getpid()))\ntime.sleep(600)"
    task = asyncio.ensure_future(python(source, timeout=None))
    await until(lambda: (tmp_path / "main.pid").exists() and (tmp_path / "main.pid").read_text() != "")
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert not is_alive(int((tmp_path / "daemon.pid").read_text()))
    assert not is_alive(int((tmp_path / "main.pid").read_text()))


async def test_a_second_cancellation_does_not_abandon_the_process_tree(
    shell: Shell, tmp_path: Path, is_alive: IsAlive, until: Until
) -> None:
    task = asyncio.ensure_future(shell("trap '' TERM; echo $$ > pid; while :; do sleep 0.1; done", grace=0.5))
    await until(lambda: (tmp_path / "pid").exists() and (tmp_path / "pid").read_text() != "")
    task.cancel()
    await asyncio.sleep(0.1)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert not is_alive(int((tmp_path / "pid").read_text()))


async def test_cancelling_right_after_the_start_leaves_nothing(shell: Shell, tmp_path: Path) -> None:
    task = asyncio.ensure_future(shell("sleep 0.3; echo alive > trace", grace=0.1))
    await asyncio.sleep(0)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    await asyncio.sleep(0.6)
    assert not (tmp_path / "trace").exists()


async def test_cancelling_while_the_program_starts_waits_for_its_end(
    shell: Shell, tmp_path: Path, is_alive: IsAlive
) -> None:
    pid = tmp_path / "pid"
    task = asyncio.ensure_future(shell("trap '' TERM; echo $$ > pid; while :; do sleep 0.1; done"))
    while not pid.exists() or not pid.read_text():
        await asyncio.sleep(0)
        time.sleep(0.2)  # noqa: ASYNC251 - the task is not to learn of the start
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert not is_alive(int(pid.read_text()))


@linux_only
async def test_programs_die_when_the_process_that_started_them_is_killed(
    tmp_path: Path, is_alive: IsAlive, until: Until
) -> None:
    source = f"""
import asyncio
from pathlib import Path
from convex_evals.core.processes import run
folder = Path({str(tmp_path)!r})
command = ["sh", "-c", "echo $$ > pid; exec sleep 600"]
asyncio.run(run(command, cwd=folder, timeout=None, grace=0.1, log=folder / "log"))
"""
    victim = await asyncio.create_subprocess_exec(sys.executable, "-c", source)
    await until(lambda: (tmp_path / "pid").exists() and (tmp_path / "pid").read_text() != "")
    victim.kill()
    await victim.wait()
    pid = int((tmp_path / "pid").read_text())
    await until(lambda: not is_alive(pid))


async def test_200_megabytes_of_output_are_complete_in_the_file_and_bounded_in_memory(tmp_path: Path) -> None:
    log = tmp_path / "big.log"
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    result = await run(
        ["sh", "-c", "echo first; head -c 200000000 /dev/zero; echo; echo last"], cwd=tmp_path, timeout=60, log=log
    )
    assert result.output.size == log.stat().st_size == 200_000_012
    assert result.output.path == log
    assert result.output.text.startswith("first\n")
    assert result.output.text.endswith("\nlast\n")
    assert f"{result.output.omitted} bytes left out, complete in {log}" in result.output.text
    assert len(result.output.head) + len(result.output.tail) <= 16_384
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 20_000  # kilobytes


async def test_a_program_that_never_reads_its_input_blocks_nobody(python: Python) -> None:
    result = await python("print('done')", stdin=b"x" * 5_000_000)
    assert result.output.text == "done\n"


async def test_input_arrives_completely(python: Python) -> None:
    result = await python("import sys; print(len(sys.stdin.buffer.read()))", stdin=b"\xff\0" * 1_000_000)
    assert result.output.text == "2000000\n"


async def test_without_input_a_program_reads_nothing(python: Python) -> None:
    assert (await python("import sys; print(repr(sys.stdin.read()))")).output.text == "''\n"


async def test_a_program_may_close_its_streams_and_continue(python: Python) -> None:
    result = await python("import os; os.write(1, b'early'); os.close(1); os.close(2); os.close(0); os._exit(7)")
    assert (result.exit_code, result.output.read()) == (7, b"early")


async def test_bytes_that_are_not_utf_8_are_kept_and_shown_as_replacements(shell: Shell) -> None:
    result = await shell(r"printf 'ok \377\376 ok'")
    assert result.output.read() == b"ok \xff\xfe ok"
    assert result.output.text == "ok \ufffd\ufffd ok"


async def test_standard_error_joins_the_output_in_order(shell: Shell) -> None:
    result = await shell("echo one; echo two >&2; echo three")
    assert result.output.text == "one\ntwo\nthree\n"
    assert result.errors is None


async def test_standard_error_can_have_its_own_file(tmp_path: Path) -> None:
    script = ["sh", "-c", "echo out; echo err >&2"]
    result = await run(script, cwd=tmp_path, timeout=60, log=tmp_path / "out", errors_log=tmp_path / "err")
    assert result.errors is not None
    assert (result.output.text, result.errors.text) == ("out\n", "err\n")
    assert (tmp_path / "out").read_text() == "out\n"
    assert (tmp_path / "err").read_text() == "err\n"
    again = await run(script, cwd=tmp_path, timeout=60, separate_errors=True)
    assert again.errors is not None
    assert (again.output.text, again.errors.text) == ("out\n", "err\n")


async def test_a_temporary_log_lives_as_long_as_its_output(shell: Shell) -> None:
    output = (await shell("echo hello")).output
    path = output.path
    assert path.read_text() == "hello\n"
    del output
    assert not path.exists()


async def test_usage_reports_wall_time_processor_time_and_peak_memory(python: Python) -> None:
    source = "import time\nx = bytearray(80_000_000)\nwhile time.process_time() < 0.3: pass\ntime.sleep(0.2)"
    usage = (await python(source)).usage
    assert 0.3 <= usage.cpu_user + usage.cpu_system == usage.cpu < 3
    assert usage.wall >= 0.5
    assert 80_000_000 < usage.peak_memory < 200_000_000


async def test_usage_counts_children_and_what_was_left_behind(shell: Shell) -> None:
    burn = f"{sys.executable} -I -S -c 'import time\nwhile time.process_time() < 0.3: pass'"
    assert (await shell(burn + "; true")).usage.cpu >= 0.3
    left_behind = f"({burn}; touch burnt; sleep 600) & while [ ! -e burnt ]; do sleep 0.05; done"
    assert (await shell(left_behind)).usage.cpu >= 0.3


async def test_peak_memory_is_the_programs_own_not_that_of_the_process_which_started_it(shell: Shell) -> None:
    ballast = bytearray(300_000_000)
    ballast[::4096] = b"x" * len(ballast[::4096])
    assert (await shell("true")).usage.peak_memory < 60_000_000


@pytest.mark.parametrize(
    ("limits", "source", "check"),
    [
        (
            Limits(cpu_seconds=1),
            "while True: pass",
            lambda result: result.signal in (signal.SIGXCPU, signal.SIGKILL),
        ),
        (
            Limits(file_size=1000),
            "import os\nprint(os.write(os.open('f', os.O_CREAT | os.O_WRONLY), b'x' * 5000))",
            lambda result: result.output.text == "1000\n",
        ),
        (
            Limits(file_size=1000),
            "import os, signal\nsignal.signal(signal.SIGXFSZ, signal.SIG_DFL)\n"
            "f = os.open('f', os.O_CREAT | os.O_WRONLY)\nwhile True: os.write(f, b'x' * 500)",
            lambda result: result.signal == signal.SIGXFSZ,
        ),
        (
            Limits(address_space=200_000_000),
            "bytearray(400_000_000)",
            lambda result: "MemoryError" in result.output.text,
        ),
        (
            Limits(data=100_000_000),
            "bytearray(400_000_000)",
            lambda result: "MemoryError" in result.output.text,
        ),
        (
            Limits(open_files=20),
            "import os\nfor _ in range(40): os.dup(0)",
            lambda result: "Too many open files" in result.output.text,
        ),
        (
            Limits(),
            "import resource\nprint(resource.getrlimit(resource.RLIMIT_CORE))",
            lambda result: result.output.text == "(0, 0)\n",
        ),
        (
            Limits(processes=123),
            "import resource\nprint(resource.getrlimit(resource.RLIMIT_NPROC))",
            lambda result: result.output.text == "(123, 123)\n",
        ),
    ],
)
async def test_limits_hold_in_the_program(
    python: Python, limits: Limits, source: str, check: Callable[[ProcessResult], bool]
) -> None:
    result = await python(source, limits=limits)
    assert check(result), (result, result.output.text)


def bad_starts(folder: Path) -> list[tuple[list[str], Path, dict[str, Any], str]]:
    (folder / "plain.txt").write_text("hello")
    (folder / "garbage").write_bytes(b"\x7fELFnonsense")
    (folder / "garbage").chmod(0o755)
    (folder / "orphan").write_text("#!/no/such/interpreter\n")
    (folder / "orphan").chmod(0o755)
    plain, garbage, orphan = (str(folder / name) for name in ("plain.txt", "garbage", "orphan"))
    return [
        (["no-such-program"], folder, {}, "The program 'no-such-program' was not found on PATH"),
        (["./missing"], folder, {}, "Cannot start './missing': there is no such file."),
        ([plain], folder, {}, f"Cannot start {plain!r}: the file is not executable for this user."),
        ([garbage], folder, {}, f"Cannot start {garbage!r}: the file is not a program this system can run."),
        ([orphan], folder, {}, f"Cannot start {orphan!r}: the interpreter it names in its first line does not exist."),
        (["true"], folder / "none", {}, f"the working folder {str(folder / 'none')!r} does not exist."),
        (["true"], folder / "plain.txt", {}, f"the working folder {plain!r} is not a folder."),
        ([], folder, {}, "the argument list is empty"),
        (["true", "a\0b"], folder, {}, "contains a zero byte"),
        (["true", "x" * 3_000_000], folder, {}, "longer than this system allows"),
        (["true"], folder, {"log": folder / "none" / "log"}, "cannot be written: No such file or directory."),
        (["true"], folder, {"limits": Limits(open_files=2**40)}, "lower them to what this machine allows"),
    ]


async def test_a_program_that_cannot_start_is_a_process_error_in_one_sentence(tmp_path: Path) -> None:
    for arguments, cwd, options, message in bad_starts(tmp_path):
        with pytest.raises(ProcessError) as caught:
            await run(arguments, cwd=cwd, timeout=60, **options)
        assert message in str(caught.value)
        assert "\n" not in str(caught.value)


async def test_a_program_given_by_a_relative_path_is_found_in_its_working_folder(tmp_path: Path) -> None:
    (tmp_path / "here").write_text("#!/bin/sh\necho here\n")
    (tmp_path / "here").chmod(0o755)
    assert (await run(["./here"], cwd=tmp_path, timeout=60)).output.text == "here\n"


async def test_the_program_sees_three_open_files_only(tmp_path: Path) -> None:
    leak = os.open("/dev/null", os.O_RDONLY)
    os.set_inheritable(leak, True)
    try:
        result = await run(["ls", "/dev/fd"], cwd=tmp_path, timeout=60)
    finally:
        os.close(leak)
    assert result.output.text.split() == ["0", "1", "2", "3"]  # 3 is the folder that ls is reading


@pytest.mark.slow
@linux_only
@pytest.mark.parametrize("each", [20, *exhaustively(250)])
async def test_hundreds_of_short_runs_leak_neither_files_nor_processes(tmp_path: Path, each: int) -> None:
    await run(["true"], cwd=tmp_path, timeout=60)
    before = open_files(), child_processes()  # the spawn server, and what other tests of this worker keep

    async def several(count: int) -> None:
        for _ in range(count):
            assert (await run(["true"], cwd=tmp_path, timeout=60)).ok

    await asyncio.gather(*(several(each) for _ in range(8)))
    assert (open_files(), child_processes()) == before


@linux_only
async def test_a_request_that_a_dying_spawn_server_never_read_is_made_again(tmp_path: Path) -> None:
    await run(["true"], cwd=tmp_path, timeout=60)
    assert spawner._server is not None
    server = spawner._server[0]
    os.kill(server, signal.SIGSTOP)
    waiting = asyncio.create_task(run(["echo", "made again"], cwd=tmp_path, timeout=60))
    await asyncio.sleep(0.1)
    os.kill(server, signal.SIGKILL)
    assert (await waiting).output.text == "made again\n"


@linux_only
async def test_a_killed_spawn_server_is_replaced(tmp_path: Path, is_alive: IsAlive, until: Until) -> None:
    await run(["true"], cwd=tmp_path, timeout=60)
    assert spawner._server is not None
    server = spawner._server[0]
    os.kill(server, signal.SIGKILL)
    await until(lambda: not is_alive(server))
    assert (await run(["true"], cwd=tmp_path, timeout=60)).ok


@linux_only
async def test_a_killed_supervisor_is_a_process_error_and_takes_its_program_along(
    shell: Shell, tmp_path: Path, is_alive: IsAlive, until: Until
) -> None:
    task = asyncio.ensure_future(shell("echo $$ $PPID > pids; exec sleep 600"))
    await until(lambda: (tmp_path / "pids").exists() and (tmp_path / "pids").read_text() != "")
    program, supervisor = map(int, (tmp_path / "pids").read_text().split())
    os.kill(supervisor, signal.SIGKILL)
    with pytest.raises(ProcessError, match="is gone, so how the program ended is unknown"):
        await task
    await until(lambda: not is_alive(program))


async def test_connections_that_are_open_when_the_block_ends_are_closed_without_a_word() -> None:
    complaints: list[dict[str, Any]] = []
    asyncio.get_running_loop().set_exception_handler(lambda _, context: complaints.append(context))
    inside = socket.create_server(("127.0.0.1", 0))

    async def echo(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while line := await reader.readline():
            writer.write(line)
        writer.close()

    async with await asyncio.start_server(echo, "127.0.0.1", 0) as server:
        async with relayed([inside], [server.sockets[0].getsockname()[1]]):
            reader, writer = await asyncio.open_connection(*inside.getsockname())
            writer.write(b"hello\n")
            assert await reader.readline() == b"hello\n"
        assert await reader.read() == b""
        writer.close()
        await writer.wait_closed()
    await asyncio.sleep(0)
    assert complaints == []

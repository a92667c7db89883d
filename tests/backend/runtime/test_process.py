"""Starting and losing workers."""

from pathlib import Path

import pytest

from convex_evals.backend.errors import WorkerLost
from convex_evals.backend.runtime import FunctionRuntime
from convex_evals.backend.runtime.process import WorkerDeath, WorkerProcess
from convex_evals.backend.runtime.program import WorkerCommand
from convex_evals.backend.runtime.protocol import BytesFrame, Message
from convex_evals.backend.runtime.sandbox import find_node
from convex_evals.core.supervisor import landlock_abi


class Silence:
    def received(self, message: Message | BytesFrame) -> None:
        raise AssertionError(message)

    def asked(self, question: Message) -> Message:
        raise AssertionError(question)

    def died(self, death: WorkerDeath) -> None:
        pass


async def test_a_node_that_is_not_there_is_reported(tmp_path: Path) -> None:
    runtime = FunctionRuntime(node=tmp_path / "node")
    with pytest.raises(WorkerLost, match="there is no such file"):
        await runtime.start()
    await runtime.stop()


async def test_a_worker_that_ends_before_it_is_ready_says_why(tmp_path: Path) -> None:
    script = tmp_path / "worker.mjs"
    script.write_text("throw new Error('broken installation');")
    with pytest.raises(WorkerLost, match="broken installation"):
        await WorkerProcess.start(WorkerCommand(find_node(), (), script, tmp_path), Silence())


@pytest.mark.skipif(landlock_abi() == 0, reason="this kernel has no Landlock")
async def test_the_kernel_confines_a_worker_even_if_node_does_not(
    tmp_path: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    secret = tmp_path_factory.mktemp("elsewhere") / "secret"
    secret.write_text("secret")
    script, new = tmp_path / "worker.mjs", tmp_path / "new"
    script.write_text(
        "import { readFileSync, writeFileSync } from 'node:fs';"
        f"try {{ readFileSync({str(secret)!r}) }} catch (error) {{ console.error('reading', error.code) }}"
        f"try {{ writeFileSync({str(new)!r}, '') }} catch (error) {{ console.error('writing', error.code) }}"
        "console.error(readFileSync('/proc/self/status', 'utf8').match(/CapEff.*/)[0]);"
    )
    with pytest.raises(WorkerLost, match=r"reading EACCES\s+writing EACCES\s+CapEff:\s+0+$"):
        await WorkerProcess.start(WorkerCommand(find_node(), (), script, tmp_path), Silence())


@pytest.mark.parametrize(
    ("output", "was_memory"),
    [
        ("FATAL ERROR: Reached heap limit Allocation failed - JavaScript heap out of memory", True),
        ("#\n# Fatal process out of memory: Zone\n#", True),
        ("Error: boom", False),
        ("", False),
    ],
)
def test_the_reason_of_a_death_is_read_from_its_last_words(output: str, was_memory: bool) -> None:
    assert WorkerDeath(-6, output).was_memory is was_memory

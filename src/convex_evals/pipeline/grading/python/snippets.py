"""Compiles code of a grader with what the model wrote, by the rules of the step `tsc`.

What is sent: `{name: text}`; what comes back: a `TypeCheckReply`. The files have names that nothing could know.
"""

import secrets
from collections import defaultdict
from collections.abc import Mapping
from typing import Final

from convex_evals.core.errors import ProcessError
from convex_evals.core.processes import LIBRARIES, Confinement, ProcessResult, run
from convex_evals.pipeline.grading.runner import GraderRequest
from convex_evals.pipeline.grading.types import TypeCheckReply
from convex_evals.pipeline.tools import LIMITS, TOOL_SECONDS, Tools, linked_packages, tool_environment
from convex_evals.pipeline.typecheck import CheckedCopy, compiler_command, make_checked_copy, parse_diagnostics

_LENIENT: Final = ("--noUnusedLocals", "false", "--noUnusedParameters", "false")  # snippets declare to show a type


async def check_snippets(
    snippets: Mapping[str, str], request: GraderRequest, tools: Tools, ended: list[ProcessResult]
) -> TypeCheckReply:
    """What ran is added to `ended`."""
    checked = make_checked_copy(request.files, request.private / f"types-{secrets.token_hex(4)}")
    area = checked.areas[0].folder
    names = {f"{area}/snippet_{secrets.token_hex(8)}.ts": name for name in snippets}
    for path, name in names.items():
        (checked.folder / path).write_text(snippets[name])
    try:
        result = await _compile(checked, request, tools)
    except ProcessError as error:
        return TypeCheckReply(crashed=str(error))
    ended.append(result)
    found = parse_diagnostics(result.output.read().decode(errors="replace"))
    if not result.ok and not found:
        return TypeCheckReply(crashed=f"tsc: {result.ending}")
    errors: dict[str, list[str]] = defaultdict(list)
    for each in found:
        if each.file in names:
            errors[names[each.file]].append(f"line {each.line}: {each.name}: {each.message}")
    return TypeCheckReply({name: tuple(errors[name]) for name in snippets})


async def _compile(checked: CheckedCopy, request: GraderRequest, tools: Tools) -> ProcessResult:
    command = compiler_command(tools.toolchain, request.options.compiler)
    home = checked.folder.with_name(f"{checked.folder.name}.home")
    home.mkdir()
    read = (checked.folder, tools.toolchain.packages.folder, *linked_packages(checked.folder, tools))
    return await run(
        [*command, "--project", f"./{checked.areas[0].folder}", *_LENIENT],
        cwd=checked.folder,
        timeout=TOOL_SECONDS,
        environment=tool_environment(home),
        limits=LIMITS,
        confinement=Confinement(
            read=tuple(path.resolve() for path in (*read, tools.toolchain.node.executable)),
            system=LIBRARIES,
            network="own",
            sockets="none",
            scratch=home.resolve(),
        ),
    )

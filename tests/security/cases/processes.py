"""Killing, watching and multiplying processes, and ending in unusual ways."""

from ..answers import fails, node_calls, node_pushes

TRIED = {
    "kills_a_neighbour": 'process.kill(@VICTIM@, "SIGKILL"); return "killed"',
    "kills_the_runner": 'process.kill(@RUNNER@, 0); return "the runner can be signalled"',
    "kills_by_number": (
        "const own = load('fs').readdirSync('/proc/self/task').map(Number); let hit = 0;"
        "for (let pid = 2; pid < 70000; pid++) if (!own.includes(pid)) { try { process.kill(pid, 0); hit = pid; } catch {} } return hit ? `can signal ${hit}` : undefined"
    ),
    "kills_from_a_shell": 'return run("/bin/sh", "-c", "kill -9 @VICTIM@ && echo killed")',
    "reads_every_environment": (
        'for (const pid of load("fs").readdirSync("/proc")) { try { const text = read(`/proc/${pid}/environ`);'
        'if (text.includes("API_KEY") || text.includes("canary")) return text; } catch {} }'
    ),
    "reads_every_command": (
        'for (const pid of load("fs").readdirSync("/proc")) { try { const text = read(`/proc/${pid}/cmdline`);'
        'if (text.includes("convex_evals")) return text; } catch {} }'
    ),
    "looks_for_keys_in_its_environment": (
        "return Object.entries(process.env).filter(([name, value]) => /KEY|TOKEN|SECRET/.test(name) || /canary/.test(value))"
        ".map(String).join() || undefined"
    ),
    "traces_a_neighbour": 'return run("/usr/bin/strace", "-p", "@VICTIM@", "-o", "/dev/null")',
    "makes_namespaces": 'return run("/usr/bin/unshare", "--user", "--map-root-user", "id")',
    "mounts": 'return run("/usr/bin/unshare", "-rm", "mount", "-t", "tmpfs", "tmpfs", "/mnt")',
    "uses_setuid_programs": 'return run("/usr/bin/su", "-c", "id")',
    "changes_user": 'process.setuid(0); process.setgid(0); load("fs").readFileSync("/etc/shadow"); return "is root"',
    "lowers_others_priority": 'load("os").setPriority(@VICTIM@, 19); return "changed a priority"',
}
"""What must simply not work."""

ENDS = {
    "aborts": "process.abort()",
    "kills_itself": 'process.kill(process.pid, "SIGKILL"); await new Promise(() => {})',
    "exits_with_success": "process.exit(0)",
    "exits_really": "process.reallyExit(0)",
    "exits_with_a_signal_code": "process.exit(137)",
    "segfaults": 'process.kill(process.pid, "SIGSEGV"); await new Promise(() => {})',
    "throws_later": 'setTimeout(() => { throw new Error("later"); }, 0); await new Promise(() => {})',
    "closes_all_files": (
        'for (let fd = 0; fd < 100; fd++) { try { load("fs").closeSync(fd); } catch {} } await new Promise(() => {})'
    ),
    "unplugs_the_process_object": (
        "for (const name of Reflect.ownKeys(process)) { try { process[name] = undefined; } catch {} } return 1"
    ),
    "breaks_promises": "Promise.prototype.then = () => { throw 1; }; return 1",
}
"""What must fail the call, and nothing else."""

PUSHED_ENDS = {
    f"pushed_{name}": ENDS[name] for name in ("aborts", "kills_itself", "exits_with_success", "exits_really")
}
QUICK = ("kills_a_neighbour", "reads_every_environment", "makes_namespaces")
ANSWERS = [
    *node_calls(TRIED, quick=QUICK),
    *node_calls(ENDS, fails("tests"), quick=QUICK),
    *node_pushes(PUSHED_ENDS, fails("deploy", "tests"), quick=QUICK),
]

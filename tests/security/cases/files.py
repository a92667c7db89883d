"""Reading and writing what belongs to others, with the file functions of Node: when called and when pushed."""

from ..answers import node_calls, node_pushes

PATHS = {
    "ssh_key": "@HOME@/.ssh/id_ed25519",
    "env_file": "@HOME@/.env",
    "outside": "@OUTSIDE@/notes.txt",
    "shadow": "/etc/shadow",
    "runner_environment": "/proc/@RUNNER@/environ",
    "first_environment": "/proc/1/environ",
    "parent_memory": "/proc/@RUNNER@/maps",
    "scores": "@SCORES@/1.db",
    "disk": "/dev/vda",
    "kernel_memory": "/proc/kcore",
    "by_dots": "/proc/self/cwd/../../../../../../..@OUTSIDE@/notes.txt",
    "by_root_link": "/proc/self/root@OUTSIDE@/notes.txt",
}
READS = {f"reads_{name}": f'return read("{path}").slice(0, 300) || undefined' for name, path in PATHS.items()}
PUSHED_READS = {f"pushed_{name}": script for name, script in READS.items() if name in ("reads_ssh_key", "reads_scores")}

LISTS = {
    "lists_home": 'return load("fs").readdirSync("@HOME@").join()',
    "lists_scores": 'return load("fs").readdirSync("@SCORES@").join()',
    "lists_cached_answers": 'return load("fs").readdirSync("@CACHE@/pipeline/answers").join()',
    "finds_references": (
        'return load("fs").readdirSync("@BASE@", { recursive: true }).filter((name) => name.includes("answer"))[0]'
    ),
    "globs_for_keys": 'return load("fs").globSync("@HOME@/**/id_*").join() || undefined',
    "opens_sqlite": (
        'const { DatabaseSync } = load("sqlite"); const db = new DatabaseSync("@SCORES@/1.db");'
        'db.exec("create table if not exists evil (x)"); return "opened the scores"'
    ),
    "reads_through_a_child": 'return run("/bin/cat", "@HOME@/.ssh/id_ed25519")',
    "reads_through_a_shell": 'return run("/bin/sh", "-c", "cat @HOME@/.ssh/id_ed25519 @OUTSIDE@/notes.txt")',
    "reads_in_a_thread": (
        'const { Worker } = load("worker_threads");'
        "const code = `require('worker_threads').parentPort.postMessage("
        "require('fs').readFileSync('@HOME@/.ssh/id_ed25519', 'utf8'))`;"
        "return await within(2000, new Promise((done) => { const w = new Worker(code, { eval: true });"
        'w.on("message", done); w.on("error", () => done(undefined)); }))'
    ),
    "reads_with_a_native_module": (
        'process.dlopen({ exports: {} }, "/lib/x86_64-linux-gnu/libc.so.6"); return "loaded a library"'
    ),
    "requires_a_file": 'return load("module").createRequire("/x.js")("@HOME@/secret.json").token',
    "imports_a_file": 'return (await import("@HOME@/secret.json", { with: { type: "json" } })).default.token',
    "embeds_a_blob": 'return await (await load("fs").openAsBlob("@HOME@/secret.txt")).text()',
    "takes_a_heap_snapshot": 'load("v8").writeHeapSnapshot("@OUTSIDE@/heap"); return "wrote a heap snapshot"',
    "writes_a_report": 'process.report.writeReport("@OUTSIDE@/report.json"); return "wrote a report"',
}

WRITES = {
    "overwrites_a_file": 'load("fs").writeFileSync("@OUTSIDE@/notes.txt", "gone"); return "wrote"',
    "adds_a_key": 'load("fs").appendFileSync("@HOME@/.ssh/authorized_keys", "evil"); return "wrote"',
    "deletes_home": 'load("fs").rmSync("@HOME@", { recursive: true, force: true }); return read("@HOME@/.env")',
    "poisons_the_cache": (
        'load("fs").mkdirSync("@CACHE@/pipeline/answers", { recursive: true });'
        'load("fs").writeFileSync("@CACHE@/pipeline/answers/evil", "x"); return "wrote"'
    ),
    "poisons_the_toolchain": (
        'const fs = load("fs"); for (const set of fs.readdirSync("@CACHE@/toolchain"))'
        'fs.appendFileSync(`@CACHE@/toolchain/${set}/node_modules/convex/package.json`, " "); return "wrote"'
    ),
    "replaces_itself": 'load("fs").writeFileSync(process.argv[1], ""); return "wrote the worker\'s program"',
    "plants_a_link": 'load("fs").symlinkSync("@HOME@", "/tmp/corpus-link"); return read("/tmp/corpus-link/.env")',
    "links_a_secret": (
        'load("fs").linkSync("@HOME@/.env", load("os").tmpdir() + "/env"); return read(load("os").tmpdir() + "/env")'
    ),
    "renames_the_scores": 'load("fs").renameSync("@SCORES@", "@SCORES@.bak"); return "moved"',
    "truncates_by_proc": (
        'const fs = load("fs"); let n; for (const fd of fs.readdirSync("/proc/@RUNNER@/fd"))'
        '{ fs.truncateSync(`/proc/@RUNNER@/fd/${fd}`); n = "truncated"; } return n'
    ),
    "writes_core_pattern": 'load("fs").writeFileSync("/proc/sys/kernel/core_pattern", "|/tmp/x"); return "wrote"',
    "chmods_home": 'load("fs").chmodSync("@HOME@", 0o777); load("fs").chmodSync("@HOME@/.env", 0); return "chmod"',
}

QUICK = ("reads_ssh_key", "poisons_the_cache")
ANSWERS = [
    *node_calls({**READS, **LISTS, **WRITES}, quick=QUICK),
    *node_pushes(PUSHED_READS),
    *node_pushes({f"pushed_{name}": script for name, script in list(WRITES.items())[:4]}),
]

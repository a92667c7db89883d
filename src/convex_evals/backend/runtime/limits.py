"""Limits of what functions and their workers may use, and the messages when they are exceeded.

`js/limits.mjs` has those that workers enforce themselves.
"""

from typing import Final

from convex_evals.core.files import MEBIBYTE

# Memory of a worker.
FUNCTIONS_HEAP_MB: Final = 160  # for all queries and mutations that run at the same time
ACTION_HEAP_MB: Final = 96
NODE_HEAP_MB: Final = 512
BUFFERS_MB: Final = 256  # array buffers, the stacks of threads, and what Node itself needs
OUT_OF_MEMORY: Final = "JavaScript execution ran out of memory (maximum memory usage: 64 MB)"

# Workers, files and connections.
MAX_ACTION_WORKERS: Final = 64
LARGEST_FILE_BYTES: Final = 64 * MEBIBYTE
OPEN_FILES: Final = 512
MOST_UNCLAIMED_CONNECTIONS: Final = 512
CONNECT_SECONDS: Final = 75.0

# Time.
EVALUATION_SECONDS: Final = 30.0  # for all modules that are evaluated at once
IMPORT_SECONDS: Final = 15.0  # for one module that waits
TOO_MANY_OPERATIONS: Final = "Your request timed out performing too many system operations."

# Log lines of one execution.
MAX_LOG_LINES: Final = 256
MAX_NODE_LOG_CHARACTERS: Final = 1_048_576
LOG_OVERFLOW: Final = f"Log overflow (maximum {MAX_LOG_LINES}). Remaining log lines omitted."
NODE_LOG_OVERFLOW: Final = "Log overflow (maximum 1M characters). Remaining log lines omitted."

# What a worker may send. Ours never come close: exceeding one of these is a ProtocolError.
LARGEST_FRAME_BYTES: Final = 65 * MEBIBYTE  # the largest file in one piece, and its message
MOST_CALLS: Final = 4096  # in one message
MOST_TASKS: Final = 2048  # at once; workers refuse their functions more than a thousand
MOST_RESPONSE_BYTES: Final = 20 * MEBIBYTE  # of an HTTP action
MOST_STORED_BYTES: Final = 128 * MEBIBYTE  # of files that wait to be stored


def timed_out(seconds: int) -> str:
    return f"Function execution timed out (maximum duration: {seconds}s)"

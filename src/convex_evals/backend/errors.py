"""The backend's errors. One tree:

BackendError
├── DeveloperError        the app's code did something wrong; thrown into it, or returned as a function error (HTTP 200)
│   └── ConvexError       the same, carrying data that reaches the client
├── RequestError          the request itself was refused: an HTTP status with {"code", "message"}
├── Conflict              a commit lost to another one (optimistic concurrency control); retried
└── SystemFailure         our own failure: HTTP 500, never the app's fault
    └── WorkerLost        the function worker could not be started, or was stopped with its deployment
        └── WorkerCrashed     it died while running this call
            └── Interrupted   or was asked to end it, because it took too long
"""


class BackendError(Exception):
    pass


class DeveloperError(BackendError):
    """`message` is the developer text without the `[Request ID: …] Server Error` line."""

    def __init__(self, message: str) -> None:
        super().__init__(message)
        self.message = message


class ConvexError(DeveloperError):
    """`data` is the Convex JSON text of the error's data."""

    def __init__(self, message: str, data: str) -> None:
        super().__init__(message)
        self.data = data


class RequestError(BackendError):
    def __init__(self, status: int, code: str, message: str) -> None:
        super().__init__(f"{status} {code}: {message}")
        self.status = status
        self.code = code
        self.message = message


class Conflict(BackendError):
    """Another commit changed what this transaction had read."""

    def __init__(self, table: str, document_id: str | None = None, source: str | None = None) -> None:
        super().__init__(f'the "{table}" table changed while this transaction was running')
        self.table = table
        self.document_id = document_id
        self.source = source


class SystemFailure(BackendError):
    pass


class WorkerLost(SystemFailure):
    pass


class WorkerCrashed(WorkerLost):
    pass


class Interrupted(WorkerCrashed):
    pass

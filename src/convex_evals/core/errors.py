"""The errors a user may meet. One tree, drawn once:

ConvexEvalsError                one sentence for the user; never a traceback
├── UsageError          exit 2  the command, an option or a file was wrong
│   ├── SettingsError           a setting has a value it cannot have
│   ├── ConflictError           a record is not what is recorded under its name already
│   ├── IncompleteError         a record refers to another one that is missing
│   ├── LeaseError              another runner records this run
│   ├── OutdatedError           a server is older than what is sent to it
│   └── SuiteError              an eval or a suite folder is broken
└── InfrastructureError exit 3  this machine, the network or a tool failed: there is no verdict
    ├── MissingExtraError       an optional dependency is not installed
    ├── ProcessError            a program could not be started
    │   └── ProcessLimitError   this machine has no room for another process
    ├── SandboxError            this machine cannot confine answers
    └── ToolchainError          Node or the JavaScript toolchain is not usable
"""


class ConvexEvalsError(Exception):
    """Says in one sentence what was expected, what was found and what to do."""

    exit_code = 1


class UsageError(ConvexEvalsError):
    exit_code = 2


class SettingsError(UsageError):
    pass


class ConflictError(UsageError):
    pass


class IncompleteError(UsageError):
    pass


class LeaseError(UsageError):
    pass


class OutdatedError(UsageError):
    pass


class SuiteError(UsageError):
    pass


class InfrastructureError(ConvexEvalsError):
    exit_code = 3


class MissingExtraError(InfrastructureError):
    pass


class ProcessError(InfrastructureError):
    pass


class ProcessLimitError(ProcessError):
    pass


class SandboxError(InfrastructureError):
    pass


class ToolchainError(InfrastructureError):
    pass

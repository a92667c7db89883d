"""Why a model of a provider did not answer. None of it is the model's fault:

InfrastructureError
└── ProviderError               generation-failed   no usable answer came; asking again may help
    ├── BusyError                                   the provider is overloaded or limits our rate
    ├── OutageError                                 the provider failed, or the connection to it
    ├── DeadlineError           generation-timeout  the answer was not complete in time
    ├── RequestRefusedError     generation-refused  the provider refuses this request; asking again cannot help
    └── ModelUnusableError      model-unusable      key, account or name of the model: no request can succeed

The second column is the kind of failure (`pipeline/failures.py`) that the runner records.
"""

from collections.abc import Iterable
from typing import ClassVar

from convex_evals.core.errors import InfrastructureError
from convex_evals.scores import Usage


class ProviderError(InfrastructureError):
    """`retry_after` is how many seconds the provider asks us to wait, if it does.

    With `ends_run` the model is not asked anything else: its run ends, and can be resumed. `usages` has one for each
    try that is paid for although its answer is of no use; it says nothing where the provider did not.
    """

    failure: ClassVar[str] = "generation-failed"
    retried: ClassVar[bool] = True

    def __init__(
        self,
        message: str,
        retry_after: float | None = None,
        *,
        ends_run: bool = False,
        usages: Iterable[Usage] = (),
    ) -> None:
        super().__init__(message)
        self.retry_after = retry_after
        self.ends_run = ends_run
        self.usages = tuple(usages)


class BusyError(ProviderError):
    pass


class OutageError(ProviderError):
    pass


class DeadlineError(ProviderError):
    failure = "generation-timeout"
    retried = False


class RequestRefusedError(ProviderError):
    failure = "generation-refused"
    retried = False


class ModelUnusableError(ProviderError):
    """Ends the run of the model at once; the rest of it can be resumed when the cause is fixed."""

    failure = "model-unusable"
    retried = False

    def __init__(self, message: str) -> None:
        super().__init__(message, ends_run=True)

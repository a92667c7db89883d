"""What a grader asks of the process that grades: to run a program that it may not run itself."""

import json
import socket
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from convex_evals.pipeline.grading.kit.transport import Clock

PATIENCE_SECONDS: Final = 600.0  # longer than any program may take, so that its own limit decides


@dataclass(frozen=True, slots=True)
class Service:
    """`socket` takes one JSON text and answers with another. The clock of the test stands still meanwhile."""

    socket: Path
    clock: Clock

    def ask(self, request: str) -> Any:
        with self.clock.stopped(), socket.socket(socket.AF_UNIX) as connection:
            connection.settimeout(PATIENCE_SECONDS)
            connection.connect(str(self.socket))
            connection.sendall(request.encode())
            connection.shutdown(socket.SHUT_WR)
            with connection.makefile("rb") as reply:
                return json.loads(reply.read())

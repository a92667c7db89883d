"""The fixture `type_checks`: code of the grader's, compiled with what the model wrote."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field

from convex_evals.core.plain import from_plain
from convex_evals.pipeline.grading.kit.errors import ToolCrashed
from convex_evals.pipeline.grading.kit.service import Service
from convex_evals.pipeline.grading.types import TypeCheckReply


@dataclass
class TypeChecks:
    service: Service
    _known: dict[str, dict[str, tuple[str, ...]]] = field(default_factory=dict)

    def errors(self, snippets: Mapping[str, str]) -> dict[str, tuple[str, ...]]:
        """What the compiler says about each, none for one that compiles. Each is a module of its own in the folder of
        the functions. All are compiled in one process, and asking for the same ones again costs nothing.
        """
        request = json.dumps(dict(snippets))
        if request not in self._known:
            reply = from_plain(TypeCheckReply, self.service.ask(request))
            if reply.crashed:
                raise ToolCrashed(reply.crashed)
            self._known[request] = reply.errors
        return self._known[request]

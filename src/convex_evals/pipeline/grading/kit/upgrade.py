"""The fixture `given`: a deployment of the given project that becomes one of the model's, with its data."""

import json
import time
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final

from convex_evals.pipeline.grading.kit.assertions import show
from convex_evals.pipeline.grading.kit.deployment import Deployment
from convex_evals.pipeline.grading.kit.errors import EvalBroken, Refused
from convex_evals.pipeline.grading.kit.patience import PATIENCE
from convex_evals.pipeline.grading.kit.transport import Transport

PATIENCE_SECONDS: Final = 20.0
POLL_SECONDS: Final = 0.05


@dataclass(frozen=True)
class GivenDeployment(Deployment):
    """At first, the given code runs on it; `upgrade` puts the model's in its place."""

    project_push: Path | None = None

    def upgrade(self) -> Deployment:
        """Deploys the model's project over the given one. Tables keep their documents, and open clients stay connected.

        Fails the test if the deployment does not accept the project, such as for documents that do not fit its schema.
        """
        assert self.project_push is not None
        transport = replace(self.transport, name="project")
        try:
            refused = push(transport, self.project_push)
        except Refused as error:
            refused = error.body
        if refused is not None:
            raise AssertionError(f"the project cannot be deployed over the given one and its documents: {refused}")
        return Deployment(transport)


def push_given(transport: Transport, request: Path) -> None:
    try:
        refused = push(transport, request)
    except Refused as error:
        refused = error.body
    if refused is not None:
        raise EvalBroken(f"the given files cannot be deployed: {refused}")


def push(transport: Transport, request: Path) -> str | None:
    """As the CLI does it. Why existing documents do not allow it, if they do not; raises Refused for other reasons."""
    body = {**json.loads(request.read_bytes()), "adminKey": transport.admin_key, "dryRun": False}
    started = transport.administer("/api/deploy2/start_push", body)
    status = _schema_status(transport, started)
    if status["type"] != "complete":
        return show(status.get("error") or status["type"])
    finish = {"adminKey": transport.admin_key, "startPush": started, "dryRun": False}
    transport.administer("/api/deploy2/finish_push", finish)
    return None


def _schema_status(transport: Transport, started: Mapping[str, Any]) -> dict[str, Any]:
    body = {"adminKey": transport.admin_key, "schemaChange": started["schemaChange"], "dryRun": False}
    deadline = PATIENCE.now() + transport.clock.allow(PATIENCE_SECONDS)
    while True:
        status: dict[str, Any] = transport.administer("/api/deploy2/wait_for_schema", body)
        if status["type"] != "inProgress" or PATIENCE.now() > deadline:
            return status
        time.sleep(POLL_SECONDS)

"""Pushes without a CLI: a few lines of JavaScript stand for the bundles."""

from collections.abc import AsyncIterator
from typing import Any

import orjson
import pytest

from convex_evals.backend.deployment import Deployment
from convex_evals.backend.push import PushRequest

REGISTERED = """
const registered = (kind, visibility, args) => Object.assign(() => null, {
  [`is${kind}`]: true, [`is${visibility}`]: true, _handler: () => null,
  exportArgs: () => JSON.stringify({ type: "object", value: args ?? {} }), exportReturns: () => "null",
  [`invoke${kind}`]: async () => "null",
});
"""


class Push:
    """What the CLI would send. Functions are named `Kind name`, as in `Query list`."""

    def __init__(self) -> None:
        self.modules: dict[str, str] = {}
        self.schema: str | None = None
        self.definition: dict[str, object] = {}
        self.components: dict[str, Push] = {}
        self.options: dict[str, object] = {}

    def module(self, path: str, *functions: str) -> "Push":
        lines = [f'export const {name} = registered("{kind}", "Public");' for kind, name in map(str.split, functions)]
        self.modules[path] = REGISTERED + "\n".join(lines)
        return self

    def source(self, path: str, text: str) -> "Push":
        self.modules[path] = text
        return self

    def tables(self, *tables: dict[str, object], validation: bool = True) -> "Push":
        text = orjson.dumps({"tables": tables, "schemaValidation": validation}).decode()
        self.schema = f"export default {{ export: () => {orjson.dumps(text).decode()} }};"
        return self

    def defines(self, **metadata: object) -> "Push":
        self.definition = metadata
        return self

    def component(self, path: str, component: "Push") -> "Push":
        component.definition = {"definitionType": {"type": "childComponent", "name": path}, **component.definition}
        self.components[path] = component
        return self

    def with_options(self, **options: object) -> "Push":
        self.options = options
        return self

    def request(self) -> PushRequest:
        components = [
            {"definitionPath": path, **component._json(), "functions": component._modules()}
            for path, component in self.components.items()
        ]
        app = {**self._json(), "changedModules": self._modules(), "dependencies": list(self.components)}
        return PushRequest.parse({"appDefinition": app, "componentDefinitions": components, **self.options})

    def _json(self) -> dict[str, object]:
        metadata = orjson.dumps(self.definition).decode()
        return {
            "definition": _module("convex.config.js", f"export default {{ export: () => ({metadata}) }};"),
            "dependencies": [],
            "schema": None if self.schema is None else _module("schema.js", self.schema),
            "udfServerVersion": "1.44.0",
        }

    def _modules(self) -> list[dict[str, str]]:
        return [_module(path, source) for path, source in self.modules.items()]


def _module(path: str, source: str) -> dict[str, str]:
    return {"path": path, "source": source, "environment": "isolate"}


@pytest.fixture
def new_push() -> type[Push]:
    return Push


@pytest.fixture
async def deployment() -> AsyncIterator[Deployment]:
    async with Deployment.start() as started:
        yield started


@pytest.fixture
def deploy(deployment: Deployment) -> Any:
    """Pushes from start to finish and returns the diff."""

    async def push(pushed: Push) -> Any:
        started = await deployment.pusher.start(pushed.request())
        status = await deployment.pusher.schema_status(started["schemaChange"])
        assert status == {"type": "complete"}
        return await deployment.pusher.finish(started, dry_run=False)

    return push

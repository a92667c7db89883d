"""The code and environment variables that workers ask for when they first need them."""

import contextlib
from collections import Counter, OrderedDict
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Final

from convex_evals.backend.deployed import Application, Module, NodePackage
from convex_evals.backend.errors import SystemFailure
from convex_evals.backend.runtime.protocol import Message

KEPT_APPLICATIONS: Final = 4
KEPT_ENVIRONMENTS: Final = 64


def missing_module(path: str) -> str:
    return f"Couldn't find JavaScript module '{path}'. Did you forget to run `npx convex dev`?"


@dataclass(frozen=True, slots=True)
class CodeBundle:
    """Modules that can import each other, and the clock and seed of their import phase."""

    modules: Mapping[str, Module] = field(hash=False)
    seed: bytes
    now_ms: int
    missing: Callable[[str], str] = missing_module  # the error of an import that finds nothing
    packages: tuple[NodePackage, ...] = ()


_GONE: Final = CodeBundle({}, bytes(32), 0)


def code_key(version: int, definition_path: str) -> str:
    return f"{version}/{definition_path}"


class CodeStore:
    def __init__(self) -> None:
        self._bundles: dict[str, CodeBundle] = {}
        self._applications: dict[int, list[str]] = {}  # oldest first
        self._users: Counter[int] = Counter()  # calls that run, by version
        self._environment_ids: OrderedDict[tuple[tuple[str, str], ...], str] = OrderedDict()
        self._environments: dict[str, dict[str, str]] = {}
        self._last_environment = 0

    def add(self, key: str, bundle: CodeBundle) -> None:
        self._bundles[key] = bundle

    def remove(self, key: str) -> None:
        del self._bundles[key]

    def bundle(self, key: str) -> CodeBundle:
        return self._bundles[key]

    def require(self, version: int, definition_path: str) -> str:
        """The key of code that is loaded. Raises SystemFailure."""
        key = code_key(version, definition_path)
        if key not in self._bundles:
            raise SystemFailure(f"version {version} of the application is not loaded")
        return key

    def add_application(self, application: Application) -> None:
        """The last few versions are kept, for calls that are about to begin."""
        self._applications[application.version] = self._add_definitions(application)
        self._forget_applications()

    @contextlib.contextmanager
    def used(self, version: int) -> Iterator[None]:
        """Calls finish with the code they began with: a version is kept while a call runs."""
        self._users[version] += 1
        try:
            yield
        finally:
            self._users -= Counter([version])  # drops what is down to zero
            self._forget_applications()

    def _forget_applications(self) -> None:
        for version in list(self._applications)[:-KEPT_APPLICATIONS]:
            if version not in self._users:
                for key in self._applications.pop(version):
                    self.remove(key)

    @contextlib.contextmanager
    def borrowed(self, application: Application) -> Iterator[None]:
        """Code that is kept for as long as the block lasts."""
        keys = self._add_definitions(application)
        try:
            yield
        finally:
            for key in keys:
                self.remove(key)

    def _add_definitions(self, application: Application) -> list[str]:
        config = application.udf_config
        keys = []
        for definition in application.definitions.values():
            key = code_key(application.version, definition.path)
            seed, now_ms = config.import_phase_seed, config.import_phase_ms
            self.add(key, CodeBundle(definition.modules, seed, now_ms, packages=application.node_packages))
            keys.append(key)
        return keys

    def environment_id(self, variables: Mapping[str, str]) -> str:
        """A short name under which workers can ask for these variables."""
        contents = tuple(sorted(variables.items()))
        known = self._environment_ids.get(contents)
        if known is None:
            self._last_environment += 1
            known = self._environment_ids[contents] = f"e{self._last_environment}"
            self._environments[known] = dict(contents)
        self._environment_ids.move_to_end(contents)
        if len(self._environment_ids) > KEPT_ENVIRONMENTS:
            _, forgotten = self._environment_ids.popitem(last=False)
            del self._environments[forgotten]
        return known

    def answer(self, question: Message) -> Message:
        match question["ask"]:
            case "code":
                bundle = self._bundle(question)
                return {"seed": bundle.seed.hex(), "now": bundle.now_ms}
            case "module":
                return self._module(self._bundle(question), question["path"], question["environment"])
            case "map":
                module = self._bundle(question).modules.get(question["path"])
                return {"map": module.source_map if module else None}
            case "env":
                return {"env": self._environments.get(question["env"], {})}
            case unknown:
                raise ValueError(f"unknown question {unknown!r}")

    def _bundle(self, question: Message) -> CodeBundle:
        """A worker may still ask for code that is gone; then it finds no modules."""
        return self._bundles.get(question["code"], _GONE)

    def _module(self, bundle: CodeBundle, path: str, environment: str) -> Message:
        module = bundle.modules.get(path)
        if module is None or module.environment != environment:
            return {"error": bundle.missing(path)}
        return {"source": module.source}

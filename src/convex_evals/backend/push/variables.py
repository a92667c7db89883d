"""Changing environment variables: a change must leave the deployed application as valid as it was."""

from collections.abc import Iterable, Mapping
from dataclasses import replace

from convex_evals.backend.database import Database
from convex_evals.backend.deployed import Application, CurrentApplication
from convex_evals.backend.environment import (
    CanonicalUrls,
    VariableChange,
    apply_changes,
    read_variables,
    write_variables,
)
from convex_evals.backend.errors import Conflict, RequestError
from convex_evals.backend.push.analysis import Analyzer, Variables
from convex_evals.backend.push.configs import Provider
from convex_evals.backend.push.definitions import Definition, check_variables
from convex_evals.backend.push.errors import refused
from convex_evals.backend.push.request import AUTH_CONFIG_PATH
from convex_evals.backend.push.storage import store_application

MAX_ATTEMPTS = 10
INVALID_AUTH = "This change would make the auth config invalid: "


class VariableUpdates:
    def __init__(
        self, database: Database, current: CurrentApplication, analyzer: Analyzer, urls: CanonicalUrls
    ) -> None:
        self._database = database
        self._current = current
        self._analyzer = analyzer
        self._urls = urls

    def all(self) -> dict[str, str]:
        return read_variables(self._database.begin())

    async def update(self, changes: Iterable[VariableChange]) -> None:
        """All of the changes or none. Raises RequestError."""
        changes = list(changes)
        for _ in range(MAX_ATTEMPTS):
            try:
                return await self._update(changes)
            except Conflict:
                continue
        raise RequestError(503, "OptimisticConcurrencyControlFailure", "Environment variables kept changing.")

    async def _update(self, changes: list[VariableChange]) -> None:
        transaction = self._database.begin()
        transaction.depend_on_push()
        before = read_variables(transaction)
        after = apply_changes(before, changes)
        if after == before:
            return
        application = self._current.application
        write_variables(transaction, after)
        updated = None
        if application is not None:
            _check_declared(application, before, after)
            variables = Variables(after, self._urls.overridden(transaction).variables)
            updated = await self._with_providers(application, variables)
            if updated is not None:
                store_application(transaction, updated)
        self._database.commit(transaction)
        if updated is not None:
            self._current.replace(updated)

    async def _with_providers(self, application: Application, variables: Variables) -> Application | None:
        """The application with what its auth config says now; None when it says the same."""
        providers = await self._providers(application, variables)
        return None if providers == application.auth_providers else replace(application, auth_providers=providers)

    async def _providers(self, application: Application, variables: Variables) -> tuple[Provider, ...]:
        module = application.definitions[""].modules.get(AUTH_CONFIG_PATH)
        try:
            return await self._analyzer.auth_providers(module, application.udf_config, variables)
        except RequestError as error:
            raise refused(error.code, INVALID_AUTH + error.message) from error


def _check_declared(application: Application, before: Mapping[str, str], after: Mapping[str, str]) -> None:
    declared = Definition.parse(application.definitions[""].metadata).env
    for name, entry in declared.items():
        if name in before and name not in after and not entry.optional:
            raise refused(
                "RequiredEnvironmentVariable",
                f"Environment variable {name} is required by the deployed app and cannot be removed.",
            )
    check_variables({name: entry for name, entry in declared.items() if name in after}, after)

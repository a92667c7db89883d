"""Environment variables of a deployment."""

from dataclasses import dataclass

from convex_evals.pipeline.grading.kit.transport import Transport


@dataclass(frozen=True, slots=True)
class Environment:
    transport: Transport

    def set(self, **variables: str | None) -> None:
        """None removes a variable. All are removed after the test."""
        changes = [{"name": name, "value": value} for name, value in variables.items()]
        self.transport.administer("/api/update_environment_variables", {"changes": changes})

    def all(self) -> dict[str, str]:
        rows = self.transport.system("query", "frontend/listEnvironmentVariables")
        return {row["name"]: row["value"] for row in rows}

    def clear(self) -> None:
        names = self.all()
        if names:
            self.set(**dict.fromkeys(names))

"""Where the deployment can be reached: its own ports, unless an administrator said otherwise."""

from dataclasses import dataclass, replace
from typing import Final, Literal

from convex_evals.backend.database import Transaction

TABLE: Final = "_canonical_urls"

Destination = Literal["convexCloud", "convexSite"]


@dataclass(frozen=True, slots=True)
class CanonicalUrls:
    """Origins without a trailing slash; `CONVEX_CLOUD_URL` and `CONVEX_SITE_URL` of every function."""

    cloud: str
    site: str

    @property
    def variables(self) -> dict[str, str]:
        return {"CONVEX_CLOUD_URL": self.cloud, "CONVEX_SITE_URL": self.site}

    def overridden(self, transaction: Transaction) -> "CanonicalUrls":
        """These addresses, or the ones stored in their place."""
        rows = transaction.system.scan("", TABLE)
        stored = {row.value["requestDestination"]: str(row.value["url"]) for row in rows}
        return replace(self, cloud=stored.get("convexCloud", self.cloud), site=stored.get("convexSite", self.site))


def write_url(transaction: Transaction, destination: Destination, url: str | None) -> None:
    """Without a url the deployment's own address counts again."""
    for row in transaction.system.scan("", TABLE, "by_request_destination", [destination]):
        transaction.system.delete("", TABLE, row.id)
    if url is not None:
        transaction.system.insert("", TABLE, {"requestDestination": destination, "url": url.rstrip("/")})

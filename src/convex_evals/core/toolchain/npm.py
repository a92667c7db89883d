"""Calling npm, and what its errors mean."""

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from convex_evals.core.errors import ToolchainError
from convex_evals.core.processes import ProcessResult, base_environment, run
from convex_evals.core.processes.environment import SYSTEM_PATH
from convex_evals.core.settings import Settings
from convex_evals.core.toolchain.node import Node

INSTALL_TIMEOUT: Final = 900.0
# Said on the command line because the user's own .npmrc, which we need for registry and proxy, may say otherwise.
OPTIONS: Final = (
    "--ignore-scripts",
    "--no-audit",
    "--no-fund",
    "--no-update-notifier",
    "--no-progress",
    "--no-global",
    "--no-workspaces",
    "--no-dry-run",
    "--include=prod",
    "--include=dev",
    "--include=optional",
    "--include=peer",
    "--install-strategy=hoisted",
    "--package-lock=true",
    "--omit-lockfile-registry-resolved",
    "--fetch-retries=2",
    "--fetch-retry-mintimeout=1000",
    "--fetch-retry-maxtimeout=5000",
    "--fetch-timeout=60000",
    "--loglevel=error",
    "--logs-max=0",
    "--json",
)
_NETWORK: Final = "the package registry cannot be reached; check the network, proxy and npm's `registry` setting"
_CERTIFICATE: Final = (
    "the registry's certificate is not trusted; name your authority's file in NODE_EXTRA_CA_CERTS or npm's `cafile`"
)
_REFUSED: Final = "the package registry refuses access; log in with: npm login"
_REASONS: Final = {
    "ENOTFOUND": _NETWORK,
    "EAI_AGAIN": _NETWORK,
    "ECONNREFUSED": _NETWORK,
    "ECONNRESET": _NETWORK,
    "ECONNABORTED": _NETWORK,
    "EHOSTUNREACH": _NETWORK,
    "ENETUNREACH": _NETWORK,
    "ETIMEDOUT": _NETWORK,
    "ERR_SOCKET_TIMEOUT": _NETWORK,
    "EIDLETIMEOUT": _NETWORK,
    "ERESPONSETIMEOUT": _NETWORK,
    "ENOTCACHED": _NETWORK,
    "FETCH_ERROR": _NETWORK,
    "CERT_HAS_EXPIRED": _CERTIFICATE,
    "DEPTH_ZERO_SELF_SIGNED_CERT": _CERTIFICATE,
    "SELF_SIGNED_CERT_IN_CHAIN": _CERTIFICATE,
    "UNABLE_TO_GET_ISSUER_CERT_LOCALLY": _CERTIFICATE,
    "UNABLE_TO_VERIFY_LEAF_SIGNATURE": _CERTIFICATE,
    "E401": _REFUSED,
    "E403": _REFUSED,
    "ENEEDAUTH": _REFUSED,
    "E404": "the registry does not have one of the packages; check npm's `registry` setting",
    "ETARGET": "the registry does not have one of the versions asked for",
    "EINTEGRITY": "a downloaded package is not the locked one; empty the npm folder of the cache and try again",
    "EUSAGE": "package.json and package-lock.json do not belong together; write the lock file anew with: npm install",
    "ERESOLVE": "the packages' requirements contradict each other",
    "ENOSPC": "the disk is full; free some space or choose another folder with CONVEX_EVALS_CACHE",
    "EDQUOT": "the disk quota is used up; free some space or choose another folder with CONVEX_EVALS_CACHE",
    "EROFS": "the disk is read-only; choose another folder with CONVEX_EVALS_CACHE",
    "EACCES": "the folder is not writable; choose another one with CONVEX_EVALS_CACHE",
    "EPERM": "the folder is not writable; choose another one with CONVEX_EVALS_CACHE",
}


class NpmError(ToolchainError):
    """npm failed; `code` is npm's own word for why, if it gave one, `detail` its explanation, `result` all it said."""

    def __init__(self, message: str, code: str | None, detail: str = "", result: ProcessResult | None = None) -> None:
        super().__init__(message)
        self.code = code
        self.detail = detail
        self.result = result


async def npm(
    node: Node, settings: Settings, arguments: list[str], *, cwd: Path, timeout: float = INSTALL_TIMEOUT
) -> ProcessResult:
    """Runs npm with the user's registry settings; the result's output is npm's JSON."""
    environment = base_environment(settings.home, settings.network_environment(), path=f"{node.folder}:{SYSTEM_PATH}")
    cache = f"--cache={settings.cache_folder / 'npm'}"
    command = [str(node.executable), str(node.npm), *arguments, *OPTIONS, cache]
    return await run(command, cwd=cwd, timeout=timeout, environment=environment, separate_errors=True)


def npm_error(result: ProcessResult, purpose: str) -> NpmError:
    """The error for a failed call: what was to be done, why it failed, what to do."""
    if result.timed_out:
        return NpmError(f"{purpose} was {result.ending}; {_NETWORK}.", None, result=result)
    reported = _reported(result)
    code, summary = reported.code, reported.summary.partition("\n")[0].rstrip(".")
    reason = _REASONS.get(code or "") or summary or f"npm ended with {result.ending}"
    detail = f"{reported.summary}\n{reported.detail}".strip()
    return NpmError(f"{purpose} failed: {reason}{f' ({code})' if code else ''}.", code, detail, result)


@dataclass(frozen=True, slots=True)
class _Report:
    code: str | None
    summary: str
    detail: str


def _reported(result: ProcessResult) -> _Report:
    try:
        error = json.loads(result.output.read())["error"]
        return _Report(error.get("code"), str(error.get("summary", "")).strip(), str(error.get("detail", "")).strip())
    except (ValueError, KeyError, TypeError, AttributeError):  # npm died before it could write its report
        lines = (result.errors or result.output).text.strip().splitlines()
        return _Report(None, lines[0].removeprefix("npm error ") if lines else "", "")

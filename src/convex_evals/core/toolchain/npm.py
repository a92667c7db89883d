"""Calling npm, and what its errors mean."""

import json
import re
import signal
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final, Literal

from convex_evals.core.errors import ToolchainError
from convex_evals.core.files import MEBIBYTE
from convex_evals.core.processes import Confinement, Limits, ProcessResult, base_environment, run
from convex_evals.core.processes.confinement import SYSTEM_PATH
from convex_evals.core.settings import Settings
from convex_evals.core.toolchain.node import Node
from convex_evals.core.toolchain.registry_settings import RegistrySettings

_RESOLVE: Final = Path(__file__).with_name("resolve.cjs")
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
    # Only the registry: nothing is cloned, linked, or fetched from an address that a package names.
    "--allow-git=none",
    "--allow-remote=none",
    "--allow-file=none",
    "--allow-directory=none",
    "--git=/bin/false",
    "--script-shell=/bin/false",
)
LIMITS: Final = Limits(cpu_seconds=300, file_size=256 * MEBIBYTE, data=4096 * MEBIBYTE)
REFUSED: Final = "PACKAGE_REFUSED"
UNNAMED: Final = "EUNNAMED"  # npm reports an error for which it has no word
TOO_LARGE: Final = "PACKAGES_TOO_LARGE"
UNUSABLE: Final = "PACKAGES_UNUSABLE"
TIMED_OUT: Final = "INSTALLATION_TIMED_OUT"
# What npm and we say about packages: the same today and tomorrow, on this machine and others.
_ABOUT_PACKAGES: Final = frozenset(
    {
        *("E404", "ETARGET", "ENOVERSIONS", "ERESOLVE", "EBADPLATFORM"),
        *("EINVALIDPACKAGENAME", "EINVALIDTAGNAME", "EUNSUPPORTEDPROTOCOL"),
        *("EALLOWGIT", "EALLOWREMOTE", "EALLOWFILE", "EALLOWDIRECTORY"),
        *(REFUSED, TOO_LARGE, UNUSABLE),
    }
)
_PACKAGE: Final = re.compile(
    r"'(?P<missing>[^'\s]+)' is not in this registry|No matching version found for (?P<version>\S+?)\.?(?:\s|$)"
    r"|No versions available for (?P<name>\S+)|Unsupported platform for (?P<platform>[^\s:]+)"
)
Cause = Literal["registry", "access", "disk", "machine"]


@dataclass(frozen=True, slots=True)
class _Reason:
    """`cause` says what is to blame where packages cannot be."""

    text: str
    cause: Cause | None = None


_NETWORK: Final = _Reason(
    "the package registry cannot be reached; check the network, proxy and npm's `registry` setting", "registry"
)
_CERTIFICATE: Final = _Reason(
    "the registry's certificate is not trusted; name your authority's file in NODE_EXTRA_CA_CERTS or npm's `cafile`",
    "registry",
)
_TLS: Final = _Reason(
    "there is no secure connection to the package registry; check the proxy and npm's `registry` setting", "registry"
)
_OUTAGE: Final = _Reason("the package registry does not serve requests at the moment; try again later", "registry")
_REFUSED: Final = _Reason("the package registry refuses access; log in with: npm login", "access")
_FULL: Final = _Reason("the disk is full; free some space or choose another folder with CONVEX_EVALS_CACHE", "disk")
_UNWRITABLE: Final = _Reason("the folder is not writable; choose another one with CONVEX_EVALS_CACHE")
_FOREIGN: Final = _Reason("a package depends on something that is not in the registry")
_HTTP_STATUS: Final = re.compile(r"E[1-5]\d\d$")
# Many packages or odd ones can bring npm to EACCES, EPERM, EMFILE and ENOMEM, so these blame nothing.
_REASONS: Final = {
    **dict.fromkeys(("ENOTFOUND", "EAI_AGAIN", "ECONNREFUSED", "ECONNRESET", "ECONNABORTED", "EPIPE"), _NETWORK),
    **dict.fromkeys(("EHOSTUNREACH", "EHOSTDOWN", "ENETUNREACH", "ENETDOWN", "EADDRNOTAVAIL", "ENOBUFS"), _NETWORK),
    **dict.fromkeys(("ETIMEDOUT", "ERR_SOCKET_TIMEOUT", "EIDLETIMEOUT", "ERESPONSETIMEOUT", TIMED_OUT), _NETWORK),
    **dict.fromkeys(("ENOTCACHED", "FETCH_ERROR", "ERR_STREAM_PREMATURE_CLOSE"), _NETWORK),
    **dict.fromkeys(("E401", "E403", "E407", "ENEEDAUTH"), _REFUSED),
    "E404": _Reason("the registry does not have one of the packages; check npm's `registry` setting"),
    "E408": _OUTAGE,
    "E429": _OUTAGE,
    "ETARGET": _Reason("the registry does not have one of the versions asked for"),
    "EINTEGRITY": _Reason(
        "a downloaded package is not the locked one; empty the npm folder of the cache and try again", "registry"
    ),
    "EUSAGE": _Reason(
        "package.json and package-lock.json do not belong together; write the lock file again with: npm install"
    ),
    "ERESOLVE": _Reason("the packages' requirements contradict each other"),
    "ENOSPC": _FULL,
    "EDQUOT": replace(_FULL, text=_FULL.text.replace("disk is full", "disk quota is used up")),
    "EROFS": _Reason("the disk is read-only; choose another folder with CONVEX_EVALS_CACHE", "machine"),
    "EIO": _Reason("the disk cannot be read or written; choose another folder with CONVEX_EVALS_CACHE", "machine"),
    "EACCES": _UNWRITABLE,
    "EPERM": _UNWRITABLE,
    "EMFILE": _Reason("too many files are open; raise the limit with: ulimit -n"),
    "ENFILE": _Reason("too many files are open on this machine", "machine"),
    "ENOMEM": _Reason("there is not enough memory"),
    "EFBIG": _Reason("a file of the packages is larger than 256 MB"),
    **dict.fromkeys(("EALLOWGIT", "EALLOWREMOTE", "EALLOWFILE", "EALLOWDIRECTORY"), _FOREIGN),
}
# Node has dozens of such codes. A package cannot cause them: it is only ever asked for at the registry.
_FAMILIES: Final = (
    (re.compile(r"E5\d\d$"), _OUTAGE),
    (re.compile(r"HPE_"), _NETWORK),
    (re.compile(r"ERR_SSL_|ERR_TLS_(?!CERT)|EPROTO$"), _TLS),
    (re.compile(r"ERR_TLS_CERT|(.*_)?(CERT|CRL|SIGNATURE)(_|$)|INVALID_CA$|HOSTNAME_MISMATCH$"), _CERTIFICATE),
)


def _reason(code: str | None) -> _Reason | None:
    found = next((reason for family, reason in _FAMILIES if family.match(code or "")), None)
    return _REASONS.get(code or "", found)


_TOO_LARGE_ENDINGS: Final[dict[int, str]] = {
    signal.SIGXCPU: "it took more than 300 s of computing",
    signal.SIGXFSZ: "a file is too large",
}


class NpmError(ToolchainError):
    """An installation failed; `code` is npm's own word for why, or one of ours, `detail` the explanation, `result` all
    that npm said."""

    def __init__(self, message: str, code: str | None, detail: str = "", result: ProcessResult | None = None) -> None:
        super().__init__(message)
        self.code = code
        self.detail = detail
        self.result = result

    @property
    def package(self) -> str | None:
        """The package that npm names, as `name@range`."""
        found = _PACKAGE.search(self.detail)
        return found[found.lastgroup] if found and found.lastgroup else None

    @property
    def about_packages(self) -> bool:
        """The packages themselves are to blame, not this machine, the network or the registry."""
        return self.code in _ABOUT_PACKAGES

    @property
    def cause(self) -> Cause | None:
        """What is to blame if nothing in a package.json can be."""
        reason = _reason(self.code)
        return reason.cause if reason else None

    @property
    def unexplained(self) -> bool:
        """Neither: npm stumbled over something. If it does so again, that is the packages."""
        if self.result is None or self.about_packages:
            return False
        crashed = self.result.signal not in (None, signal.SIGKILL, signal.SIGTERM)
        known = self.code is None or _HTTP_STATUS.match(self.code) or _reason(self.code)
        return crashed or not known


@dataclass(frozen=True, slots=True)
class Npm:
    """npm, confined to one folder that is being prepared and its own download cache."""

    node: Node
    settings: Settings
    registry: RegistrySettings
    strict: bool = True

    @property
    def cache(self) -> Path:
        return self.settings.cache_folder / "npm"

    async def install(self, arguments: Sequence[str], folder: Path, home: Path) -> ProcessResult:
        """Installs what package-lock.json says, or resolves package.json first if there is none."""
        return await self._run([str(self.node.npm), *arguments], folder, home)

    async def resolve(self, arguments: Sequence[str], folder: Path, home: Path) -> ProcessResult:
        """Writes package-lock.json; nothing of a package is unpacked."""
        return await self._run([str(_RESOLVE), str(self._folder), "install", *arguments], folder, home)

    @property
    def _folder(self) -> Path:
        return self.node.npm.resolve().parents[1]

    async def _run(self, command: list[str], folder: Path, home: Path) -> ProcessResult:
        """The result's output is npm's JSON. `home` is an empty folder: of the user's there is nothing to see."""
        environment = base_environment(
            home, {**self.registry.environment, "TMPDIR": str(home)}, path=f"{self.node.folder}:{SYSTEM_PATH}"
        )
        places = [f"--cache={self.cache}", f"--userconfig={home}/npmrc", f"--globalconfig={home}/global-npmrc"]
        return await run(
            [str(self.node.executable), *command, *OPTIONS, *places],
            cwd=folder,
            timeout=None,  # whoever installs has one for all calls
            environment=environment,
            separate_errors=True,
            limits=LIMITS,
            confinement=self._confinement(folder, home),
        )

    def _confinement(self, folder: Path, home: Path) -> Confinement:
        self.cache.mkdir(parents=True, exist_ok=True)
        node = self.node.executable.resolve()
        libraries = [node.parents[1] / "lib"] if node.parent.name == "bin" else []
        read = [node, *libraries, self._folder, _RESOLVE, *self.registry.files]
        write = (folder.resolve(), home.resolve(), self.cache.resolve())
        readable = (*(path for path in read if path.exists()), *write)
        return Confinement(read=readable, write=write, sockets="ip", children=False, strict=self.strict)


def npm_error(result: ProcessResult, purpose: str) -> NpmError:
    """The error for a failed call: what was to be done, why it failed, what to do."""
    if (ending := _TOO_LARGE_ENDINGS.get(result.signal or 0)) is not None:
        return NpmError(f"{purpose} failed: {ending}.", TOO_LARGE, result=result)
    reported = _reported(result)
    code, summary = reported.code, reported.summary.partition("\n")[0].rstrip(".")
    known = _reason(code)
    reason = known.text if known else summary or f"npm ended with {result.ending}"
    detail = f"{reported.summary}\n{reported.detail}".strip()
    message = f"{purpose} failed: {reason}{f' ({code})' if code not in (None, UNNAMED) else ''}."
    return NpmError(message, TOO_LARGE if code == "EFBIG" else code, detail, result)


@dataclass(frozen=True, slots=True)
class _Report:
    code: str | None
    summary: str
    detail: str


def _reported(result: ProcessResult) -> _Report:
    try:
        error = json.loads(result.output.read())["error"]
        code = error.get("code")
        return _Report(
            code if isinstance(code, str) else UNNAMED,
            str(error.get("summary", "")).strip(),
            str(error.get("detail", "")).strip(),
        )
    except (ValueError, KeyError, TypeError, AttributeError):  # npm died before it could write its report
        lines = (result.errors or result.output).text.strip().splitlines()
        return _Report(None, lines[0].removeprefix("npm error ") if lines else "", "")

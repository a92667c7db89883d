"""The corpus: tables of hostile answers, one file per kind of attack."""

from ..answers import HostileAnswer
from . import (
    cheating,
    configuration,
    deployments,
    endpoints,
    exhaustion,
    files,
    imports,
    names,
    network,
    packages,
    pages,
    processes,
    protocol,
)

HONEST, MISTAKEN = cheating.HONEST, cheating.MISTAKEN
CATEGORIES: dict[str, list[HostileAnswer]] = {
    "files": files.ANSWERS,
    "packages": packages.ANSWERS,
    "imports": imports.ANSWERS,
    "configuration": configuration.ANSWERS,
    "names": names.ANSWERS,
    "deployments": deployments.ANSWERS,
    "network": network.ANSWERS,
    "processes": processes.ANSWERS,
    "protocol": protocol.ANSWERS,
    "exhaustion": exhaustion.ANSWERS,
    "endpoints": endpoints.ANSWERS,
    "pages": pages.ANSWERS,
    "cheating": cheating.ANSWERS,
}

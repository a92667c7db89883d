"""The step `install`: a project gets its dependencies, as of the suite's date, from a cache shared by all."""

from convex_evals.pipeline.install.manifest import Manifest, ManifestError, read_manifest
from convex_evals.pipeline.install.step import find_packages, install_packages, install_set, link_packages, outage

__all__ = [
    "Manifest",
    "ManifestError",
    "find_packages",
    "install_packages",
    "install_set",
    "link_packages",
    "outage",
    "read_manifest",
]

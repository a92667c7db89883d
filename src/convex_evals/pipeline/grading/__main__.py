"""`python -I -m convex_evals.pipeline.grading`: the warm process that Python graders are forked from."""

import gc
import importlib

from _pytest.config import default_plugins, essential_plugins

from convex_evals.pipeline.grading.python import session
from convex_evals.pipeline.grading.python.serving import Host

PRELOADED = ("msgspec", "msgspec", "websockets.sync.client", "http.client", "ssl", "difflib", "pprint")


def main() -> None:
    # pytest's own modules are loaded by their names, which only its version bound in pyproject.toml makes safe.
    unused = set(session.UNUSED)
    for name in (*essential_plugins, *default_plugins):
        if name not in unused:
            importlib.import_module(f"_pytest.{name}")
    for name in PRELOADED:
        importlib.import_module(name)
    gc.freeze()  # so that collections in forked processes do not touch, and thereby copy, what they share
    Host().serve()


if __name__ == "__main__":
    main()

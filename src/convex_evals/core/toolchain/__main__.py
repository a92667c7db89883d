"""`python -m convex_evals.core.toolchain` installs the JavaScript toolchain and prints where it is."""

import asyncio
import sys

from convex_evals.core.errors import ConvexEvalsError
from convex_evals.core.settings import read_settings
from convex_evals.core.toolchain import prepare_toolchain


def main() -> int:
    try:
        toolchain = asyncio.run(prepare_toolchain(read_settings(), lambda line: print(line, file=sys.stderr)))
    except ConvexEvalsError as error:
        print(error, file=sys.stderr)
        return error.exit_code
    print(toolchain.packages.folder)
    return 0


if __name__ == "__main__":
    sys.exit(main())

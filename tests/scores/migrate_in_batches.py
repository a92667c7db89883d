"""A process that runs the data migrations and says what each batch did; it waits for a line before the next."""

import sys

from convex_evals.scores import JobStatus, migrate_data


def tell(status: JobStatus) -> None:
    print(status.done, flush=True)
    sys.stdin.readline()


migrate_data(sys.argv[1], int(sys.argv[2]), tell)

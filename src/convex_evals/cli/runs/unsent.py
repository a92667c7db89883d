"""What services have not got yet, for people and for programs."""

from itertools import groupby

from convex_evals.core.settings import Destination, read_settings
from convex_evals.scores import ScoresStore


def unsent_lines(store: ScoresStore) -> list[str]:
    """One per service that lacks something."""
    from convex_evals.runner import outcome

    settings, found = read_settings(), sorted(store.outbox.unsent(), key=lambda each: each.destination)
    return [
        outcome(settings.destination(url) or Destination(url), tuple(unsent))
        for url, unsent in groupby(found, key=lambda each: each.destination)
    ]


def unsent_json(store: ScoresStore) -> list[dict[str, object]]:
    return [
        {"url": each.destination, "run": each.run_id, "records": each.entries, "refused": each.refused}
        for each in store.outbox.unsent()
    ]

from convex_evals.backend.canonical_urls import CanonicalUrls, write_url
from convex_evals.backend.database import Database

OWN = CanonicalUrls("http://127.0.0.1:3210", "http://127.0.0.1:3211")


def test_the_deployments_own_address_counts_until_another_one_is_set_and_again_when_it_is_removed() -> None:
    database = Database.open(None)
    for url, expected in [
        ("https://api.example.com/", "https://api.example.com"),
        ("https://b.example.com", "https://b.example.com"),
        (None, OWN.cloud),
    ]:
        transaction = database.begin()
        write_url(transaction, "convexCloud", url)
        database.commit(transaction)
        assert OWN.overridden(database.begin()) == CanonicalUrls(expected, OWN.site)

"""The different countries of a site's visits. The index is the model's choice; what is read is measured."""

from convex_evals.pipeline.grading.kit import Deployment, assert_same


def insert_visits(project: Deployment, site: str, countries: list[str]) -> None:
    visits = [{"site": site, "country": country, "seconds": i} for i, country in enumerate(countries)]
    project.insert_many("visits", visits)


def test_the_table_is_the_only_one_and_has_the_fields_of_the_task(project: Deployment, answer: Deployment) -> None:
    assert_same(list(project.schema().tables), ["visits"])
    assert_same(project.schema().table("visits").fields, answer.schema().table("visits").fields)


def test_returns_every_country_of_the_site_once_in_order(project: Deployment) -> None:
    insert_visits(project, "shop", ["Peru", "Chad", "Peru", "Oman", "Chad", "Chad", "Iran", "Peru"])
    insert_visits(project, "blog", ["Cuba", "Peru", "Mali", "Cuba"])
    assert_same(project.query("index:listCountries", site="shop"), ["Chad", "Iran", "Oman", "Peru"])
    assert_same(project.query("index:listCountries", site="blog"), ["Cuba", "Mali", "Peru"])


def test_a_site_without_visits_has_no_countries(project: Deployment) -> None:
    assert_same(project.query("index:listCountries", site="shop"), [])
    insert_visits(project, "shop", ["Peru"])
    for site in ("sho", "shop ", "Shop", ""):
        assert_same(project.query("index:listCountries", site=site), [], what=f"the countries of {site!r}")


def test_the_empty_country_is_one_of_them(project: Deployment) -> None:
    insert_visits(project, "shop", ["Peru", "", "Chad", ""])
    insert_visits(project, "blog", ["", "", ""])
    assert_same(project.query("index:listCountries", site="shop"), ["", "Chad", "Peru"])
    assert_same(project.query("index:listCountries", site="blog"), [""])


def test_upper_and_lower_case_differ_and_capital_letters_come_first(project: Deployment) -> None:
    insert_visits(project, "shop", ["chad", "Peru", "peru", "Chad", "CHAD", "Peru ", "Per", "chad"])
    expected = ["CHAD", "Chad", "Per", "Peru", "Peru ", "chad", "peru"]
    assert_same(project.query("index:listCountries", site="shop"), expected)


def test_misses_no_country_among_very_many_visits(project: Deployment) -> None:
    names = [f"country {i:02d}" for i in range(60)]
    insert_visits(project, "shop", ["Aruba"] * 1200 + names * 2 + ["Zambia"])
    assert_same(project.query("index:listCountries", site="shop"), ["Aruba", "Zambia", *names])


def test_reads_at_most_one_visit_per_country(project: Deployment) -> None:
    insert_visits(project, "blog", ["Cuba", "Mali", "Oman", "Togo"] * 50)
    insert_visits(project, "shop", ["Peru", "Chad", "", "Iran", "Peru"] * 60)
    insert_visits(project, "wiki", ["Peru"] * 100)
    for site, countries in {"shop": 4, "wiki": 1, "none": 0}.items():
        with project.trace() as work:
            project.query("index:listCountries", site=site)
        assert work.documents_read <= countries, (
            f"{site} has visits from {countries} countries, and {work.documents_read} visits were read"
        )


def test_rejects_arguments_that_are_not_one_site(project: Deployment) -> None:
    for arguments in ({}, {"site": 5}, {"site": None}, {"site": ["shop"]}, {"site": "shop", "country": "Peru"}):
        with project.fails("ArgumentValidationError"):
            project.query("index:listCountries", arguments)

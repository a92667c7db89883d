"""A company, its departments, their employees."""

from typing import Any

from convex_evals.pipeline.grading.kit import Deployment, assert_same, same_schema

Staff = dict[str, Any]

ACME: Staff = {
    "name": "Acme",
    "departments": [
        {
            "name": "research",
            "employees": [{"name": "Zoe", "role": "chemist"}, {"name": "Adam", "role": "chemist"}],
        },
        {"name": "basement", "employees": []},
        {"name": "accounts", "employees": [{"name": "Mia", "role": "head"}]},
    ],
}
OTHER: Staff = {
    "name": "Other",
    "departments": [{"name": "research", "employees": [{"name": "Eve", "role": "chemist"}] * 20}] * 5,
}


def insert_company(project: Deployment, staff: Staff) -> str:
    company = project.insert("companies", name=staff["name"])
    for department in staff["departments"]:
        department_id = project.insert("departments", companyId=company, name=department["name"])
        employees = [{**person, "departmentId": department_id, "salary": 1} for person in department["employees"]]
        project.insert_many("employees", employees)
    return company


def test_the_schema_is_the_one_of_the_task(project: Deployment, answer: Deployment) -> None:
    same_schema(project, answer)


def test_returns_departments_and_employees_in_the_order_of_creation(project: Deployment) -> None:
    insert_company(project, OTHER)
    company = insert_company(project, ACME)
    assert_same(project.query("index:getCompanyStaff", companyId=company), ACME, ignore=())


def test_order_does_not_depend_on_which_table_was_filled_first(project: Deployment) -> None:
    company = project.insert("companies", name="Acme")
    first, second = (project.insert("departments", companyId=company, name=name) for name in ("first", "second"))
    for name, department in [("a", second), ("c", first), ("b", second), ("d", first)]:
        project.insert("employees", departmentId=department, name=name, role="x", salary=1)
    found = project.query("index:getCompanyStaff", companyId=company)
    names = {part["name"]: [person["name"] for person in part["employees"]] for part in found["departments"]}
    assert_same(names, {"first": ["c", "d"], "second": ["a", "b"]})


def test_a_company_without_departments_has_an_empty_array(project: Deployment) -> None:
    insert_company(project, ACME)
    company = project.insert("companies", name="Empty")
    assert_same(project.query("index:getCompanyStaff", companyId=company), {"name": "Empty", "departments": []})


def test_returns_null_when_the_company_is_gone(project: Deployment) -> None:
    company = insert_company(project, ACME)
    project.delete("companies", company)
    assert_same(project.query("index:getCompanyStaff", companyId=company), None)


def test_reads_nothing_of_other_companies(project: Deployment) -> None:
    insert_company(project, OTHER)
    company = insert_company(project, ACME)
    with project.trace() as work:
        project.query("index:getCompanyStaff", companyId=company)
    assert work.documents_read <= 7, f"the company has 7 documents in all, and {work.documents_read} were read"


def test_rejects_what_is_not_the_id_of_a_company(project: Deployment) -> None:
    insert_company(project, ACME)
    for wrong in (project.documents("departments")[0]["_id"], "Acme", None):
        with project.fails("ArgumentValidationError"):
            project.query("index:getCompanyStaff", companyId=wrong)

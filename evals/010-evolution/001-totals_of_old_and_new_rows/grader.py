"""Totals that are right for entries from before and after the deployment, while these are migrated step by step."""

import random

import pytest

from convex_evals.pipeline.grading.kit import Deployment, GivenDeployment

LIMITS = (1, 4, 100)


class Books:
    """A deployment and what it must contain: name by account, and account, cents and note by entry."""

    def __init__(self, deployment: Deployment, seed: int) -> None:
        self.deployment, self.chance = deployment, random.Random(seed)
        self.accounts: dict[str, str] = {}
        self.entries: dict[str, tuple[str, int, str]] = {}
        self.transfers: dict[str, list[str]] = {}
        self.done: list[str] = []

    def cents(self) -> int:
        return self.chance.choice([0, self.chance.randint(-300, 300), self.chance.randint(-3, 3)])

    def account(self, *others: str) -> str:
        return self.chance.choice([each for each in self.accounts if each not in others])

    def seed(self, accounts: int, entries: int) -> None:
        names = self.chance.sample(range(1000), accounts)
        ids = self.deployment.insert_many("accounts", [{"name": f"account {name}"} for name in names])
        self.accounts = dict(zip(ids, [f"account {name}" for name in names], strict=True))
        used = ids[:-2] or ids
        rows = [
            {"accountId": self.chance.choice(used), "cents": self.cents(), "note": f"old {i}"} for i in range(entries)
        ]
        stored = self.deployment.insert_many("entries", rows)
        self.entries = {
            entry: (str(row["accountId"]), int(str(row["cents"])), str(row["note"]))
            for entry, row in zip(stored, rows, strict=True)
        }

    def act(self) -> None:
        acts = [self.open, self.add, self.edit, self.move, self.remove, self.load, self.transfer, self.undo, self.merge]
        act = self.chance.choices([*acts, self.rename], [1, 3, 4, 4, 4, 1, 3, 3, 1, 1])[0]
        self.done.append(act.__name__)
        act()

    def open(self) -> None:
        name = f"new {len(self.done)}"
        self.accounts[self.deployment.mutation("accounts:open", name=name)] = name

    def rename(self) -> None:
        account, name = self.account(), f"renamed {len(self.done)}"
        self.accounts[account] = name
        assert self.deployment.mutation("accounts:rename", accountId=account, name=name) is None

    def add(self) -> None:
        account, cents, note = self.account(), self.cents(), f"note {len(self.done)}"
        entry = self.deployment.mutation("entries:add", accountId=account, cents=cents, note=note)
        self.entries[entry] = (account, cents, note)

    def edit(self) -> None:
        entry, cents = self.chance.choice([*self.entries]), self.cents()
        account, before, note = self.entries[entry]
        if self.chance.random() < 0.3:
            self.entries[entry] = (account, before, "edited")
            assert self.deployment.mutation("entries:edit", entryId=entry, note="edited") is None
        else:
            self.entries[entry] = (account, cents, note)
            assert self.deployment.mutation("entries:edit", entryId=entry, cents=cents) is None

    def move(self) -> None:
        entry, account = self.chance.choice([*self.entries]), self.account()
        self.entries[entry] = (account, *self.entries[entry][1:])
        assert self.deployment.mutation("entries:move", entryId=entry, accountId=account) is None

    def remove(self) -> None:
        entry = self.chance.choice([*self.entries])
        del self.entries[entry]
        assert self.deployment.mutation("entries:remove", entryId=entry) is None

    def load(self) -> None:
        account = self.account()
        rows = [{"cents": self.cents(), "note": f"loaded {len(self.done)} {i}"} for i in range(3)]
        known = {each["_id"] for each in self.deployment.documents("entries")}
        assert self.deployment.admin.mutation("entries:load", accountId=account, rows=rows) is None
        loaded = [each for each in self.deployment.documents("entries") if each["_id"] not in known]
        assert [(each["cents"], each["note"]) for each in loaded] == [(row["cents"], row["note"]) for row in rows]
        self.entries |= {each["_id"]: (account, int(each["cents"]), str(each["note"])) for each in loaded}

    def transfer(self) -> None:
        source, cents = self.account(), self.cents()
        target = self.account(source)
        made = self.deployment.mutation("transfers:make", {"from": source, "to": target, "cents": cents})
        entries = [each for each in self.deployment.documents("entries") if each.get("transferId") == made]
        assert [(each["accountId"], each["cents"]) for each in entries] == [(source, -cents), (target, cents)]
        self.transfers[made] = [each["_id"] for each in entries]
        self.entries |= {each["_id"]: (each["accountId"], int(each["cents"]), "transfer") for each in entries}

    def undo(self) -> None:
        if self.transfers:
            transfer = self.chance.choice([*self.transfers])
            for entry in self.transfers.pop(transfer):
                self.entries.pop(entry, None)
            assert self.deployment.mutation("transfers:undo", transferId=transfer) is None

    def merge(self) -> None:
        if len(self.accounts) > 3:
            account = self.account()
            into = self.account(account)
            mine = [entry for entry, (owner, _, _) in self.entries.items() if owner == account]
            assert self.deployment.mutation("accounts:merge", accountId=account, into=into) == len(mine)
            del self.accounts[account]
            for entry in mine:
                self.entries[entry] = (into, *self.entries[entry][1:])

    def balances(self) -> dict[str, int]:
        sums = dict.fromkeys(self.accounts, 0)
        for account, cents, _ in self.entries.values():
            sums[account] += cents
        return sums

    def check(self, when: str = "") -> None:
        what, sums = f"{when} after {self.done}", self.balances()
        received = {each: self.deployment.query("accounts:balance", accountId=each) for each in self.accounts}
        assert received == sums, f"balances {what}"
        rich = sorted(self.accounts, key=lambda each: (-sums[each], self.accounts[each]))
        ranking = [{"id": each, "name": self.accounts[each], "cents": sums[each]} for each in rich]
        for limit in LIMITS:
            assert self.deployment.query("accounts:richest", limit=limit) == ranking[:limit], f"richest {limit} {what}"

    def check_documents(self) -> None:
        """What lists show are the documents of the given code."""
        accounts = self.deployment.query("accounts:list")
        assert [set(each) for each in accounts] == [{"_id", "_creationTime", "name"}] * len(self.accounts)
        assert {each["_id"]: each["name"] for each in accounts} == self.accounts
        stored = {each["_id"]: each for each in self.deployment.documents("entries")}
        for account in self.accounts:
            mine = [entry for entry, (owner, _, _) in self.entries.items() if owner == account]
            newest = sorted(mine, key=lambda entry: -float(stored[entry]["_creationTime"]))[:5]
            latest = self.deployment.query("entries:latest", accountId=account, limit=5)
            assert [each["_id"] for each in latest] == newest
            for each in latest:
                fields = {"_id", "_creationTime", "accountId", "cents", "note"}
                assert set(each) - {"transferId"} == fields
                assert (each["accountId"], each["cents"], each["note"]) == self.entries[each["_id"]]


def step(project: Deployment) -> bool:
    with project.trace() as work:
        done = project.admin.mutation("migrations:run")
    assert isinstance(done, bool)
    assert work.documents_read <= 1000, f"one call read {work.documents_read} documents"
    assert work.documents_written <= 400, f"one call wrote {work.documents_written} documents"
    return done


def migrate(project: Deployment) -> None:
    assert any(step(project) for _ in range(300)), "migrations:run has not returned true after 300 calls"


@pytest.mark.parametrize("seed", [0, 1, 7])
def test_results_are_right_while_entries_are_migrated_and_changed(given: GivenDeployment, seed: int) -> None:
    books = Books(given, seed)
    books.seed(accounts=7, entries=40)
    for _ in range(12):
        books.act()
    books.check("with the given code")
    books.deployment = given.upgrade()
    books.check("directly after the deployment")
    for _ in range(12):
        books.act()
    books.check("before the migration")
    migrate(books.deployment)
    books.check("after the migration")
    for _ in range(15):
        books.act()
    books.check("long after the migration")
    books.check_documents()


def test_results_are_right_between_two_steps_of_a_long_migration(given: GivenDeployment) -> None:
    books = Books(given, 100)
    books.seed(accounts=5, entries=1600)
    books.deployment = project = given.upgrade()
    steps, is_done = 0, False
    while not is_done:
        is_done, steps = step(project), steps + 1
        assert steps < 300, "migrations:run has not returned true after 300 calls"
        if steps <= 4:
            for _ in range(10):
                books.act()
            books.check(f"after {steps} steps")
    assert steps > 1, "1600 entries cannot be migrated in one step"
    books.check("after the migration")
    books.check_documents()


def test_the_last_answer_of_the_migration_stays(given: GivenDeployment) -> None:
    books = Books(given, 101)
    books.seed(accounts=4, entries=30)
    books.deployment = project = given.upgrade()
    migrate(project)
    books.add()
    books.open()
    before = {table: project.documents(table) for table in ("accounts", "entries", "transfers")}
    assert step(project) is True
    assert {table: project.documents(table) for table in before} == before
    books.check("after another call")


def test_few_documents_are_read_after_the_migration(given: GivenDeployment) -> None:
    books = Books(given, 102)
    books.seed(accounts=150, entries=400)
    large = next(iter(books.accounts))
    for entry, (_, cents, note) in list(books.entries.items())[:200]:
        books.entries[entry] = (large, cents, note)
        given.replace(entry, {"accountId": large, "cents": cents, "note": note})
    books.deployment = project = given.upgrade()
    migrate(project)
    sums = books.balances()
    with project.trace() as work:
        assert project.query("accounts:balance", accountId=large) == sums[large]
    assert work.documents_read <= 5, f"accounts:balance read {work.documents_read} documents"
    for limit in LIMITS:
        with project.trace() as work:
            assert len(project.query("accounts:richest", limit=limit)) == limit
        assert work.documents_read <= 2 * limit + 5, f"richest {limit} read {work.documents_read} documents"
    books.check("after the migration")
    for act in (books.add, books.edit, books.move, books.remove, books.transfer, books.undo):
        with project.trace() as work:
            act()
        for call in work.calls:
            assert call.documents_read <= 20 or not call.function.startswith(("entries:", "transfers:")), (
                f"{call.function} read {call.documents_read} documents"
            )
    books.check("after six changes")


def test_a_new_deployment_needs_no_migration_to_be_right(project: Deployment) -> None:
    books = Books(project, 103)
    assert project.query("accounts:richest", limit=5) == []
    for _ in range(4):
        books.done.append("open")
        books.open()
    books.check()
    for _ in range(8):
        books.done.append("add")
        books.add()
    for _ in range(25):
        books.act()
    books.check()


def test_the_functions_are_the_old_ones_and_the_migration(project: Deployment, given: GivenDeployment) -> None:
    functions = project.functions()
    for name, spec in given.functions().items():
        assert name in functions, f"{name} is gone"
        new = functions[name]
        assert (new.kind, new.visibility, new.arguments) == (spec.kind, spec.visibility, spec.arguments), name
    run = functions["migrations:run"]
    assert (run.kind, run.is_public, run.arguments) == ("mutation", False, {})

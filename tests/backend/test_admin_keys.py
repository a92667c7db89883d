import pytest

from convex_evals.backend.admin_keys import (
    LOCAL_ADMIN_KEY,
    LOCAL_NAME,
    LOCAL_SECRET,
    AdminCredential,
    AdminKeys,
)

KEYS = AdminKeys("happy-animal-123", "secret")
SECRET = KEYS.issue().partition("|")[2]


@pytest.mark.parametrize(
    "key",
    [
        KEYS.issue(),
        f"dev:happy-animal-123|{SECRET}",
        f"prod:happy-animal-123|{SECRET}",
        f"preview:any:thing|{SECRET}",
        f"project:team:project|{SECRET}",
        f"{KEYS.issue()}:eyJ9",
    ],
)
def test_a_key_of_the_deployment_is_accepted(key: str) -> None:
    assert KEYS.accept(AdminCredential.parse(key))


@pytest.mark.parametrize(
    "key",
    [
        "",
        "x",
        "happy-animal-123|",
        "happy-animal-123|wrong",
        f"other-name|{SECRET}",
        f"dev:other-name|{SECRET}",
        AdminKeys("happy-animal-123", "another secret").issue(),
        AdminKeys("other-name", "secret").issue(),
        "happy-animal-123|ключ",
        LOCAL_ADMIN_KEY,
        f"happy-animal-123|{LOCAL_ADMIN_KEY}",
    ],
)
def test_any_other_key_is_refused(key: str) -> None:
    assert not KEYS.accept(AdminCredential.parse(key))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("name|secret", AdminCredential("name", "secret", None)),
        ("name|secret:payload", AdminCredential("name", "secret", "payload")),
        ("prod:name|secret:payload", AdminCredential("name", "secret", "payload")),
        ("preview:team:project|secret", AdminCredential(None, "secret", None)),
        ("secret", AdminCredential(None, "secret", None)),
        ("secret:payload", AdminCredential(None, "secret", "payload")),
    ],
)
def test_a_key_is_taken_apart_at_the_bar_and_the_colon_behind_it(text: str, expected: AdminCredential) -> None:
    assert AdminCredential.parse(text) == expected


def test_issued_keys_contain_no_colon_because_a_colon_starts_the_impersonation() -> None:
    assert ":" not in KEYS.issue()


WELL_KNOWN = AdminCredential.parse(LOCAL_ADMIN_KEY)


def test_the_name_and_the_secret_of_the_well_known_key_yield_it() -> None:
    keys = AdminKeys(LOCAL_NAME, LOCAL_SECRET)
    assert keys.issue() == LOCAL_ADMIN_KEY
    assert keys.accept(WELL_KNOWN)
    assert keys.accept(AdminCredential.parse(f"{LOCAL_NAME}|{LOCAL_ADMIN_KEY}"))


@pytest.mark.parametrize(
    ("name", "secret"), [(LOCAL_NAME, "another"), ("another", LOCAL_SECRET), (LOCAL_NAME, ""), ("", LOCAL_SECRET)]
)
def test_the_name_or_the_secret_alone_does_not(name: str, secret: str) -> None:
    keys = AdminKeys(name, secret)
    assert LOCAL_ADMIN_KEY not in keys.issue()
    assert not keys.accept(WELL_KNOWN)


def test_the_well_known_key_opens_other_deployments_only_when_they_say_so() -> None:
    keys = AdminKeys("happy-animal-123", "secret", accept_local_key=True)
    assert keys.issue() == KEYS.issue()
    assert keys.accept(AdminCredential.parse(keys.issue()))
    assert keys.accept(WELL_KNOWN)

import pytest

from convex_evals.backend.deployed import Module
from convex_evals.backend.errors import RequestError
from convex_evals.backend.push.modules import resolve_modules
from convex_evals.backend.push.request import ModuleHash, PushedComponent

STORED = Module("http.js", "export default 1", None, "isolate")


def pushed(*modules: Module, unchanged: tuple[ModuleHash, ...] = ()) -> PushedComponent:
    return PushedComponent("", None, (), None, modules, unchanged, "1.44.0")


def test_sent_and_unchanged_modules_form_one_set_in_path_order() -> None:
    sent = [Module(path, "", None, "isolate") for path in ("b.js", "a.js", "a/b.js")]
    known = ModuleHash("http.js", "isolate", STORED.sha256)
    modules = resolve_modules(pushed(*sent, unchanged=(known,)), {"http.js": STORED})
    assert list(modules) == ["a/b.js", "a.js", "b.js", "http.js"]
    assert modules["http.js"] is STORED


@pytest.mark.parametrize(
    ("known", "code"),
    [
        (ModuleHash("other.js", "isolate", STORED.sha256), "MissingExistingModule"),
        (ModuleHash("http.js", "node", STORED.sha256), "ExistingModuleEnvConflict"),
        (ModuleHash("http.js", "isolate", "00" * 32), "ExistingModuleHashConflict"),
    ],
)
def test_a_hash_that_no_longer_matches_makes_the_cli_start_over(known: ModuleHash, code: str) -> None:
    with pytest.raises(RequestError) as refusal:
        resolve_modules(pushed(unchanged=(known,)), {"http.js": STORED})
    assert (refusal.value.status, refusal.value.code) == (409, code)


def test_too_many_files_are_refused_but_chunks_do_not_count() -> None:
    def modules(folder: str) -> list[Module]:
        return [Module(f"{folder}m{number}.js", "", None, "isolate") for number in range(4097)]

    resolve_modules(pushed(*modules("_deps/")), {})
    with pytest.raises(RequestError, match=r"Too many function files \(4097 > maximum 4096\) in \"convex/\"\."):
        resolve_modules(pushed(*modules("")), {})

from collections.abc import Callable
from pathlib import Path

from convex_evals.suite import SuiteParcel, load_suite, moved

WriteEval = Callable[..., Path]


def test_a_suite_that_was_sent_is_the_same_suite(root: Path, write_eval: WriteEval, tmp_path: Path) -> None:
    write_eval("000-basics/000-first")
    write_eval("001-more/000-second")
    (root.parent / "grader").mkdir()
    (root.parent / "grader" / "shared.ts").write_text("export const shared = 1;\n")
    (root.parent / "secret.txt").write_text("nobody's business\n")
    here, parcel = load_suite(root), SuiteParcel.of(root)
    unpacked = parcel.unpack(tmp_path / "node")
    there = load_suite(unpacked)
    assert there.fingerprint == here.fingerprint
    assert [moved(each, unpacked).path for each in here.evals] == [each.path for each in there.evals]
    assert [moved(each, unpacked).grader for each in here.evals] == [each.grader for each in there.evals]
    assert not list((tmp_path / "node").rglob("secret.txt"))


def test_a_parcel_is_unpacked_once(root: Path, write_eval: WriteEval, tmp_path: Path) -> None:
    write_eval()
    parcel = SuiteParcel.of(root)
    first = parcel.unpack(tmp_path / "node")
    made = first.stat().st_mtime_ns
    assert parcel.unpack(tmp_path / "node") == first and first.stat().st_mtime_ns == made
    assert len(list((tmp_path / "node").iterdir())) == 1


def test_the_same_suite_makes_the_same_parcel(root: Path, write_eval: WriteEval) -> None:
    task = write_eval() / "TASK.txt"
    before = SuiteParcel.of(root).sha256
    task.touch()
    assert SuiteParcel.of(root).sha256 == before
    task.write_text("Write another query.\n")
    assert SuiteParcel.of(root).sha256 != before

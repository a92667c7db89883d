import gc
from pathlib import Path

import pytest

from convex_evals.core.processes import Output
from convex_evals.core.processes.execution import Log


def output_of(path: Path | None, content: bytes, excerpt_bytes: int) -> Output:
    log = Log(path)
    if content:
        log.path.write_bytes(content)
    try:
        return log.output(excerpt_bytes)
    finally:
        log.close()


@pytest.mark.parametrize(
    ("content", "head", "tail", "omitted"),
    [
        (b"", b"", b"", 0),
        (b"abc", b"abc", b"", 0),
        (b"abcde", b"abcde", b"", 0),
        (b"abcdefg", b"abcde", b"fg", 0),
        (b"abcdefghij", b"abcde", b"fghij", 0),
        (b"abcdefghijk", b"abcde", b"ghijk", 1),
        (b"abcde" + b"." * 1000 + b"fghij", b"abcde", b"fghij", 1000),
    ],
)
def test_memory_keeps_the_beginning_and_the_end(
    tmp_path: Path, content: bytes, head: bytes, tail: bytes, omitted: int
) -> None:
    output = output_of(tmp_path / "log", content, 10)
    assert (output.head, output.tail, output.omitted, output.size) == (head, tail, omitted, len(content))
    assert output.read() == content


def test_the_text_says_what_was_left_out_and_where_it_is(tmp_path: Path) -> None:
    output = output_of(tmp_path / "log", b"abcde" + b"." * 7 + b"fghij", 10)
    assert output.text == f"abcde\n… 7 bytes left out, complete in {tmp_path / 'log'} …\nfghij"


def test_a_file_of_the_caller_stays(tmp_path: Path) -> None:
    output_of(tmp_path / "log", b"kept", 10)
    gc.collect()
    assert (tmp_path / "log").read_bytes() == b"kept"


def test_an_old_log_is_replaced(tmp_path: Path) -> None:
    (tmp_path / "log").write_text("of an earlier run")
    assert output_of(tmp_path / "log", b"", 10).size == 0

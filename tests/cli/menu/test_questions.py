"""Questions fit the terminal: words stay whole, and each offer is one line."""

import pytest

from convex_evals.cli.menu.questions import ONE, Offer, _broken, _choice

QUESTION = "These are my findings. Would you like me to implement any of these, or to discuss failures in more detail?"


@pytest.mark.parametrize("width", [40, 60, 80, 140])
def test_a_question_is_broken_between_words_and_its_instruction_stays_whole(
    monkeypatch: pytest.MonkeyPatch, width: int
) -> None:
    monkeypatch.setenv("COLUMNS", str(width))
    lines = f"? {_broken(QUESTION, ONE)} {ONE}".split("\n")
    assert all(len(line) <= width for line in lines)
    assert " ".join(line.strip() for line in lines) == f"? {QUESTION} {ONE}"
    assert lines[-1].endswith(ONE)


def test_an_offer_is_shortened_to_one_line_and_its_reason_is_not(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "60")
    long = Offer("local", "local/… · a model served on this machine or in this network")
    assert _choice(long).title == "local/… · a model served on this machine or in this …"
    refused = Offer("openai", "openai · 10 models", "OPENAI_API_KEY missing")
    assert (_choice(refused).title, _choice(refused).disabled) == ("openai · 10 models", "OPENAI_API_KEY missing")

"""An action in the Node.js runtime."""

import hashlib

import pytest

from convex_evals.pipeline.grading.kit import Deployment


@pytest.mark.parametrize("text", ["", "hello", "grün 🌱"], ids=["empty", "short", "not ASCII"])
def test_the_digest_is_the_one_of_the_text(project: Deployment, text: str) -> None:
    assert project.action("digest:sha256", text=text) == hashlib.sha256(text.encode()).hexdigest()

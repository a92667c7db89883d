from pathlib import Path

import pytest

from convex_evals.analysis.isolation import Bound, open_probes
from convex_evals.analysis.isolation.probes import BoundReached
from convex_evals.core.settings import Settings
from convex_evals.pipeline.types import GradingOptions
from convex_evals.suite import Suite

RIGHT = {"hello.txt": "hello\n", "to.txt": "world\n"}
WRONG = {"hello.txt": "hello\n", "to.txt": "nobody\n"}


async def test_the_real_pipeline_decides_and_its_answer_is_kept(
    settings: Settings, hello_suite: Suite, tmp_path: Path
) -> None:
    asked, toolchain = hello_suite.evals[0], f"of {tmp_path}"
    async with open_probes(settings, tmp_path / "probes", toolchain, 1) as probes:
        bound = Bound(60)
        probe = probes.probe(asked, "tests", GradingOptions(), bound)
        assert [await probe(RIGHT), await probe(WRONG)] == [True, False]
        assert bound.tries == 2
        nothing_left = Bound(0)
        again = probes.probe(asked, "tests", GradingOptions(), nothing_left)
        assert [await again(RIGHT), await again(WRONG)] == [True, False]
        assert nothing_left.tries == 0
        with pytest.raises(BoundReached):
            await again({**RIGHT, "more.txt": ""})

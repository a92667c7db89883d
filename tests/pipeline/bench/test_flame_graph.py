"""Where this process spends its time, as stacks and as a picture."""

import time
from collections import Counter
from pathlib import Path
from xml.etree import ElementTree

from convex_evals.pipeline.bench.flame_graph import OUTSIDE, Stacks, draw, stacks_sampled, write_flame_graph

SVG = "{http://www.w3.org/2000/svg}"
STACKS = Stacks(
    Counter(
        {
            ("asyncio.run", "convex_evals.pipeline.grade.grade", "json.loads"): 6,
            ("asyncio.run", "convex_evals.pipeline.grade.grade"): 2,
            ("asyncio.run", "<frozen> & others"): 2,
        }
    )
)


def busy(seconds: float) -> None:
    until = time.process_time() + seconds
    while time.process_time() < until:
        pass


def test_a_function_that_is_busy_is_seen_with_its_callers() -> None:
    with stacks_sampled() as stacks:
        busy(0.3)
    ours = [stack for stack in stacks.counts if any(name.endswith("test_flame_graph.busy") for name in stack)]
    assert sum(stacks.counts[stack] for stack in ours) > stacks.total / 2 > 0
    caller = test_a_function_that_is_busy_is_seen_with_its_callers.__name__
    assert all(stack[-2].endswith(caller) for stack in ours if stack[-1].endswith(".busy"))


def test_nothing_is_sampled_afterwards() -> None:
    with stacks_sampled() as stacks:
        pass
    seen = stacks.total
    busy(0.05)
    assert stacks.total == seen


def test_time_belongs_to_the_innermost_function_of_ours() -> None:
    assert STACKS.own() == {"convex_evals.pipeline.grade.grade": 8, OUTSIDE: 2}


def test_folded_stacks_are_written_beside_the_picture(tmp_path: Path) -> None:
    folded = write_flame_graph(STACKS, "title", tmp_path / "graph.svg")
    assert folded == tmp_path / "graph.folded"
    assert "asyncio.run;convex_evals.pipeline.grade.grade;json.loads 6\n" in folded.read_text()
    assert ElementTree.parse(tmp_path / "graph.svg").getroot().tag == f"{SVG}svg"


def test_boxes_are_as_wide_as_their_share() -> None:
    drawn = ElementTree.fromstring(draw(STACKS, "a < b"))
    widths = {
        group.findtext(f"{SVG}title"): float(rect.get("width", "0"))
        for group in drawn.iter(f"{SVG}g")
        if (rect := group.find(f"{SVG}rect")) is not None
    }
    assert widths == {
        "all: 100.0%": 1600.0,
        "asyncio.run: 100.0%": 1600.0,
        "convex_evals.pipeline.grade.grade: 80.0%": 1280.0,
        "json.loads: 60.0%": 960.0,
        "<frozen> & others: 20.0%": 320.0,
    }

"""What a grader sees of mounted components."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from convex_evals.pipeline.grading.kit import Deployment, Mismatch
from convex_evals.pipeline.grading.kit.contents import clean
from convex_evals.pipeline.grading.kit.transport import Clock, Transport

FILES = {
    "package.json": '{"name": "shelves", "dependencies": {"convex": "^1.44.0"}}',
    "convex/convex.config.ts": """
        import { defineApp } from "convex/server";
        import shelf from "./shelf/convex.config";
        const app = defineApp();
        app.use(shelf, { name: "left" });
        app.use(shelf, { name: "right" });
        export default app;
    """,
    "convex/books.ts": """
        import { mutationGeneric } from "convex/server";
        import { components } from "./_generated/api";
        export const put = mutationGeneric(async (ctx, { title }: { title: string }) => {
          await ctx.runMutation(components.left.books.put, { title });
        });
    """,
    "convex/shelf/convex.config.ts": """
        import { defineComponent } from "convex/server";
        export default defineComponent("shelf");
    """,
    "convex/shelf/books.ts": """
        import { v } from "convex/values";
        import { mutationGeneric } from "convex/server";
        export const put = mutationGeneric({
          args: { title: v.string() },
          handler: async (ctx, { title }) => {
            await ctx.db.insert("books", { title });
          },
        });
    """,
}


@pytest.fixture(scope="module")
def source(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("shelves")
    for name, text in FILES.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    return folder


@pytest.fixture
def shelves(deploy: Callable[[Path], Any], source: Path, clock: Clock) -> Deployment:
    graded = deploy(source)
    transport = Transport("project", graded.url, graded.site_url, graded.admin_key, clock)
    clean(transport)
    return Deployment(transport)


def test_the_documents_of_a_component_are_listed_by_its_path(shelves: Deployment) -> None:
    for title in ("first", "second"):
        shelves.mutation("books:put", title=title)
    assert [book["title"] for book in shelves.documents("books", component="left")] == ["first", "second"]
    assert shelves.documents("books", component="right") == []
    assert shelves.documents("books") == []


def test_a_component_that_is_not_mounted_is_the_answers_failure(shelves: Deployment) -> None:
    with pytest.raises(Mismatch, match=r"a component mounted at .middle."):
        shelves.documents("books", component="middle")

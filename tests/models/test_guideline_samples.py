"""Every sample of the guidelines is a file of one project, which is deployed, type-checked, linted and called."""

import asyncio
import json
import re
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import httpx2
import pytest
import pytest_asyncio

from convex_evals.backend.deployment import Deployment, DeploymentSettings
from convex_evals.core.processes import ProcessResult, base_environment, run
from convex_evals.core.settings import read_settings
from convex_evals.core.toolchain import Toolchain, prepare_toolchain
from convex_evals.models.prompt import built_in_guidelines
from convex_evals.models.responses.blocks import read_block, read_fence
from convex_evals.pipeline.lint.rules import oxlint_config

SECONDS = 120.0
TSCONFIG = {
    "compilerOptions": {
        "target": "ESNext",
        "lib": ["ES2023", "DOM", "DOM.Iterable"],
        "module": "ESNext",
        "moduleResolution": "Bundler",
        "jsx": "react-jsx",
        "strict": True,
        "noUnusedLocals": True,
        "noUnusedParameters": True,
        "isolatedModules": True,
        "skipLibCheck": True,
        "noEmit": True,
        "types": ["node"],
    },
    "include": ["convex", "src"],
}
MANIFEST = {"name": "guidelines", "private": True, "type": "module", "dependencies": {"convex": "*", "react": "*"}}

pytestmark = pytest.mark.asyncio(loop_scope="module")


class Project:
    """The samples, deployed."""

    def __init__(self, folder: Path, toolchain: Toolchain, deployment: Deployment) -> None:
        self.folder = folder
        self.toolchain = toolchain
        self.deployment = deployment

    async def run(self, *command: str | Path, **environment: str) -> ProcessResult:
        variables = base_environment(self.folder, {"CI": "1", **environment})
        return await run(command, cwd=self.folder, timeout=SECONDS, environment=variables)

    async def call(self, kind: str, path: str, **args: Any) -> Any:
        """As an administrator, so that internal functions can be called too."""
        headers = {"Authorization": f"Convex {self.deployment.admin_key}"}
        async with httpx2.AsyncClient(base_url=self.deployment.url, headers=headers, timeout=SECONDS) as client:
            answer = await client.post(f"/api/{kind}", json={"path": path, "args": args, "format": "json"})
        return answer.json()

    async def value(self, kind: str, path: str, **args: Any) -> Any:
        answer = await self.call(kind, path, **args)
        assert answer["status"] == "success", answer
        return answer["value"]


@pytest.fixture(scope="module")
def samples() -> dict[str, str]:
    """By the name in the fence's info string."""
    lines, found, number = built_in_guidelines().text.split("\n"), {}, 0
    while number < len(lines):
        fence = read_fence(lines[number])
        block = read_block(lines, number, fence, nests=False) if fence else None
        if block is not None:
            found[block.fence.info.partition(" ")[2]] = block.text
        number = block.after if block else number + 1
    return found


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def project(samples: dict[str, str], tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Project]:
    folder = tmp_path_factory.mktemp("guidelines")
    files = {**samples, "package.json": json.dumps(MANIFEST), "tsconfig.json": json.dumps(TSCONFIG)}
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    toolchain = await prepare_toolchain(read_settings())
    (folder / "node_modules").symlink_to(toolchain.packages.node_modules)
    settings = DeploymentSettings(sdk=toolchain.packages.package("convex"))
    async with Deployment.run(settings) as deployment:
        project = Project(folder, toolchain, deployment)
        target = ["--url", deployment.url, "--admin-key", deployment.admin_key]
        options = ["--once", "--typecheck=disable", "--tail-logs=disable"]
        pushed = await project.run(*toolchain.node_command("convex"), "dev", *options, *target)
        assert "Convex functions ready!" in pushed.output.text, pushed.output.text
        yield project


async def test_every_code_block_is_a_file_with_a_name(samples: dict[str, str]) -> None:
    assert all(re.fullmatch(r"(convex|src)/[\w./]+\.tsx?", name) for name in samples)
    assert built_in_guidelines().text.count("\n```") == 2 * len(samples)


async def test_every_section_has_rules_and_a_sample() -> None:
    for section in built_in_guidelines().sections:
        assert "\n- " in section.text, section.title
        assert "\n```ts" in section.text, section.title


async def test_no_line_is_longer_than_a_reader_expects() -> None:
    assert max(map(len, built_in_guidelines().text.split("\n"))) <= 130


async def test_the_samples_type_check(project: Project) -> None:
    result = await project.run(project.toolchain.binary("tsc"), "--project", ".")
    assert result.output.text == ""
    assert result.ok


@pytest.mark.parametrize("area", ["convex", "src"])
async def test_the_samples_have_no_lint_findings(project: Project, area: str) -> None:
    config = project.folder / f"oxlint-{area}.json"
    config.write_text(json.dumps(oxlint_config(area)))
    options = ["--type-aware", f"--config={config}", "--format=json", "--ignore-pattern=**/_generated/**"]
    command = [*project.toolchain.node_command("oxlint"), *options, area]
    result = await project.run(*command, OXLINT_TSGOLINT_PATH=str(project.toolchain.binary("tsgolint")))
    report = json.loads(result.output.text)
    assert report["diagnostics"] == []
    assert report["number_of_files"] > 0


async def test_the_samples_do_what_the_text_says(project: Project) -> None:
    channel = await project.value("mutation", "channels:create", name="general")
    taken = await project.call("mutation", "channels:create", name="general")
    assert taken["errorData"] == {"code": "NAME_TAKEN", "name": "general"}
    author = await _add_user(project)
    message = await project.value("mutation", "quotes:store", channelId=channel, authorId=author, body="good morning")
    assert await project.value("mutation", "likes:like", messageId=message) == 1
    assert await project.value("mutation", "likes:like", messageId=message) == 2
    [newest] = await project.value("query", "messages:newest", channelId=channel)
    assert (newest["author"], newest["likes"]) == ("Ada", 2)
    popular = await project.value("query", "messages:popular", authorId=author, atLeast=3)
    assert popular == []
    assert await project.value("query", "messages:firstMention", channelId=channel, word="morning") == message
    assert await project.value("query", "ranking:best", channelId=channel) == "Ada"
    [found] = await project.value("query", "finding:text", channelId=channel, text="morn")
    assert found["_id"] == message
    first = {"numItems": 1, "cursor": None}
    page = await project.value("query", "history:page", channelId=channel, paginationOpts=first)
    assert page["page"] == [{"id": message, "author": "Ada", "body": "good morning"}]
    await project.value("mutation", "channels:remove", channelId=channel)
    async with asyncio.timeout(SECONDS):
        while await project.value("query", "messages:newest", channelId=channel):  # noqa: ASYNC110 - it is scheduled
            await asyncio.sleep(0.02)


async def test_profiles_are_saved_and_changed_in_part(project: Project) -> None:
    user = await _add_user(project, email="grace@example.com")
    profile = {"nickname": "gh", "theme": "dark", "links": [], "votes": {user: 1}}
    assert await project.value("mutation", "profiles:save", userId=user, profile=profile) == "GH"
    await project.value("mutation", "profiles:change", userId=user, changes={"theme": "light"})
    stored = await project.value("query", "users:byEmail", email="grace@example.com")
    assert stored["profile"] == {**profile, "theme": "light"}
    refused = await project.call("mutation", "profiles:change", userId=user, changes={"votes": {}})
    assert "extra field `votes`" in refused["errorMessage"]


async def test_actions_files_and_node_work(project: Project) -> None:
    assert await project.value("action", "images:roundTrip", text="naïve") == "naïve"
    digest = await project.value("action", "digests:sha256", text="")
    assert digest.startswith("e3b0c442")
    assert await project.value("action", "finding:similar", embedding=[1.0, 0.0, 0.0, 0.0], language="en") == []


async def test_reminders_are_scheduled_and_forgotten(project: Project) -> None:
    author = await _add_user(project, email="bob@example.com")
    channel = await project.value("mutation", "channels:create", name="reminders")
    message = {"channelId": channel, "authorId": author, "body": "tea"}
    reminder = await project.value("mutation", "reminders:remind", **message, inMinutes=5)
    await project.value("mutation", "reminders:forget", reminderId=reminder)


async def test_http_routes_answer(project: Project) -> None:
    await _add_user(project, email="eve@example.com")
    async with httpx2.AsyncClient(base_url=project.deployment.site_url, timeout=SECONDS) as client:
        assert (await client.get("/health")).text == "ok"
        assert (await client.get("/users/eve%40example.com")).json() == {"name": "Ada"}
        assert (await client.get("/users/nobody")).status_code == 404
        assert (await client.get("/health/more")).status_code == 404


@pytest.mark.parametrize(
    ("declarations", "names"),
    [
        ("values/validator.d.ts", ["tuple", "enum", "date", "map", "set"]),
        ("server/query.d.ts", ["count", "limit", "skip", "iter", "map", "delete"]),
    ],
)
async def test_what_the_guide_says_is_not_there_is_not_there(
    project: Project, declarations: str, names: list[str]
) -> None:
    types = project.toolchain.packages.package("convex") / "dist/esm-types" / declarations
    members = set(re.findall(r"^ {4}(\w+)[:(<]", types.read_text(), re.MULTILINE))
    assert {"id", "take"} & members
    assert not members.intersection(names)


async def _add_user(project: Project, email: str = "ada@example.com") -> Any:
    """As the dashboard does it; the guide has no function for it."""
    documents = [{"name": "Ada", "email": email}]
    added = await project.value("mutation", "_system/frontend/addDocument", table="users", documents=documents)
    assert added["success"], added
    return (await project.value("query", "users:byEmail", email=email))["_id"]

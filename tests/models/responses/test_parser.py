"""Responses as models really write them."""

from dataclasses import dataclass, field

import pytest

from convex_evals.models.responses import cut_off, parse_response
from convex_evals.models.responses.parser import NOTHING

ASKED_FOR = """\
# Files

## package.json

```json
{"name": "app"}
```

## convex/schema.ts

```ts
export default 1;
```
"""
BOTH = {"package.json": '{"name": "app"}\n', "convex/schema.ts": "export default 1;\n"}
A = {"convex/a.ts": "export const a = 1;\n"}
BLOCK = "```ts\nexport const a = 1;\n```\n"


def named(fence: str) -> str:
    return BLOCK.replace("```ts", fence)


@dataclass(frozen=True)
class Case:
    about: str
    response: str
    files: dict[str, str] = field(default_factory=lambda: dict(A))
    notes: tuple[str, ...] = ()


CASES = [
    Case("the format that was asked for", ASKED_FOR, BOTH),
    Case("commentary around it", f"Sure! Here you go.\n\n{ASKED_FOR}\nThis should work. Any questions?\n", BOTH),
    Case("no Files heading", f"## convex/a.ts\n\n{BLOCK}"),
    Case("h3 headings", f"# Files\n\n### convex/a.ts\n{BLOCK}"),
    Case("h1 headings", f"# convex/a.ts\n{BLOCK}"),
    Case("closed headings", f"## Files ##\n\n## convex/a.ts ##\n{BLOCK}"),
    Case("underlined headings", f"Files\n=====\n\nconvex/a.ts\n-----------\n\n{BLOCK}"),
    Case("a name in backticks", f"# Files\n## `convex/a.ts`\n{BLOCK}"),
    Case("a bold name", f"# Files\n## **convex/a.ts**\n{BLOCK}"),
    Case("a bold name in backticks", f"# Files\n## **`convex/a.ts`**\n{BLOCK}"),
    Case("a name that is a link", f"## [convex/a.ts](convex/a.ts)\n{BLOCK}"),
    Case("a name with escapes", "## convex/my\\_file.ts\n```ts\n1;\n```\n", {"convex/my_file.ts": "1;\n"}),
    Case("numbered headings", f"### 1. convex/a.ts\n{BLOCK}"),
    Case("labelled headings", f"### File 1: `convex/a.ts`\n{BLOCK}"),
    Case("headings with a remark", f"### `convex/a.ts` — the only function\n{BLOCK}"),
    Case("headings with a remark in parentheses", f"## convex/a.ts (new file)\n{BLOCK}"),
    Case("headings with a picture", f"## 📄 convex/a.ts\n{BLOCK}"),
    Case("headings that lead up to the name", f"## The function (`convex/a.ts`)\n{BLOCK}"),
    Case("a bold line instead of a heading", f"**convex/a.ts**\n\n{BLOCK}"),
    Case("a bold line with a colon", f"**`convex/a.ts`:**\n{BLOCK}"),
    Case("a list with blocks in it", "1. `convex/a.ts`\n\n   ```ts\n   export const a = 1;\n   ```\n"),
    Case("a label", f"File: convex/a.ts\n{BLOCK}"),
    Case("an instruction", f"Create `convex/a.ts`:\n{BLOCK}"),
    Case("a sentence that ends with a colon", f"Here is the function, in `convex/a.ts`, as you asked:\n{BLOCK}"),
    Case("text between heading and block", f"## convex/a.ts\n\nThis file has one constant.\n\n{BLOCK}"),
    Case("the name after the language", named("```ts convex/a.ts")),
    Case("the name as title", named('```ts title="convex/a.ts"')),
    Case("the name as file name", named("```tsx filename=convex/a.ts {1,2}")),
    Case("the name after a colon", named("```typescript:convex/a.ts")),
    Case("the name instead of a language", named("```convex/a.ts")),
    Case("the heading has more of the name", f"## convex/a.ts\n{named('```ts a.ts')}"),
    Case(
        "the name as first comment",
        "```ts\n// convex/a.ts\nexport const a = 1;\n```\n",
        {"convex/a.ts": "// convex/a.ts\nexport const a = 1;\n"},
    ),
    Case(
        "other first comments",
        "```css\n/* src/a.css */\n```\n```sh\n# scripts/a.sh\n```\n```html\n<!-- index.html -->\n```\n",
        {"src/a.css": "/* src/a.css */\n", "scripts/a.sh": "# scripts/a.sh\n", "index.html": "<!-- index.html -->\n"},
    ),
    Case("a first comment in JSON is only a label", "```json\n// package.json\n{}\n```\n", {"package.json": "{}\n"}),
    Case(
        "a comment does not rename a file",
        "## convex/b.ts\n```ts\n// lib/a.ts\nexport const a = 1;\n```\n",
        {"convex/b.ts": "// lib/a.ts\nexport const a = 1;\n"},
    ),
    Case("tilde fences", "## convex/a.ts\n~~~ts\nexport const a = 1;\n~~~\n"),
    Case("longer fences", "## a.md\n`````md\n````\n```\n````\n`````\n", {"a.md": "````\n```\n````\n"}),
    Case("tildes inside backticks", "## a.md\n```md\n~~~\nx\n~~~\n```\n", {"a.md": "~~~\nx\n~~~\n"}),
    Case(
        "a block inside Markdown, with fences of the same length",
        f"# Files\n## README.md\n```markdown\n# App\n```bash\nnpm i\n```\nDone.\n```\n## convex/a.ts\n{BLOCK}",
        {"README.md": "# App\n```bash\nnpm i\n```\nDone.\n", **A},
    ),
    Case(
        "headings inside a file",
        f"# Files\n## notes.md\n````md\n## convex/b.ts\n```ts\n1\n```\n````\n## convex/a.ts\n{BLOCK}",
        {"notes.md": "## convex/b.ts\n```ts\n1\n```\n", **A},
    ),
    Case("inline code that begins like a fence", f"## convex/a.ts\n```ts``` follows:\n\n{BLOCK}"),
    Case("an empty file", "# Files\n## convex/a.ts\n```ts\n```\n", {"convex/a.ts": ""}),
    Case("blank lines are kept", "# Files\n## convex/a.ts\n```ts\n\n1;\n\n```\n", {"convex/a.ts": "\n1;\n\n"}),
    Case(
        "names that need no extension",
        "## Dockerfile\n```\nFROM a\n```\n## .env.local\n```\nB=1\n```\n",
        {"Dockerfile": "FROM a\n", ".env.local": "B=1\n"},
    ),
    Case(
        "routes of frameworks",
        "# Files\n## app/[slug]/(main)/$id.tsx\n```tsx\n1;\n```\n",
        {"app/[slug]/(main)/$id.tsx": "1;\n"},
    ),
    Case("Windows line ends", ASKED_FOR.replace("\n", "\r\n"), BOTH, ("Windows line endings were converted.",)),
    Case("Windows line ends in one file only", "## a.ts\n```ts\n1;\r\n```\n", {"a.ts": "1;\r\n"}),
    Case("a byte order mark", f"\ufeff{ASKED_FOR}", BOTH),
    Case(
        "a file that is there twice",
        f"# Files\n## convex/a.ts\n```ts\nfirst;\n```\n## ./convex/a.ts\n{BLOCK}",
        A,
        ("./convex/a.ts is read as convex/a.ts.", "convex/a.ts appears 2 times; the last one is used."),
    ),
    Case(
        "an extract of a file after the file",
        f"# Files\n## convex/a.ts\n{BLOCK}\n# How `convex/a.ts` works\n```ts\nconst a\n```\n",
        A,
        ("convex/a.ts: 1 extract ignored.",),
    ),
    Case(
        "commands to run",
        f"## Setup\n```bash\nnpm install\n```\n## convex/a.ts\n{BLOCK}\n## Usage\n```bash\nnpx convex dev\n```\n",
        A,
        ("2 code blocks without a file name: ignored.",),
    ),
    Case(
        "a product with a dot is no file",
        f"## convex/a.ts\n{BLOCK}\n## Node.js\n```ts\n1;\n```\n",
        A,
        ("1 code block without a file name: ignored.",),
    ),
    Case(
        "an endpoint is no file",
        f"## convex/a.ts\n{BLOCK}\n### /api/messages\n```ts\n1;\n```\n",
        A,
        ("1 code block without a file name: ignored.",),
    ),
    Case(
        "drafts before the answer",
        f"Let me think.\n```ts convex/a.ts\ndraft;\n```\n\n{ASKED_FOR}",
        BOTH,
        ("1 file before the files section: ignored.",),
    ),
    Case("a list of files at the end", f"## convex/a.ts\n{BLOCK}\n## Files\n- convex/a.ts\n"),
    Case(
        "the whole answer in a block",
        f"```markdown\n{ASKED_FOR}```\n",
        BOTH,
        ("The whole answer is in one code block.",),
    ),
    Case(
        "the whole answer in a block without a language, between sentences",
        f"Here:\n\n```\n{ASKED_FOR}```\n\nGood luck!\n",
        BOTH,
        ("The whole answer is in one code block.",),
    ),
    Case(
        "the whole answer in a longer block",
        f"````md\n{ASKED_FOR}````\n",
        BOTH,
        ("The whole answer is in one code block.",),
    ),
    *(
        Case(
            f"reasoning in <{tag}>",
            f"<{tag}>\nMaybe:\n# Files\n## convex/b.ts\n```ts\nb\n</{tag}>\n\n{ASKED_FOR}",
            BOTH,
            ("Reasoning was removed.",),
        )
        for tag in ("think", "thinking", "reasoning", "analysis")
    ),
    Case(
        "reasoning whose opening tag was in the prompt",
        f"Let me see.\n```ts convex/b.ts\nb\n```\n</think>\n{ASKED_FOR}",
        BOTH,
        ("Reasoning was removed.",),
    ),
    Case(
        "reasoning tags in a file",
        "# Files\n## convex/a.ts\n```ts\n<think>\n</think>\n```\n",
        {"convex/a.ts": "<think>\n</think>\n"},
    ),
    Case("channels", f"<|channel|>analysis<|message|>Hm.<|end|><|channel|>final<|message|>{ASKED_FOR}<|return|>", BOTH),
    Case("channels without markers", f"analysisWe need two files.assistantfinal{ASKED_FOR}", BOTH),
    Case("tags", '<file path="convex/a.ts">\nexport const a = 1;\n</file>\n'),
    Case("tags around blocks", f'<file path="convex/a.ts">\n{BLOCK}</file>\n'),
    Case("tags with CDATA", '<file name="convex/a.ts"><![CDATA[\nexport const a = 1;\n]]></file>\n'),
    Case("a JSON object", '{"files": {"convex/a.ts": "export const a = 1;"}}'),
    Case(
        "JSON in a block",
        '```json\n{"files": [{"path": "convex/a.ts", "content": "export const a = 1;\\n"}]}\n```\n',
        A,
        (),
    ),
]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.about)
def test_files_are_found_in(case: Case) -> None:
    parsed = parse_response(case.response, "stop")
    assert parsed.files == case.files
    assert parsed.notes == case.notes
    assert not parsed.problems
    assert not parsed.truncated


@pytest.mark.parametrize(
    ("given", "taken"),
    [
        ("./convex/a.ts", "convex/a.ts"),
        ("/convex/a.ts", "convex/a.ts"),
        ("/package.json", "package.json"),
        ("../convex/a.ts", "../convex/a.ts"),
        ("convex/../../a.ts", "convex/../../a.ts"),
        ("/etc/passwd", "/etc/passwd"),
        ("/home/me/.ssh/config", "/home/me/.ssh/config"),
        ("//server/share/a.ts", "//server/share/a.ts"),
        ("C:\\app\\a.ts", "C:\\app\\a.ts"),
        ("~/app/a.ts", "~/app/a.ts"),
        ("convex\\a.ts", "convex\\a.ts"),
    ],
)
def test_a_harmless_name_is_made_plain_and_a_hostile_one_is_passed_on(given: str, taken: str) -> None:
    assert list(parse_response(f"# Files\n## `{given}`\n{BLOCK}").files) == [taken]


CUT_OFF = f"{ASKED_FOR}\n## convex/a.ts\n\n```ts\nexport const"


def test_a_file_without_an_end_is_cut_off_whatever_the_provider_says() -> None:
    parsed = parse_response(CUT_OFF, "stop")
    assert parsed.truncated
    assert parsed.files == BOTH
    assert parsed.problems == ("convex/a.ts is cut off: its code block never ends.",)


@pytest.mark.parametrize("reason", ["length", "max_tokens", "MAX_TOKENS", "FinishReason.MAX_TOKENS", "content_filter"])
def test_a_response_that_was_stopped_is_truncated_although_every_block_ends(reason: str) -> None:
    parsed = parse_response(ASKED_FOR, reason)
    assert parsed.truncated
    assert parsed.problems == ()


@pytest.mark.parametrize(
    ("reason", "said"),
    [
        ("length", "cut off at the output limit"),
        ("FinishReason.MAX_TOKENS", "cut off at the output limit"),
        ("content_filter", "cut off (content_filter)"),
        ("stop", "cut off"),
        (None, "cut off"),
    ],
)
def test_how_an_answer_was_cut_off_is_said_in_words(reason: str | None, said: str) -> None:
    assert cut_off(reason) == said


@pytest.mark.parametrize("reason", [None, "stop", "end_turn", "STOP", "stop_sequence"])
def test_a_response_that_ended_by_itself_is_complete(reason: str | None) -> None:
    assert not parse_response(ASKED_FOR, reason).truncated


def test_reasoning_without_an_end_leaves_no_answer() -> None:
    parsed = parse_response(f"<think>\nHm.\n{ASKED_FOR}", "stop")
    assert parsed.truncated
    assert not parsed.files
    assert parsed.problems == ("The reasoning never ends, so there is no answer.", NOTHING)


@pytest.mark.parametrize("start", ["```markdown\n", "````\n"])
def test_a_whole_answer_in_a_block_that_never_ends_is_truncated(start: str) -> None:
    parsed = parse_response(f"{start}{ASKED_FOR}")
    assert parsed.truncated
    assert parsed.files == BOTH


def test_a_file_in_tags_without_an_end_is_cut_off() -> None:
    parsed = parse_response('<file path="convex/a.ts">\n1;\n</file>\n<file path="convex/b.ts">\n2;')
    assert parsed.truncated
    assert parsed.files == {"convex/a.ts": "1;\n"}


def test_a_repeated_file_whose_last_copy_is_cut_off_is_not_taken() -> None:
    parsed = parse_response(f"## convex/a.ts\n{BLOCK}## convex/a.ts\n```ts\nexport")
    assert parsed.truncated
    assert not parsed.files


@pytest.mark.parametrize("response", ["", "I cannot help with that.", "```ts\nconst a = 1;\n```\n", "# Files\n"])
def test_a_response_without_files_says_so(response: str) -> None:
    assert parse_response(response, "stop").problems == (NOTHING,)


MANY = 20_000
ADVERSE = {
    "backticks": "## " + "`" * MANY,
    "code spans": "`a" * MANY + ":\n```ts\n```",
    "stars": "**a" * MANY + "\n```\n```",
    "numbers": "## " + "1. " * MANY,
    "words before a name": "## " + "new file: " * MANY,
    "parentheses": "## a.ts" + " (a)" * MANY,
    "folders": "## " + "../" * MANY,
    "spaces": "## " + " " * MANY + "x",
    "comments": "```ts\n" + "// " * MANY + "\n```",
    "attributes": "```ts " + "title=" * MANY + "\n```",
    "nested blocks": "```md\n```x\n```\n" * (MANY // 3),
    "reasoning": "<think>\n</think>\n" * MANY,
    "channels": "<|channel|>" * MANY,
    "open tags": "<file path='a.ts'>" * MANY,
    "tags that never end": "<file path='" * MANY,
    "JSON": '{"files":' + "[" * MANY,
}


@pytest.mark.timeout(60)
@pytest.mark.parametrize("response", ADVERSE.values(), ids=ADVERSE)
def test_no_response_takes_long_to_read(response: str) -> None:
    parse_response(response)

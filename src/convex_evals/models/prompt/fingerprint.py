"""Whether two runs were asked in the same way."""

from convex_evals.models.prompt.prompt import PromptSettings, render_prompt
from convex_evals.suite import fingerprint
from convex_evals.suite.fingerprints import Entry, entry


def prompt_fingerprint(settings: PromptSettings) -> str:
    """Of everything a model is sent but the task, which the content fingerprint of an eval has.

    Entries: `template`, `guidelines` if there are any, and `settings`, the prompt as it is for an empty task.
    """
    entries = [Entry(settings.template.sha256, "template")]
    if settings.guidelines is not None:
        entries.append(Entry(settings.guidelines.sha256, "guidelines"))
    entries.append(entry("settings", render_prompt("", settings).text.encode()))
    return fingerprint(entries)

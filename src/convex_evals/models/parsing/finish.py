"""What providers say about why a model stopped."""

from typing import Final

# The words of OpenAI (chat and responses), Anthropic, Google, Mistral and servers that imitate them.
_CUT_OFF: Final = frozenset(
    {
        "length",
        "max_length",
        "max_tokens",
        "max_output_tokens",
        "model_length",
        "model_context_window_exceeded",
        "token_limit",
        "incomplete",
        "content_filter",
        "safety",
        "recitation",
        "blocklist",
        "prohibited_content",
        "spii",
        "error",
        "abort",
        "cancelled",
    }
)


def is_cut_off(finish_reason: str | None) -> bool:
    """Whether the model was stopped before it was done. No reason given says nothing."""
    return finish_reason is not None and finish_reason.lower().rpartition(".")[2] in _CUT_OFF

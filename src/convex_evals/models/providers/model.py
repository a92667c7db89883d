"""A model of a provider: asked with a prompt made from the task, its reply read for files."""

from dataclasses import dataclass

from convex_evals.models.parsing import parse_response
from convex_evals.models.prompt import PromptSettings, render_prompt
from convex_evals.models.providers.asking import AskSettings, Question, Transport
from convex_evals.scores import Generation
from convex_evals.suite import Eval


@dataclass(frozen=True, slots=True)
class ProviderModel:
    """`name` is the slug, `provider` the one that the registry says."""

    name: str
    provider: str
    transport: Transport
    prompt_settings: PromptSettings
    ask_settings: AskSettings

    def answers(self, asked: Eval, trial: int) -> bool:
        return True

    def question(self, asked: Eval, trial: int) -> Question:
        return Question(render_prompt(asked.task, self.prompt_settings), self.ask_settings, trial)

    async def generate(self, asked: Eval, trial: int) -> Generation:
        question = self.question(asked, trial)
        reply = await self.transport.ask(question)
        parsed = parse_response(reply.text, reply.finish_reason)
        return Generation(
            prompt=question.prompt.text,
            response=reply.text,
            files=parsed.files,
            usage=reply.usage,
            from_cache=reply.from_cache,
            truncated=parsed.truncated,
            notes=(*reply.notes, *parsed.notes, *parsed.problems),
        )

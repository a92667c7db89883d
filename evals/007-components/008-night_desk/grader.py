"""A chat with a language model that uses tools, on threads of the agent component. The model is this grader."""

import json
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import pytest

from convex_evals.pipeline.grading.kit import Caller, Deployment, Reply, WebRequest, WebServer, at_once, wait_until

FUNCTIONS: dict[str, tuple[str, dict[str, str]]] = {
    "desk:open": ("mutation", {"title": "t"}),
    "desk:threads": ("query", {}),
    "desk:ask": ("mutation", {"threadId": "t", "text": "t"}),
    "desk:conversation": ("query", {"threadId": "t"}),
    "desk:usage": ("query", {}),
    "desk:close": ("mutation", {"threadId": "t"}),
}
INSTRUCTIONS = "You are the night desk of Hotel Convex."
INPUT, OUTPUT = 7, 3
"""Tokens of every request."""

patience = [15.0]
"""Seconds to wait for an answer."""

Message = dict[str, Any]


def text_of(message: Message) -> str:
    content = message.get("content")
    if isinstance(content, list):
        return "".join(part.get("text", "") for part in content)
    return content or ""


def call(tool: str, **arguments: Any) -> Message:
    return {"tool": tool, "arguments": arguments}


class Model:
    """Responds to the last message: a question without a script gets its text back."""

    def __init__(self) -> None:
        self.requests: list[list[Message]] = []
        self.scripts: dict[str, list[str | Message | int]] = {}
        self.before: Callable[[], None] = lambda: None

    def reply(self, request: WebRequest) -> Reply:
        body = request.json()
        assert isinstance(body, dict)
        messages: list[Message] = body["messages"]
        self.requests.append(messages)
        self.before()
        place = max(index for index, message in enumerate(messages) if message["role"] == "user")
        question = text_of(messages[place])
        steps = sum(message["role"] == "assistant" for message in messages[place:])
        script = self.scripts.get(question, [f"re: {question}"])
        said = script[min(steps, len(script) - 1)]
        if (body["model"], request.headers.get("authorization")) != ("night-1", "Bearer sesame"):
            said = 401
        if isinstance(said, int):
            return Reply.json({"error": {"message": "no", "type": "error", "code": str(said)}}, said)
        return self._streamed(said) if body.get("stream") else self._whole(said)

    def _whole(self, said: str | Message) -> Reply:
        message: Message = {"role": "assistant", "content": said}
        if isinstance(said, dict):
            message = {"role": "assistant", "content": None, "tool_calls": [self._tool_call(said)]}
        reason = "tool_calls" if isinstance(said, dict) else "stop"
        choice = {"index": 0, "message": message, "finish_reason": reason}
        return Reply.json({**self._envelope("chat.completion"), "choices": [choice], "usage": self._usage()})

    def _streamed(self, said: str | Message) -> Reply:
        deltas: list[Message] = []
        if isinstance(said, str):
            deltas = [{"content": part} for part in (said[:3], said[3:])]
        else:
            deltas = [{"tool_calls": [{"index": 0, **self._tool_call(said)}]}]
        reason = "tool_calls" if isinstance(said, dict) else "stop"
        choices: list[Message] = [
            {"index": 0, "delta": {"role": "assistant", **delta}, "finish_reason": None} for delta in deltas
        ]
        choices.append({"index": 0, "delta": {}, "finish_reason": reason})
        envelope = self._envelope("chat.completion.chunk")
        chunks = [{**envelope, "choices": [choice]} for choice in choices]
        chunks.append({**envelope, "choices": [], "usage": self._usage()})
        body = "".join(f"data: {json.dumps(chunk)}\n\n" for chunk in chunks) + "data: [DONE]\n\n"
        return Reply(body.encode(), 200, {"Content-Type": "text/event-stream"})

    def _tool_call(self, said: Message) -> Message:
        function = {"name": said["tool"], "arguments": json.dumps(said["arguments"])}
        return {"id": f"call{len(self.requests)}", "type": "function", "function": function}

    def _envelope(self, kind: str) -> Message:
        return {"id": f"r{len(self.requests)}", "object": kind, "created": 1_700_000_000, "model": "night-1"}

    def _usage(self) -> Message:
        return {"prompt_tokens": INPUT, "completion_tokens": OUTPUT, "total_tokens": INPUT + OUTPUT}


@pytest.fixture
def model(project: Deployment, web_server: WebServer) -> Iterator[Model]:
    made = Model()
    url = web_server.reply("POST", "/v1/chat/completions", made.reply)
    project.env.set(MODEL_URL=url.removesuffix("/chat/completions"), MODEL_KEY="sesame")
    yield made


def conversation(guest: Caller, thread: str) -> list[Message]:
    received: list[Message] = guest.query("desk:conversation", threadId=thread)
    for each in received:
        assert set(each) == {"role", "text", "status", "tools"}
    return received


def question(text: str) -> Message:
    return {"role": "user", "text": text, "status": "success", "tools": []}


def answer(text: str, *tools: str) -> Message:
    return {"role": "assistant", "text": text, "status": "success", "tools": list(tools)}


def wait_for_answers(guest: Caller, thread: str, count: int) -> list[Message]:
    def found() -> list[Message]:
        received = conversation(guest, thread)
        ended = [each for each in received if each["role"] == "assistant" and each["status"] in ("success", "failed")]
        assert len(ended) == count
        return received

    try:
        return wait_until(found, f"{count} answers", seconds=patience[-1])
    except AssertionError:
        patience.append(3)  # one long wait is enough to know that answers do not arrive
        raise


def ask(guest: Caller, thread: str, *texts: str) -> list[Message]:
    """Each after the one before has been answered."""
    received = conversation(guest, thread)
    count = sum(each["role"] == "assistant" for each in received)
    for number, text in enumerate(texts):
        assert isinstance(guest.mutation("desk:ask", threadId=thread, text=text), str)
        received = wait_for_answers(guest, thread, count + number + 1)
    return received


def sent(messages: list[Message]) -> list[tuple[str, str]]:
    return [(message["role"], text_of(message)) for message in messages]


def test_a_question_is_answered_by_the_model(project: Deployment, model: Model) -> None:
    ada = project.as_user("ada")
    thread = ada.mutation("desk:open", title="Arrival")
    assert conversation(ada, thread) == []
    assert ask(ada, thread, "Is it late?") == [question("Is it late?"), answer("re: Is it late?")]
    assert sent(model.requests[0]) == [("system", INSTRUCTIONS), ("user", "Is it late?")]
    assert ask(ada, thread, "And now?")[2:] == [question("And now?"), answer("re: And now?")]
    assert len(model.requests) == 2


def test_the_question_is_there_at_once_and_its_answer_arrives(project: Deployment, model: Model) -> None:
    ada = project.as_user("ada")
    thread = ada.mutation("desk:open", title="Arrival")
    seen: list[Message] = []
    model.before = lambda: seen.extend(conversation(ada, thread))
    with ada.subscribe("desk:conversation", threadId=thread) as live:
        ada.mutation("desk:ask", threadId=thread, text="Hello?")
        assert conversation(ada, thread)[0] == question("Hello?")
        live.wait_until(lambda value: value[1:] == [answer("re: Hello?")])
    assert seen[0] == question("Hello?")
    assert [(each["role"], each["text"]) for each in seen[1:]] in ([], [("assistant", "")])
    assert all(each["status"] in ("pending", "streaming") for each in seen[1:])


def test_tools_see_the_guest_who_asks_and_nobody_else(project: Deployment, model: Model) -> None:
    project.insert("bookings", guest="ada", room=5, nights=2)
    project.insert("bookings", guest="ben", room=6, nights=9)
    model.scripts = {
        "Room 5?": [call("findBooking", room=5), "Two nights."],
        "Room 6?": [call("findBooking", room=6), "No idea."],
        "Taxi!": [call("callTaxi", time="23:30"), "Done."],
    }
    ada, ben = project.as_user("ada"), project.as_user("ben")
    thread = ada.mutation("desk:open", title="Tools")
    received = ask(ada, thread, "Room 5?", "Room 6?", "Taxi!")
    assert received[1::2] == [
        answer("Two nights.", "findBooking"),
        answer("No idea.", "findBooking"),
        answer("Done.", "callTaxi"),
    ]
    results = [text_of(each) for request in model.requests for each in request if each["role"] == "tool"]
    assert [json.loads(each) if each[0] in "{n" else each.strip('"') for each in results] == [
        {"nights": 2},
        None,
        "called",
    ]
    other = ben.mutation("desk:open", title="Tools")
    ask(ben, other, "Room 6?")
    assert json.loads(text_of(model.requests[-1][-1])) == {"nights": 9}
    ask(ben, other, "Taxi!")
    taxis = [(each["guest"], each["threadId"], each["time"]) for each in project.documents("taxis")]
    assert taxis == [("ada", thread, "23:30"), ("ben", other, "23:30")]


def test_tools_can_be_used_again_but_the_model_is_asked_four_times_at_most(project: Deployment, model: Model) -> None:
    model.scripts = {
        "Twice": [call("findBooking", room=1), call("callTaxi", time="1"), "Both."],
        "For ever": [call("callTaxi", time="2")],
    }
    ada = project.as_user("ada")
    thread = ada.mutation("desk:open", title="Tools")
    assert ask(ada, thread, "Twice")[1] == answer("Both.", "findBooking", "callTaxi")
    assert [len([each for each in request if each["role"] == "tool"]) for request in model.requests] == [0, 1, 2]
    ada.mutation("desk:ask", threadId=thread, text="For ever")
    wait_until(lambda: len(model.requests) == 7, "four requests")
    wait_until(lambda: sum(each["time"] == "2" for each in project.documents("taxis")) == 4, "the last taxi")
    project.advance(minutes=1)
    assert len(model.requests) == 7
    ended = wait_until(
        lambda: [each for each in conversation(ada, thread)[3:] if each["status"] == "success"], "the end of the answer"
    )
    assert ended == [answer("", *["callTaxi"] * 4)]


def test_the_model_is_sent_the_last_three_questions_and_answers(project: Deployment, model: Model) -> None:
    model.scripts = {"q1": [call("findBooking", room=1), "found"]}
    ada = project.as_user("ada")
    thread, other = (ada.mutation("desk:open", title=title) for title in ("one", "two"))
    ask(ada, other, "elsewhere")
    ask(ada, thread, *(f"q{number}" for number in range(6)))
    requests = {text_of(request[-1]): sent(request) for request in model.requests if request[-1]["role"] == "user"}

    def expected(*numbers: int) -> list[tuple[str, str]]:
        earlier = [
            pair
            for number in numbers[:-1]
            for pair in (("user", f"q{number}"), ("assistant", "found" if number == 1 else f"re: q{number}"))
        ]
        return [("system", INSTRUCTIONS), *earlier, ("user", f"q{numbers[-1]}")]

    assert requests["q1"] == expected(0, 1)
    assert requests["q3"] == expected(0, 1, 2, 3)
    assert requests["q4"] == expected(1, 2, 3, 4)
    assert requests["q5"] == expected(2, 3, 4, 5)
    assert not any("tool_calls" in each for request in model.requests for each in request[:-2])


def test_an_answer_that_fails_is_not_tried_again(project: Deployment, model: Model) -> None:
    model.scripts = {"down": [503], "late": [call("callTaxi", time="3"), 500]}
    ada = project.as_user("ada")
    thread = ada.mutation("desk:open", title="Trouble")
    for number, text in enumerate(("down", "late")):
        received = ask(ada, thread, text)
        assert received[2 * number] == question(text)
        assert received[2 * number + 1]["status"] == "failed"
    project.advance(minutes=10)
    assert len(model.requests) == 3
    assert len(project.documents("taxis")) == 1
    assert ask(ada, thread, "fine")[-1] == answer("re: fine")
    assert sent(model.requests[-1])[-1] == ("user", "fine")


def test_questions_asked_at_once_get_their_own_answers(project: Deployment, model: Model) -> None:
    project.insert("bookings", guest="ada", room=1, nights=4)
    model.scripts = {"number 2": [call("findBooking", room=1), "four"]}
    ada = project.as_user("ada")
    thread = ada.mutation("desk:open", title="Many")
    texts = [f"number {number}" for number in range(4)]
    with ada.clients(4) as clients:
        ids = at_once(
            [
                partial(each.mutation, "desk:ask", threadId=thread, text=text)
                for each, text in zip(clients, texts, strict=True)
            ]
        )
    assert len(set(ids)) == 4
    received = wait_for_answers(ada, thread, 4)
    assert sorted(each["text"] for each in received[::2]) == texts
    for asked, given in zip(received[::2], received[1::2], strict=True):
        expected = answer("four", "findBooking") if asked["text"] == "number 2" else answer(f"re: {asked['text']}")
        assert (asked["role"], given) == ("user", expected)
    assert len(model.requests) == 5
    stored = [each for each in project.documents("messages", component="agent") if each["message"]["role"] == "user"]
    assert len(stored) == 4, "a question is stored once"


def test_a_long_conversation_is_returned_whole(project: Deployment, model: Model) -> None:
    """Few messages, for which more than a hundred are stored: calls of tools and what these have returned."""
    texts = [f"number {number}" for number in range(13)]
    script: list[str | Message | int] = [*(call("findBooking", room=number) for number in range(3)), "none"]
    model.scripts = dict.fromkeys(texts, script)
    ada = project.as_user("ada")
    thread = ada.mutation("desk:open", title="All night")
    received = ask(ada, thread, *texts)
    assert received == [message for text in texts for message in (question(text), answer("none", *["findBooking"] * 3))]


def test_a_hundred_threads_are_listed(project: Deployment, model: Model) -> None:
    ada = project.as_user("ada")
    threads = [ada.mutation("desk:open", title=f"t{number}") for number in range(100)]
    expected = [{"threadId": thread, "title": f"t{number}"} for number, thread in enumerate(threads)]
    assert ada.query("desk:threads") == expected[::-1]


def test_threads_belong_to_their_guests(project: Deployment, model: Model) -> None:
    ada, ben = project.as_user("ada"), project.as_user("ben")
    threads = [ada.mutation("desk:open", title=f"t{number}") for number in range(4)]
    own = ben.mutation("desk:open", title="ben's")
    expected = [{"threadId": threads[number], "title": f"t{number}"} for number in (3, 2, 1, 0)]
    assert ada.query("desk:threads") == expected
    assert ben.query("desk:threads") == [{"threadId": own, "title": "ben's"}]
    assert project.as_user("cyd").query("desk:threads") == []
    ask(ada, threads[0], "mine")
    for path, arguments in (("ask", {"text": "x"}), ("close", {})):
        with project.fails(data={"code": "NOT_FOUND"}):
            ben.mutation(f"desk:{path}", threadId=threads[0], **arguments)
    with project.fails(data={"code": "NOT_FOUND"}):
        ben.query("desk:conversation", threadId=threads[0])
    project.advance(minutes=1)
    assert conversation(ada, threads[0]) == [question("mine"), answer("re: mine")]
    assert len(model.requests) == 1
    rows = project.documents("threads", component="agent")
    assert [each.get("userId") for each in rows] == ["ada"] * 4 + ["ben"]


def test_a_closed_thread_is_deleted_with_all_messages(project: Deployment, model: Model) -> None:
    ada = project.as_user("ada")
    thread, other = (ada.mutation("desk:open", title=title) for title in ("one", "two"))
    model.scripts = {"Taxi!": [call("callTaxi", time="1"), "Done."]}
    ask(ada, thread, "Taxi!")
    ask(ada, other, "Hello")
    assert ada.mutation("desk:close", threadId=thread) is None
    project.advance(minutes=1)
    assert ada.query("desk:threads") == [{"threadId": other, "title": "two"}]
    assert {each["threadId"] for each in project.documents("messages", component="agent")} == {other}
    for call_ in (partial(ada.query, "desk:conversation"), partial(ada.mutation, "desk:close")):
        with project.fails(data={"code": "NOT_FOUND"}):
            call_(threadId=thread)
    with project.fails(data={"code": "NOT_FOUND"}):
        ada.mutation("desk:ask", threadId=thread, text="Hello?")
    assert ada.query("desk:usage") == {"requests": 3, "input": 3 * INPUT, "output": 3 * OUTPUT}


def test_usage_is_counted_per_guest(project: Deployment, model: Model) -> None:
    model.scripts = {"Taxi!": [call("callTaxi", time="1"), "Done."], "bad": [400]}
    ada, ben = project.as_user("ada"), project.as_user("ben")
    assert ada.query("desk:usage") == {"requests": 0, "input": 0, "output": 0}
    thread, other = (ada.mutation("desk:open", title=title) for title in ("one", "two"))
    ask(ada, thread, "Taxi!", "bad")
    ask(ada, other, "Hello")
    ask(ben, ben.mutation("desk:open", title="ben's"), "Hello")

    def counted() -> bool:
        assert ada.query("desk:usage") == {"requests": 3, "input": 3 * INPUT, "output": 3 * OUTPUT}
        assert ben.query("desk:usage") == {"requests": 1, "input": INPUT, "output": OUTPUT}
        return True

    wait_until(counted, "the usage")


def test_nobody_is_served_who_is_not_signed_in(project: Deployment, model: Model) -> None:
    thread = project.as_user("ada").mutation("desk:open", title="Arrival")
    for name, (kind, arguments) in FUNCTIONS.items():
        call_ = project.query if kind == "query" else project.mutation
        with project.fails(data={"code": "SIGNED_OUT"}):
            call_(name, {**arguments, **({"threadId": thread} if "threadId" in arguments else {})})
    assert len(project.documents("threads", component="agent")) == 1
    assert model.requests == []


def test_clients_can_call_these_functions_and_no_others_and_arguments_are_validated(project: Deployment) -> None:
    public = {name: spec.kind for name, spec in project.functions().items() if spec.is_public}
    assert public == {name: kind for name, (kind, _) in FUNCTIONS.items()}
    for name, (kind, arguments) in FUNCTIONS.items():
        call_ = project.query if kind == "query" else project.mutation
        for rejected in ({**arguments, "more": 1}, *rejected_values(arguments)):
            with project.fails("ArgumentValidationError"):
                call_(name, rejected)


def rejected_values(arguments: dict[str, Any]) -> Iterator[dict[str, Any]]:
    for argument in arguments:
        yield {**arguments, argument: 1}
        yield {key: arguments[key] for key in arguments if key != argument}


def test_the_tables_have_the_fields_of_the_task(project: Deployment, answer: Deployment) -> None:
    for table, names in {"bookings": ("guest", "room", "nights"), "taxis": ("guest", "threadId", "time")}.items():
        received, described = project.schema().table(table).fields, answer.schema().table(table).fields
        assert {name: received.get(name) for name in names} == {name: described[name] for name in names}

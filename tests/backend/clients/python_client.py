"""The client of the PyPI package `convex`, driven over stdin and stdout: one JSON object per line, as `npm_client.mjs`.

It has a process of its own because its calls block without letting go of the interpreter: the deployment, which runs
in the process of the tests, could not answer.
"""

import json
import sys
from typing import Any

from convex import ConvexClient, ConvexError

subscriptions: dict[str, Any] = {}
client = ConvexClient(sys.argv[1])
if len(sys.argv) > 2:
    client.set_admin_auth(sys.argv[2])


def answer(op: str, request: dict[str, Any]) -> object:
    match op:
        case "query":
            return client.query(request["path"], request["args"])
        case "mutation":
            return client.mutation(request["path"], request["args"])
        case "action":
            return client.action(request["path"], request["args"])
        case "subscribe":
            subscriptions[request["subscription"]] = client.subscribe(request["path"], request["args"])
        case "next":
            return next(subscriptions[request["subscription"]])
        case "unsubscribe":
            subscriptions.pop(request["subscription"]).unsubscribe()
    return None


def described(error: Exception) -> dict[str, object]:
    return {"message": str(error), **({"data": error.data} if isinstance(error, ConvexError) else {})}


for line in sys.stdin:
    request = json.loads(line)
    try:
        reply: dict[str, object] = {"value": answer(request["op"], request)}
    except Exception as error:
        reply = {"error": described(error)}
    print(json.dumps({"id": request["id"], **reply}), flush=True)

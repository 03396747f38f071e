"""A model endpoint on loopback that behaves as a test wants it to."""

import json
import threading
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


@dataclass(frozen=True)
class Reply:
    """What goes back: a status and a body, JSON unless it is a text."""

    status: int
    body: object
    reason: str | None = None
    """The words behind the status, when not the usual ones."""


def completion(text: str | None, finish_reason: str = "stop") -> Reply:
    return Reply(
        200,
        {
            "model": "test",
            "choices": [
                {"index": 0, "message": {"role": "assistant", "content": text}, "finish_reason": finish_reason}
            ],
            "usage": {"prompt_tokens": 10, "completion_tokens": 5, "total_tokens": 15},
        },
    )


type Behaviour = Callable[[str, int], Reply]
"""What to reply to a prompt that is asked for the n-th time, counted from 0."""


@dataclass
class ModelServer:
    """A running endpoint and what it was asked."""

    url: str
    behaviour: Behaviour
    asked: Counter[str] = field(default_factory=Counter)
    requests: list[dict[str, Any]] = field(default_factory=list)
    authorization: set[str | None] = field(default_factory=set)


@contextmanager
def serve(behaviour: Behaviour) -> Iterator[ModelServer]:
    lock = threading.Lock()
    model: ModelServer

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            prompt = body["messages"][-1]["content"]
            with lock:
                times = model.asked[prompt]
                model.asked[prompt] += 1
                model.requests.append(body)
                model.authorization.add(self.headers["Authorization"])
            reply = model.behaviour(prompt, times)
            text = isinstance(reply.body, str)
            data = (reply.body if isinstance(reply.body, str) else json.dumps(reply.body)).encode()
            self.send_response(reply.status, reply.reason)
            self.send_header("Content-Type", "text/html" if text else "application/json")
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

        def log_message(self, format: str, *args: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    model = ModelServer(f"http://127.0.0.1:{server.server_port}/v1", behaviour)
    # The default of half a second would be the time that each test takes to end.
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield model
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


@contextmanager
def dead_endpoint() -> Iterator[str]:
    """The address of an endpoint that is no more."""
    with serve(lambda _prompt, _times: completion("")) as model:
        pass
    yield model.url

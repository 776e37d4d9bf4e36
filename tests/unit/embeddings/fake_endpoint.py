"""An embeddings endpoint on 127.0.0.1 that answers what a test tells it to, over real HTTP."""

from __future__ import annotations

import json
import threading
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


@dataclass
class Answer:
    """One answer. `body`: text or JSON. `hangs`: nothing is sent until the test ends."""

    status: int = 200
    body: Any = None
    headers: dict[str, str] = field(default_factory=dict)
    hangs: bool = False


@dataclass
class FakeEndpoint:
    """What was asked, and what to answer next; without a script every text gets a vector.

    Attributes:
        script: answers in their order, or functions of the request's body.
        asked: the bodies of the requests.
        keys: their Authorization headers.
        dimensions: of the vectors that are made up: the length of the text, then ones.
    """

    url: str = ""
    script: deque[Answer | Callable[[dict[str, Any]], Answer]] = field(default_factory=deque)
    asked: list[dict[str, Any]] = field(default_factory=list)
    keys: list[str | None] = field(default_factory=list)
    paths: list[str] = field(default_factory=list)
    dimensions: int = 3
    ended: threading.Event = field(default_factory=threading.Event)

    def vectors(self, body: dict[str, Any]) -> Answer:
        ones = [1.0] * (body.get("dimensions", self.dimensions) - 1)
        data = [
            {"index": place, "embedding": [float(len(text)), *ones]}
            for place, text in enumerate(body["input"])
        ]
        return Answer(body={"data": data})


@contextmanager
def fake_endpoint() -> Iterator[FakeEndpoint]:
    """An endpoint that serves until the end of the block."""
    endpoint = FakeEndpoint()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["content-length"])))
            endpoint.asked.append(body)
            endpoint.keys.append(self.headers.get("authorization"))
            endpoint.paths.append(self.path)
            answer = endpoint.script.popleft() if endpoint.script else endpoint.vectors
            if not isinstance(answer, Answer):
                answer = answer(body)
            if answer.hangs:
                endpoint.ended.wait(30)
                return
            text = answer.body if isinstance(answer.body, str) else json.dumps(answer.body)
            data = text.encode()
            self.send_response(answer.status)
            for name, value in answer.headers.items():
                self.send_header(name, value)
            self.send_header("content-length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

        def log_message(self, *_: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    endpoint.url = f"http://127.0.0.1:{server.server_address[1]}/v1"
    thread = threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True)
    thread.start()
    try:
        yield endpoint
    finally:
        endpoint.ended.set()
        server.shutdown()
        server.server_close()
        thread.join()

"""A model hub on 127.0.0.1 with one model: as much of its protocol as a download needs."""

from __future__ import annotations

import hashlib
import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

COMMIT = "0123456789abcdef0123456789abcdef01234567"


@dataclass
class FakeHub:
    """`asked`: the paths of all requests. `gate`: the files wait for it; `waits`: one does."""

    url: str = ""
    asked: list[str] = field(default_factory=list)
    gate: threading.Event = field(default_factory=threading.Event)
    waits: threading.Event = field(default_factory=threading.Event)


@contextmanager
def fake_hub(repository: str, folder: Path) -> Iterator[FakeHub]:
    """Serve the files of a folder as those of a repository until the end of the block."""
    hub = FakeHub()
    hub.gate.set()
    files = {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for path in folder.rglob("*")
        if path.is_file()
    }
    tree = [
        {"type": "file", "path": name, "size": len(data), "oid": _oid(data)}
        for name, data in files.items()
    ]
    about = {
        "id": repository,
        "sha": COMMIT,
        "siblings": [{"rfilename": name} for name in files],
        "tags": [],
        "private": False,
        "downloads": 0,
    }

    class Handler(BaseHTTPRequestHandler):
        def do_HEAD(self) -> None:
            self._answer(with_body=False)

        def do_GET(self) -> None:
            self._answer(with_body=True)

        def _answer(self, *, with_body: bool) -> None:
            path = self.path.partition("?")[0]
            hub.asked.append(path)
            api, file = f"/api/models/{repository}", f"/{repository}/resolve/{COMMIT}/"
            for prefix in (api, file):  # older libraries write the name in small letters
                if path.lower().startswith(prefix.lower()):
                    path = prefix + path[len(prefix) :]
            if path.startswith(f"{api}/tree/"):
                self._send(json.dumps(tree).encode(), "application/json", with_body=with_body)
            elif path == api or path.startswith(f"{api}/revision/"):
                self._send(json.dumps(about).encode(), "application/json", with_body=with_body)
            elif path.startswith(file) and path.removeprefix(file) in files:
                data = files[path.removeprefix(file)]
                if with_body:
                    hub.waits.set()
                    hub.gate.wait(30)
                self._send(data, "application/octet-stream", etag=_oid(data), with_body=with_body)
            else:
                self.send_error(404)

        def _send(self, data: bytes, kind: str, *, etag: str = "", with_body: bool) -> None:
            self.send_response(200)
            self.send_header("content-type", kind)
            self.send_header("content-length", str(len(data)))
            self.send_header("x-repo-commit", COMMIT)
            if etag:
                self.send_header("etag", f'"{etag}"')
            self.end_headers()
            if with_body:
                try:
                    self.wfile.write(data)
                except OSError:
                    self.close_connection = True

        def log_message(self, *_: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    hub.url = f"http://127.0.0.1:{server.server_address[1]}"
    thread = threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True)
    thread.start()
    try:
        yield hub
    finally:
        hub.gate.set()
        server.shutdown()
        server.server_close()
        thread.join()


def _oid(data: bytes) -> str:
    """As git names a blob."""
    return hashlib.sha1(b"blob %d\0" % len(data) + data, usedforsecurity=False).hexdigest()

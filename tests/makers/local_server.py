"""A web server on this machine that misbehaves on request."""

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

Behaviour = Callable[[Any, bytes], None]


class LocalServer:
    """Serves ``files``; a path in ``scripts`` is answered by its behaviours in turn, then by the last."""

    def __init__(self, port: int) -> None:
        self.address = f"http://127.0.0.1:{port}"
        self.files: dict[str, bytes] = {}
        self.scripts: dict[str, list[Behaviour]] = {}
        self.requests: list[tuple[str, dict[str, str]]] = []

    def url(self, name: str) -> str:
        return f"{self.address}/{name}"

    def answer(self, handler: BaseHTTPRequestHandler) -> None:
        name = handler.path.lstrip("/")
        self.requests.append((name, dict(handler.headers.items())))
        script = self.scripts.get(name, [whole])
        behaviour = script.pop(0) if len(script) > 1 else script[0]
        behaviour(handler, self.files.get(name, b""))


@contextmanager
def serving() -> Iterator[LocalServer]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.0"

        def do_GET(self) -> None:
            local.answer(self)

        def log_message(self, *arguments: object) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        local = LocalServer(server.server_port)
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        try:
            yield local
        finally:
            server.shutdown()
            thread.join()


def head(handler: Any, status: int, **headers: object) -> None:
    handler.send_response(status)
    for name, value in headers.items():
        handler.send_header(name.replace("_", "-"), str(value))
    handler.end_headers()


def whole(handler: Any, body: bytes) -> None:
    """Everything, whatever was asked for."""
    head(handler, 200, Content_Length=len(body))
    handler.wfile.write(body)


def ranged(handler: Any, body: bytes, tag: str = '"one"') -> None:
    """A good server: ranges, and a tag of the version."""
    asked = handler.headers.get("Range")
    wanted_tag = handler.headers.get("If-Range", tag)
    if asked is None or wanted_tag != tag:
        head(handler, 200, Content_Length=len(body), ETag=tag)
        handler.wfile.write(body)
        return
    start = int(asked.removeprefix("bytes=").removesuffix("-"))
    if start >= len(body):
        head(handler, 416, Content_Range=f"bytes */{len(body)}", Content_Length=0)
        return
    content_range = f"bytes {start}-{len(body) - 1}/{len(body)}"
    head(handler, 206, Content_Range=content_range, Content_Length=len(body) - start, ETag=tag)
    handler.wfile.write(body[start:])


def dropped(after: int, tag: str | None = None) -> Behaviour:
    """Announces everything and hangs up after some bytes."""

    def behave(handler: Any, body: bytes) -> None:
        head(handler, 200, Content_Length=len(body), **({"ETag": tag} if tag else {}))
        handler.wfile.write(body[:after])

    return behave


def status(code: int) -> Behaviour:
    return lambda handler, body: head(handler, code, Content_Length=0)

from __future__ import annotations

import gzip
import os
import resource
import threading
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from types import SimpleNamespace

import pooch
import pytest

from shuffledp.pipeline.datasets import download


@dataclass
class Server:
    """Server whose n-th response is the n-th of its script; later responses repeat the last."""

    body: bytes = b"0123456789" * 30_000
    behaviours: list[str] = field(default_factory=lambda: ["good"])
    requests: list[dict[str, str]] = field(default_factory=list)
    files: dict[str, bytes] = field(default_factory=dict)
    url: str = ""
    stop: threading.Event = field(default_factory=threading.Event)

    def behaviour(self) -> str:
        return self.behaviours[min(len(self.requests), len(self.behaviours)) - 1]


class _Handler(BaseHTTPRequestHandler):
    script: Server

    def log_message(self, format: str, *args: object) -> None:
        pass

    def _send(self, status: int, body: bytes, length: int | None = None, **headers: str) -> None:
        self.send_response(status)
        self.send_header("Content-Length", str(len(body) if length is None else length))
        for key, value in headers.items():
            self.send_header(key.replace("_", "-"), value)
        self.end_headers()
        self.wfile.write(body)

    def do_GET(self) -> None:
        script, body = self.script, self.script.body
        script.requests.append(
            {key.lower(): value for key, value in self.headers.items()} | {"path": self.path}
        )
        if script.files:
            known = script.files.get(self.path)
            return self._send(200, known) if known is not None else self._send(404, b"no")
        kind, half = script.behaviour(), len(body) // 2
        if kind.isdigit():
            return self._send(int(kind), b"trouble")
        if kind == "loop":
            return self._send(302, b"", Location=self.path)
        if kind == "encoded":
            return self._send(200, gzip.compress(body), Content_Encoding="gzip")
        if kind == "encoded_twice":
            return self._send(200, gzip.compress(gzip.compress(body)), Content_Encoding="gzip")
        if kind in ("html", "plain_html"):
            about = {"Content_Type": "text/html; charset=utf-8"} if kind == "html" else {}
            return self._send(200, b"\n <!DOCTYPE html><html>Log in</html>", **about)
        if kind in ("truncated", "stall"):
            self._send(200, body[:half], len(body))
            self.wfile.flush()
            script.stop.wait(20 if kind == "stall" else 0)
            return None
        if kind == "silent":
            script.stop.wait(20)
            return None
        if kind == "reset":
            self.connection.close()
            return None
        if kind == "chunked_cut":
            self.send_response(200)
            self.send_header("Transfer-Encoding", "chunked")
            self.end_headers()
            self.wfile.write(b"%x\r\n" % len(body) + body[:half])
            return None
        if kind in ("drip", "endless"):  # until the other side or the test has enough
            self.wfile.write(b"HTTP/1.0 200 OK\r\n\r\n")
            while not script.stop.wait(0.0 if kind == "endless" else 0.01):
                self.wfile.write(bytes(1 << 16) if kind == "endless" else b"a")
                self.wfile.flush()
            return None
        contents = {
            "good": body,
            "wrong": body[::-1],
            "short": body[:-1],
            "long": body + b"1",
            "empty": b"",
            "gzip": gzip.compress(body),
            "cut_gzip": gzip.compress(body)[:-9],
        }
        return self._send(200, contents[kind])


class _Quiet(ThreadingHTTPServer):
    daemon_threads = True

    def handle_error(self, request: object, client_address: object) -> None:
        pass


@pytest.fixture
def server() -> Iterator[Server]:
    script = Server()
    http = _Quiet(("127.0.0.1", 0), type("Handler", (_Handler,), {"script": script}))
    script.url = f"http://127.0.0.1:{http.server_address[1]}"
    thread = threading.Thread(target=http.serve_forever, args=(0.01,), daemon=True)
    thread.start()
    yield script
    script.stop.set()
    http.shutdown()
    http.server_close()
    thread.join(5)


@pytest.fixture(autouse=True)
def _in_a_hurry(monkeypatch: pytest.MonkeyPatch) -> None:
    """Use no proxy, and retry without waiting."""
    for name in ("http_proxy", "https_proxy", "all_proxy", "HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(pooch.core, "time", SimpleNamespace(sleep=lambda seconds: None))
    monkeypatch.setattr(download, "TIMEOUT", (2.0, 0.3))


@contextmanager
def _full_disk() -> Iterator[None]:
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (200_000, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)


@pytest.fixture
def full_disk() -> Callable[[], AbstractContextManager[None]]:
    """Make every write beyond 200,000 bytes of a file fail in the operating system, as on a full disk."""
    return _full_disk


@pytest.fixture
def offline(monkeypatch: pytest.MonkeyPatch) -> None:
    """Make every connection to another machine fail."""
    for name in ("http_proxy", "https_proxy"):
        monkeypatch.setenv(name, "http://127.0.0.1:9")  # nobody listens there
    monkeypatch.setenv("no_proxy", "127.0.0.1")


@pytest.fixture(scope="session")
def mirror() -> str:
    value = os.environ.get("SHUFFLEDP_MIRROR")
    if not value:
        pytest.skip("SHUFFLEDP_MIRROR is not set: the real data cannot be had")
    return value


@pytest.fixture(scope="session")
def raw_dir(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("raw")

"""S3 server on this machine, for tests of storage and remote data."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.request import ProxyHandler, Request, build_opener

from waiting import wait_until

BUCKET = "results-of-a-test"

opened = build_opener(ProxyHandler({})).open


@contextmanager
def s3(log: Path, **environment: str) -> Iterator[str]:
    """Start an S3 server for one test with a bucket, and return its address."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    address = f"http://127.0.0.1:{port}"

    def answers() -> bool:
        try:
            with opened(Request(f"{address}/{BUCKET}", method="PUT")) as answer:
                return bool(answer.status == 200)
        except OSError:
            return False

    with log.open("w") as sink:
        command = [sys.executable, "-m", "moto.server", "-H", "127.0.0.1", "-p", str(port)]
        server = subprocess.Popen(command, stdout=sink, stderr=sink, env=os.environ | environment)
        try:
            assert wait_until(answers), log.read_text()
            yield address
        finally:
            server.terminate()
            server.wait()

from __future__ import annotations

import hashlib
import os
import signal
import socket
import subprocess
import sys
import threading
from typing import TYPE_CHECKING

import pytest

from shuffledp.pipeline.datasets import DownloadError, LocalError, NoNetworkError, download, fetch, hosts
from waiting import wait_until

if TYPE_CHECKING:
    from pathlib import Path

    from conftest import Server


def get(server: Server, target: Path, **options: object) -> Path:
    settings = {
        "sha256": hashlib.sha256(server.body).hexdigest(),
        "timeout": (2.0, 0.3),
        "attempts": 3,
        "wait": 0.01,
        "progress": False,
    } | options
    return fetch(f"{server.url}/file.bin", target, **settings)


def left(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


@pytest.mark.parametrize(
    "behaviours",
    [
        ["good"],
        ["502", "good"],
        ["busy", "429", "good"],
        ["truncated", "good"],
        ["truncated", "truncated", "good"],
        ["chunked_cut", "good"],
        ["stall", "good"],
        ["silent", "good"],
        ["reset", "good"],
        ["wrong", "good"],
        ["truncated_wrong", "good", "good"],  # the resumed file is wrong: once more from zero
        ["truncated", "changed"],  # the file has changed on the server: not resumed
        ["truncated", "502", "good"],
    ],
    ids="-".join,
)
def test_passing_trouble_ends_in_the_right_file(server, tmp_path, behaviours):
    server.behaviours = behaviours
    assert get(server, tmp_path / "file.bin").read_bytes() == server.body
    assert left(tmp_path) == ["file.bin"]
    assert len(server.requests) == len(behaviours)


@pytest.mark.parametrize(
    ("behaviour", "requests", "says"),
    [
        ("404", 1, "answered 404"),
        ("403", 1, "answered 403"),
        ("502", 3, "answered 502"),
        ("truncated_wrong", 3, "cut short"),
        ("chunked_cut", 3, "cut short"),
        ("stall", 3, "stalled"),
        ("silent", 3, "no answer within"),
        ("reset", 3, "connection broke"),
        ("wrong", 2, "expected"),
        ("html", 1, "web page"),
        ("plain_html", 1, "web page"),
    ],
)
def test_lasting_trouble_is_a_clear_error_and_leaves_nothing(server, tmp_path, behaviour, requests, says):
    server.behaviours = [behaviour]
    if behaviour == "truncated_wrong":
        server.body = b"x" * 10
    with pytest.raises(DownloadError, match=says) as caught:
        get(server, tmp_path / "file.bin")
    assert server.url in str(caught.value)
    assert left(tmp_path) == []
    assert len(server.requests) == requests


def test_a_good_file_survives_a_failed_download(server, tmp_path):
    (tmp_path / "file.bin").write_bytes(b"before")
    server.behaviours = ["wrong"]
    with pytest.raises(DownloadError):
        get(server, tmp_path / "file.bin")
    assert (tmp_path / "file.bin").read_bytes() == b"before"
    assert left(tmp_path) == ["file.bin"]


def test_resumes_with_range_and_if_range(server, tmp_path):
    server.behaviours = ["truncated", "good"]
    get(server, tmp_path / "file.bin")
    assert server.requests[1]["range"] == f"bytes={len(server.body) // 2}-"
    assert server.requests[1]["if-range"] == '"one"'


def test_a_large_beginning_is_kept_and_resumed_by_the_next_call(server, tmp_path):
    server.body = bytes(range(256)) * 10_000
    server.behaviours = ["truncated"]
    with pytest.raises(DownloadError):
        get(server, tmp_path / "file.bin", attempts=1)
    assert left(tmp_path) == ["file.bin.part", "file.bin.part.json"]
    server.behaviours = ["good"]
    assert get(server, tmp_path / "file.bin").read_bytes() == server.body
    assert server.requests[-1]["range"] == f"bytes={len(server.body) // 2}-"
    assert left(tmp_path) == ["file.bin"]


@pytest.mark.parametrize("part", ["garbage", "complete", "too long", "of another address"])
def test_whatever_lies_in_the_partial_file_the_result_is_right(server, tmp_path, part):
    content = {
        "garbage": b"?" * 1000,
        "complete": server.body,
        "too long": server.body + b"!",
        "of another address": server.body[:99],
    }[part]
    (tmp_path / "file.bin.part").write_bytes(content)
    url = "http://elsewhere/file.bin" if part == "of another address" else f"{server.url}/file.bin"
    (tmp_path / "file.bin.part.json").write_text(f'{{"url": "{url}", "validator": "\\"one\\""}}')
    assert get(server, tmp_path / "file.bin", size=len(server.body)).read_bytes() == server.body
    assert left(tmp_path) == ["file.bin"]


def test_wrong_size_is_noticed_before_the_body_is_read(server, tmp_path):
    with pytest.raises(DownloadError, match="announces 300000 bytes, expected 10"):
        get(server, tmp_path / "file.bin", size=10)
    assert left(tmp_path) == []


def test_refused_connection_fails_at_once_and_is_remembered(tmp_path, monkeypatch):
    asked = []
    get_once = download.requests.get
    monkeypatch.setattr(download.requests, "get", lambda *a, **k: asked.append(a) or get_once(*a, **k))
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{unused.getsockname()[1]}/x"
        with pytest.raises(NoNetworkError, match="SHUFFLEDP_MIRROR"):
            fetch(url, tmp_path / "x", progress=False)
        assert len(asked) <= 1, "it was tried again"
        assert hosts.probe([url])[url] is not None
    assert left(tmp_path) == []


def test_unknown_host_fails_at_once(tmp_path, monkeypatch):
    def unknown(*args, **kwargs):
        raise socket.gaierror(-2, "Name or service not known")

    monkeypatch.setattr(socket, "getaddrinfo", unknown)
    with pytest.raises(NoNetworkError):
        fetch("http://no-such-host.invalid/x", tmp_path / "x", progress=False)
    calls = []
    monkeypatch.setattr(download.requests, "get", lambda *a, **k: calls.append(a))
    with pytest.raises(NoNetworkError):
        fetch("http://no-such-host.invalid/y", tmp_path / "y", progress=False)
    assert calls == []


def test_probe_is_limited_even_if_name_resolution_hangs(monkeypatch):
    never = threading.Event()

    def hang(*args, **kwargs):
        never.wait()
        raise OSError("too late")

    monkeypatch.setattr(hosts.socket, "create_connection", hang)
    urls = ["http://a.invalid/1", "http://b.invalid/2"]
    assert all("no answer" in str(reason) for reason in hosts.probe(urls, limit=0.2).values())
    never.set()  # only now does the connection end


def test_probe_tries_the_proxy_where_there_is_one(monkeypatch):
    monkeypatch.setenv("http_proxy", "http://proxy.invalid:3128")
    tried = []

    def connect(endpoint, timeout):
        tried.append(endpoint)
        raise OSError("no")

    monkeypatch.setattr(hosts.socket, "create_connection", connect)
    hosts.probe(["http://a.invalid/1"])
    assert tried == [("proxy.invalid", 3128)]


def test_killed_transfer_leaves_nothing_under_the_final_name_and_is_resumed(server, tmp_path):
    server.body = bytes(range(256)) * 20_000
    server.behaviours = ["slow"]
    code = (
        "import sys; from pathlib import Path; from shuffledp.pipeline.datasets import fetch; "
        "fetch(sys.argv[1], Path(sys.argv[2]), progress=False)"
    )
    target = tmp_path / "file.bin"
    child = subprocess.Popen([sys.executable, "-c", code, f"{server.url}/file.bin", str(target)])
    part = tmp_path / "file.bin.part"
    wait_until(lambda: part.exists() and part.stat().st_size > 300_000)
    os.kill(child.pid, signal.SIGKILL)
    child.wait()
    assert not target.exists()
    assert 0 < part.stat().st_size < len(server.body)
    server.behaviours = ["good"]
    assert get(server, target).read_bytes() == server.body
    assert "range" in server.requests[-1]
    assert left(tmp_path) == ["file.bin"]


def test_two_at_once_both_end_well(server, tmp_path):
    server.behaviours = ["slow"]
    results = []
    threads = [
        threading.Thread(target=lambda: results.append(get(server, tmp_path / "file.bin"))) for _ in range(2)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(results) == 2
    assert (tmp_path / "file.bin").read_bytes() == server.body
    assert left(tmp_path) == ["file.bin"]


@pytest.mark.parametrize(
    ("behaviour", "says"),
    [
        ("endless", "more than the expected 300000 bytes"),
        ("drip", "too slow, less than 10000 bytes per second"),
        ("drip_header", "no complete answer within 0.6 s"),
    ],
)
def test_a_body_without_end_is_given_up(server, tmp_path, behaviour, says):
    server.behaviours = [behaviour]
    options = {"limit": len(server.body), "least": (1e4, 0.1), "timeout": (0.1, 0.2), "attempts": 1}
    with pytest.raises(DownloadError, match=says):
        get(server, tmp_path / "file.bin", **options)
    assert left(tmp_path) == []


def test_a_full_disk_is_no_fault_of_the_source(server, tmp_path, full_disk):
    with full_disk(), pytest.raises(LocalError, match=r"file\.bin.*Free some disk space"):
        get(server, tmp_path / "file.bin")
    assert len(server.requests) == 1
    assert left(tmp_path) == []

"""Downloads from a server that misbehaves: each ends in the right file, or in one error that leaves nothing behind."""

import gzip
import hashlib
import os
import signal
import socket
import subprocess
import sys
from zipfile import ZIP_DEFLATED

import pytest

from shuffledp.pipeline.datasets import DownloadError, NoNetworkError, download
from shuffledp.pipeline.datasets.download import fetch
from shuffledp.pipeline.datasets.registry import Location
from shuffledp.storage import sweep
from waiting import wait_until
from zip_files import zipped


def location(content, file="file.bin"):
    digest = hashlib.sha256(content).hexdigest()
    return Location("adult", "1", "server", file, "", digest, len(content), "free", "published", "")


def get(server, folder, address="/file.bin"):
    return fetch(location(server.body), folder, server.url + address)


def damaged(content, mark, offset, byte):
    """Return a zip file with another byte at an offset from a mark."""
    place = content.index(mark) + offset
    return content[:place] + bytes([byte]) + content[place + 1 :]


def left(folder):
    return sorted(path.name for path in folder.iterdir())


@pytest.mark.parametrize(
    "behaviours",
    [
        *(["good"], ["encoded"], ["gzip"], ["encoded_twice"], ["502", "good"], ["429", "503", "good"]),
        *(["truncated", "good"], ["chunked_cut", "good"], ["stall", "good"], ["silent", "good"]),
        *(["reset", "good"], ["wrong", "good"], ["cut_gzip", "short", "good"]),
    ],
    ids="-".join,
)
def test_passing_trouble_gives_right_file(server, tmp_path, behaviours):
    server.behaviours = behaviours
    assert get(server, tmp_path).read_bytes() == server.body
    assert left(tmp_path) == ["file.bin"]
    assert len(server.requests) == len(behaviours)
    (tmp_path / "other").write_bytes(b"")
    assert (tmp_path / "file.bin").stat().st_mode == (tmp_path / "other").stat().st_mode


@pytest.mark.parametrize(
    "behaviour, requests, says",
    [
        *(("404", 1, "answered 404"), ("403", 1, "answered 403"), ("204", 1, "answered 204")),
        *(("502", 3, "answered 502"), ("loop", 31, "redirects"), ("truncated", 3, "cut short")),
        *(("chunked_cut", 3, "cut short"), ("stall", 3, "cut short"), ("silent", 3, "no answer .*timed out")),
        *(("reset", 3, "no answer .*Connection"), ("html", 1, "web page"), ("plain_html", 1, "web page")),
        *(("wrong", 3, "has sha256 .* expected"), ("short", 3, "has 299999 bytes, expected 300000")),
        *(("long", 3, "has more than 300000 bytes, expected 300000"), ("empty", 3, "has 0 bytes")),
        ("cut_gzip", 3, "damaged gzip file"),
        ("endless", 1, "more than 1348576 bytes"),
        ("drip", 1, r"takes longer than 0\.2 s"),
    ],
)
def test_lasting_trouble_is_an_error(server, tmp_path, monkeypatch, behaviour, requests, says):
    monkeypatch.setattr(download, "LONGEST", 0.2 if behaviour == "drip" else 60.0)
    server.behaviours = [behaviour]
    with pytest.raises(DownloadError, match=says) as caught:
        get(server, tmp_path)
    assert str(caught.value).startswith(server.url)
    assert left(tmp_path) == []
    assert len(server.requests) == requests


@pytest.mark.parametrize(
    "content, member",
    [
        (zipped(______evil__file_bin=b"published", other=b"x"), "file.bin"),
        (zipped(file_bin_gz=gzip.compress(b"published")), "file.bin"),
        (zipped(file_bin_gz=b"another", file_bin_gz_old=gzip.compress(b"published")), "file.bin"),
        (zipped(a_zip=zipped(file_bin=b"published")), "a.zip#file.bin"),
        (gzip.compress(b"published"), ""),
    ],
    ids=["folders", "packed", "old", "twice", "gzip"],
)
def test_a_packed_file_is_unpacked(server, tmp_path, content, member):
    server.files = {"/a": content}
    address = f"{server.url}/a#{member}" if member else f"{server.url}/a"
    assert fetch(location(b"published"), tmp_path, address).read_bytes() == b"published"
    assert left(tmp_path) == ["file.bin"]


@pytest.mark.parametrize(
    "content, says",
    [
        (b"not a zip", "not a readable zip file"),
        (zipped(b=b"published"), "the zip file has no file.bin"),
        (zipped(file_bin=b"changed!!"), "has sha256"),
        (zipped(file_bin=bytes(1 << 22)), "more than 9 bytes"),
        (zipped(file_bin=b"published").replace(b"published", b"publishes"), "not a readable zip file"),
        (damaged(zipped(ZIP_DEFLATED, file_bin=b"published"), b"file.bin", 8, 255), "invalid block type"),
        (damaged(zipped(file_bin=b"published"), b"PK\1\2", 10, 99), "compression method"),
    ],
    ids=["none", "missing", "changed", "large", "damaged", "packing", "unknown"],
)
def test_zip_with_other_content_is_refused(server, tmp_path, content, says):
    server.files = {"/a.zip": content}
    with pytest.raises(DownloadError, match=says):
        fetch(location(b"published"), tmp_path, f"{server.url}/a.zip#file.bin")
    assert left(tmp_path) == []


def test_good_file_survives_failed_download(server, tmp_path):
    (tmp_path / "file.bin").write_bytes(b"before")
    server.behaviours = ["wrong"]
    with pytest.raises(DownloadError):
        get(server, tmp_path)
    assert (tmp_path / "file.bin").read_bytes() == b"before"
    assert left(tmp_path) == ["file.bin"]


def test_unreachable_hosts_fail_at_once(tmp_path, monkeypatch):
    asked = []
    get_once = download.requests.get
    monkeypatch.setattr(download.requests, "get", lambda *a, **k: asked.append(a) or get_once(*a, **k))
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        for host in (f"127.0.0.1:{unused.getsockname()[1]}", "no-such-host.invalid"):
            with pytest.raises(NoNetworkError, match=f"{host}/x: no connection.*SHUFFLEDP_MIRROR"):
                fetch(location(b"x"), tmp_path, f"http://{host}/x")
    assert len(asked) == 2
    assert left(tmp_path) == []


def test_killed_transfer_leaves_no_file(server, tmp_path):
    server.behaviours = ["stall"]
    code = (
        "import sys; from pathlib import Path; from shuffledp.pipeline.datasets.download import fetch; "
        "from shuffledp.pipeline.datasets.registry import Location; "
        "fetch(Location('adult', '', '', 'file.bin', '', '0', 300_000, '', '', ''), Path(sys.argv[1]), sys.argv[2])"
    )
    child = subprocess.Popen([sys.executable, "-c", code, str(tmp_path), f"{server.url}/file.bin"])
    wait_until(lambda: any(path.stat().st_size for path in tmp_path.glob("*.tmp")))
    os.kill(child.pid, signal.SIGKILL)
    child.wait()
    sweep(tmp_path)
    assert not (tmp_path / "file.bin").exists()
    assert sum(path.stat().st_size for path in tmp_path.iterdir()) == 0  # what is left is empty
    server.behaviours = ["good"]
    assert get(server, tmp_path).read_bytes() == server.body


def test_full_disk_is_a_local_error(server, tmp_path, full_disk):
    with full_disk(), pytest.raises(OSError, match="File too large"):
        get(server, tmp_path)
    assert len(server.requests) == 1
    assert left(tmp_path) == []

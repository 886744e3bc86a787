import errno
import hashlib
import multiprocessing
import os
import subprocess
import sys

import pytest

from shuffledp import storage
from shuffledp.storage import IntegrityError, damaged, listed, publish, verified, write_atomically


def test_published_bundle_is_verified(tmp_path):
    """The list has the format of sha256sum."""
    publish(tmp_path / "b.sha256", {tmp_path / "b.txt": b"two", tmp_path / "sub/a.txt": b"one"})
    digests = [hashlib.sha256(c).hexdigest() for c in (b"two", b"one")]
    assert (tmp_path / "b.sha256").read_text() == f"# b\n{digests[0]}  b.txt\n{digests[1]}  sub/a.txt\n"
    for name in ("b.txt", "sub/a.txt"):
        assert verified(tmp_path / name, tmp_path / "b.sha256") == tmp_path / name
    assert damaged(tmp_path / "b.sha256") == []


def test_dying_writer_leaves_the_old_file(tmp_path, monkeypatch):
    write_atomically(tmp_path / "a", b"old")

    def dies(handle):
        raise KeyboardInterrupt

    monkeypatch.setattr(storage.os, "fsync", dies)
    with pytest.raises(KeyboardInterrupt):
        write_atomically(tmp_path / "a", b"new")
    assert (tmp_path / "a").read_bytes() == b"old"
    assert [p.name for p in tmp_path.iterdir()] == ["a"]


def test_full_disk_error_names_the_file(tmp_path, monkeypatch):
    """The system's error for a write names no file, unlike its error for opening one."""

    def full(descriptor):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(storage.os, "fsync", full)
    with pytest.raises(OSError, match=f"No space left on device: '{tmp_path / 'table.csv'}'"):
        write_atomically(tmp_path / "table.csv", b"1")
    assert list(tmp_path.iterdir()) == []


def test_bundle_of_dying_writer_is_unread(tmp_path, monkeypatch):
    files = {tmp_path / "a": b"1", tmp_path / "b": b"2"}
    publish(tmp_path / "x.sha256", files)
    original = storage.write_atomically

    def dies(path, content, mode):
        if path.name == "b":
            raise KeyboardInterrupt
        original(path, content)

    monkeypatch.setattr(storage, "write_atomically", dies)
    with pytest.raises(KeyboardInterrupt):
        publish(tmp_path / "x.sha256", files)
    assert not (tmp_path / "x.sha256").exists()
    with pytest.raises(IntegrityError, match=r"x\.sha256 is missing"):
        verified(tmp_path / "a", tmp_path / "x.sha256")


def test_old_checksum_is_removed_first(tmp_path, monkeypatch):
    publish(tmp_path / "x.sha256", {tmp_path / "a": b"1"})
    present = []
    original = storage.write_atomically
    monkeypatch.setattr(
        storage,
        "write_atomically",
        lambda path, content, mode: (
            present.append((tmp_path / "x.sha256").exists()),
            original(path, content),
        ),
    )
    publish(tmp_path / "x.sha256", {tmp_path / "a": b"2"})
    assert present == [False, False]


def test_check_precedes_any_change(tmp_path, monkeypatch):
    class NoMoreError(Exception):
        pass

    def no():
        raise NoMoreError

    publish(tmp_path / "x.sha256", {tmp_path / "a": b"1"})
    monkeypatch.setattr(storage, "_asked", [])
    storage.ask_before_publishing(no)
    with pytest.raises(NoMoreError):
        publish(tmp_path / "x.sha256", {tmp_path / "a": b"2"})
    with pytest.raises(NoMoreError):
        write_atomically(tmp_path / "a", b"2")
    assert verified(tmp_path / "a", tmp_path / "x.sha256").read_bytes() == b"1"
    assert sorted(p.name for p in tmp_path.iterdir()) == ["a", "x.sha256"]


def _write_often(path, letter):
    for _ in range(40):
        write_atomically(path, letter * 100_000)


def test_simultaneous_writers_leave_no_mixture(tmp_path):
    path = tmp_path / "a"
    context = multiprocessing.get_context("spawn")
    writers = [context.Process(target=_write_often, args=(path, letter)) for letter in (b"x", b"y")]
    for writer in writers:
        writer.start()
    while any(writer.is_alive() for writer in writers):
        if path.exists():
            content = path.read_bytes()
            assert content in (b"x" * 100_000, b"y" * 100_000)
    assert [writer.exitcode for writer in writers] == [0, 0]
    assert [p.name for p in tmp_path.iterdir()] == ["a"]


@pytest.mark.parametrize(
    "garbage",
    [
        b"",
        b"hello",
        b"\xff\xfe\x00",
        b"abc  a\n",
        b"0" * 64 + b" a\n",
        *(b"0" * 64 + b"  " + n for n in (b"", b"../a", b"/a")),
    ],
)
def test_invalid_checksum_list_is_damaged(tmp_path, garbage):
    (tmp_path / "a").write_bytes(b"1")
    checksum = tmp_path / "x.sha256"
    checksum.write_bytes(b"# x\n" + garbage)
    assert damaged(checksum) == [checksum]
    for read in (lambda: listed(checksum), lambda: verified(tmp_path / "a", checksum)):
        with pytest.raises(IntegrityError, match=r"x\.sha256.*make repair"):
            read()


@pytest.mark.parametrize(
    "spoil, says",
    [
        (lambda f: f.write_bytes(b"11"), "content differs"),
        (lambda f: f.unlink(), "but missing"),
        (lambda f: f.with_name("x.sha256").unlink(), "is missing"),
    ],
)
def test_verification_error_names_file_and_reason(tmp_path, spoil, says):
    path = tmp_path / "a"
    publish(tmp_path / "x.sha256", {path: b"1", tmp_path / "b": b"2"})
    spoil(path)
    with pytest.raises(IntegrityError, match=says) as caught:
        verified(path, tmp_path / "x.sha256")
    assert str(caught.value).startswith(str(path))


def test_unlisted_file_is_not_verified(tmp_path):
    publish(tmp_path / "x.sha256", {tmp_path / "a": b"1"})
    (tmp_path / "b").write_bytes(b"1")
    with pytest.raises(IntegrityError, match="not in its checksum list"):
        verified(tmp_path / "b", tmp_path / "x.sha256")


def test_exchanged_bundles_are_noticed(tmp_path):
    """Two experiments have a method of the same name; all files and the list are exchanged."""
    for experiment in "ab":
        folder = tmp_path / "runs/paper" / experiment
        publish(folder / "m.sha256", {folder / "m.json": experiment.encode()}, folders=3)
    runs = tmp_path / "runs/paper"
    for old, new in (("a", "c"), ("b", "a"), ("c", "b")):
        (runs / old).rename(runs / new)
    for experiment in "ab":
        checksum = runs / experiment / "m.sha256"
        assert damaged(checksum) == [checksum]
        with pytest.raises(
            IntegrityError, match="must begin with the name of its result, got '# runs/paper/"
        ):
            verified(checksum.with_name("m.json"), checksum)


def test_list_without_title_is_damaged(tmp_path):
    publish(tmp_path / "x.sha256", {tmp_path / "a": b"1"})
    (tmp_path / "x.sha256").write_text((tmp_path / "x.sha256").read_text().partition("\n")[2])
    assert damaged(tmp_path / "x.sha256") == [tmp_path / "x.sha256"]


def test_publishing_removes_leftovers_of_killed_process(tmp_path):
    """A job that is killed between writing and renaming cannot remove its temporary file."""
    ended = subprocess.run(
        [sys.executable, "-c", "import os; print(os.getpid())"], capture_output=True, text=True, check=True
    )
    folder = tmp_path / "drawn"
    with storage.temporary_beside(folder / "a.sha256") as own:
        own.write_bytes(b"at work")
        left = own.with_name(own.name.replace(f"-{os.getpid()}-", f"-{int(ended.stdout)}-"))
        foreign = folder / ".draft.tmp"
        for path in (left, foreign):
            path.write_bytes(b"half")
        publish(folder / "a.sha256", {folder / "a.csv": b"1\n"})
        assert not left.exists() and own.exists() and foreign.exists()

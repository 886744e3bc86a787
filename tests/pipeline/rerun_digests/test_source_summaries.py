"""Summaries of source files are stored, and used only while they are valid."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from shuffledp.pipeline.rerun_digests import source_summaries
from shuffledp.pipeline.rerun_digests.digest import Code
from shuffledp.pipeline.rerun_digests.source_summaries import PACKAGE, Kept, read_source

ENTRY = "shuffledp.accounting.general.clones"
SOURCES = [path.read_bytes() for path in sorted((PACKAGE / "protocols").glob("*.py"))]


@pytest.fixture(autouse=True)
def _writes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "dont_write_bytecode", False)


def refuse(*_: object) -> None:
    raise AssertionError("a file was read again")


def test_what_was_kept_is_what_is_read(tmp_path, monkeypatch):
    kept = Kept(tmp_path / "new" / "kept.json")
    read = [kept.read(content) for content in SOURCES]
    assert read == [read_source(content) for content in SOURCES]
    kept.save()
    monkeypatch.setattr(source_summaries, "read_source", refuse)
    again = Kept(tmp_path / "new" / "kept.json")
    assert [again.read(content) for content in SOURCES] == read
    with pytest.raises(AssertionError, match="read again"):
        again.read(SOURCES[0] + b"\nmore = 1\n")


def test_a_digest_is_the_same_with_what_was_kept_and_without(tmp_path):
    path = tmp_path / "kept.json"
    found = [Code(tmp_path, kept=kept).reach(ENTRY) for kept in (None, Kept(path), Kept(path))]
    assert path.is_file() and len(set(found)) == 1


@pytest.mark.parametrize("damage", [b"", b"{}", b"\xff\xfe", b"0\n{}", b'0\n{"a": 1}'])
def test_a_file_that_does_not_match_its_checksum_is_not_used(tmp_path, damage):
    path = tmp_path / "kept.json"
    path.write_bytes(damage)
    kept = Kept(path)
    assert kept.read(SOURCES[0]) == read_source(SOURCES[0])
    kept.save()
    text = path.read_bytes()
    assert Kept(path).read(SOURCES[0]) == read_source(SOURCES[0])
    for place in range(0, len(text), 101):
        path.write_bytes(text[:place] + bytes([text[place] ^ 1]) + text[place + 1 :])
        assert Kept(path).read(SOURCES[0]) == read_source(SOURCES[0]), place


def test_what_another_version_kept_is_not_used(tmp_path, monkeypatch):
    kept = Kept(tmp_path / "kept.json")
    first = kept.read(SOURCES[0])
    kept.save()
    monkeypatch.setattr(source_summaries, "_made_by", lambda: "another version")
    monkeypatch.setattr(source_summaries, "read_source", lambda *_: "read anew")
    assert first != "read anew"
    assert Kept(tmp_path / "kept.json").read(SOURCES[0]) == "read anew"


def test_nothing_is_written_without_need_or_leave(tmp_path, monkeypatch):
    path = tmp_path / "kept.json"
    Kept(path).save()
    assert not path.exists()
    closed = Kept(Path("/proc/no folder/kept.json"))
    closed.read(SOURCES[0])
    closed.save()
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    kept = Kept(path)
    kept.read(SOURCES[0])
    kept.save()
    assert not path.exists()


def test_old_entries_leave_when_there_are_too_many(tmp_path, monkeypatch):
    path = tmp_path / "kept.json"
    for content in SOURCES[:2]:
        kept = Kept(path)
        kept.read(content)
        kept.save()
    monkeypatch.setattr(source_summaries, "_MOST_KEPT", 2)
    kept = Kept(path)
    kept.read(SOURCES[2])
    kept.save()
    monkeypatch.setattr(source_summaries, "read_source", refuse)
    last = Kept(path)
    last.read(SOURCES[2])
    with pytest.raises(AssertionError, match="read again"):
        last.read(SOURCES[0])

"""Blocks of pages that tools write."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from shuffledp.pipeline.doc_blocks import read_block, write_block

ROOT = Path(__file__).resolve().parents[2]
PAGES = [*sorted((ROOT / "docs").rglob("*.md")), ROOT / "ARTIFACT-APPENDIX.md"]
_BLOCK = re.compile(r"write_block\((?:PAGE|page), \"([a-z ]+)\"")


def test_a_block_is_replaced_and_nothing_else(tmp_path):
    page = tmp_path / "page.md"
    other = "<!-- measured a -->\n<!-- measured a end -->\n"
    page.write_text(f"Before.\n<!-- measured a b -->\nold\n<!-- measured a b end -->\n\n{other}")
    write_block(page, "a b", r"\1 new")
    assert read_block(page, "a b") == r"\1 new"
    assert read_block(page, "a") == ""
    before, after = page.read_text().split("\n\\1 new\n")
    assert before == "Before.\n<!-- measured a b -->\n"
    assert after == f"\n<!-- measured a b end -->\n\n{other}"


@pytest.mark.parametrize("text", ["nothing", "<!-- measured a -->\nx\n<!-- measured a end -->\n" * 2])
def test_a_page_without_the_block_or_with_two_is_an_error(tmp_path, text):
    page = tmp_path / "page.md"
    page.write_text(text)
    with pytest.raises(ValueError, match=f"page.md must have one block 'measured a', has {text.count('x')}"):
        write_block(page, "a", "new")
    assert page.read_text() == text


def test_every_block_of_the_pages_is_written_by_a_tool():
    scripts = [*(ROOT / "tools").glob("*.py"), *(ROOT / "benchmarks").glob("*.py")]
    written = {name for script in scripts for name in _BLOCK.findall(script.read_text(encoding="utf-8"))}
    marks = re.compile(r"^<!-- measured ([a-z ]+?)( end)? -->$", re.MULTILINE)
    found = [(page, *mark) for page in PAGES for mark in marks.findall(page.read_text(encoding="utf-8"))]
    assert {name for _, name, _ in found} == written
    for page, name, _ in found:
        assert read_block(page, name), f"{page} has an empty block {name!r}"

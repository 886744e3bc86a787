"""The gallery has the pictures of a run; only changed pictures are written, and outdated pictures are found."""

from __future__ import annotations

import importlib.util
import io
import json
import sys
from pathlib import Path
from types import ModuleType

import pytest
from fabricated import folder
from PIL import Image

ROOT = Path(__file__).resolve().parents[1]


@pytest.fixture(scope="module")
def tool() -> ModuleType:
    spec = importlib.util.spec_from_file_location("gallery_tool", ROOT / "tools/gallery.py")
    module = importlib.util.module_from_spec(spec)
    sys.modules["gallery_tool"] = module  # dataclasses look their module up
    spec.loader.exec_module(module)
    return module


@pytest.fixture
def paper(tmp_path):
    """Write two figures, one of them under two accountings, and a table."""
    made = folder(tmp_path / "results", "dump", "DUMP")
    made.figure("fig4_printed", 2)
    made.figure("fig4_exact", 2)
    made.figure("fig5", 1)
    made.table("budgets", "a\n1\n")
    made.publish()
    return made


@pytest.fixture
def places(tmp_path):
    return tmp_path / "results", tmp_path / "gallery"


def written(gallery: Path) -> dict[str, tuple[int, bytes]]:
    """Return the inode and the content of every file; a rewritten file has another inode."""
    return {
        str(p.relative_to(gallery)): (p.stat().st_ino, p.read_bytes())
        for p in sorted(gallery.rglob("*"))
        if p.is_file()
    }


def test_figures_are_taken_and_tables_are_not(tool, paper, places):
    results, gallery = places
    lines = tool.update(results, gallery)
    assert lines == ["dump.fig4_printed: added", "dump.fig4_exact: added", "dump.fig5: added"]
    index = json.loads((gallery / "dump.json").read_text())
    assert [f["id"] for f in index["figures"]] == ["fig4_printed", "fig4_exact", "fig5"]
    assert {f["drawing"] for f in index["figures"]} == {"fig4", "fig5"}
    assert index["figures"][0]["caption"].startswith("Exact accounting cuts the error")
    assert tool.damaged(gallery) == []
    assert tool.outdated(results, gallery) == []
    assert tool.update(results, gallery) == []


def test_a_picture_is_small_and_shows_the_same(tool, paper):
    source = paper.files["fig4_exact.png"]
    few = tool.small(source)
    assert len(few) < 0.7 * len(source)
    before, after = (Image.open(io.BytesIO(p)).convert("RGB") for p in (source, few))
    assert before.size == after.size
    pixels = zip(before.get_flattened_data(), after.get_flattened_data(), strict=True)
    far = sum(max(abs(a - b) for a, b in zip(one, other, strict=True)) > 40 for one, other in pixels)
    assert far < 0.001 * before.width * before.height


def test_only_what_has_changed_is_written(tool, paper, places):
    results, gallery = places
    tool.update(results, gallery)
    before = written(gallery)
    paper.files["fig5.csv"] += b"0.05,0.002,local,1.25\n"
    paper.publish()
    assert tool.outdated(results, gallery) == ["dump.fig5: the numbers have changed"]
    assert tool.update(results, gallery) == ["dump.fig5: refreshed"]
    after = written(gallery)
    assert {name for name in after if after[name] != before[name]} == {"dump/fig5.png", "dump.json"}
    assert tool.outdated(results, gallery) == []


def test_the_gallery_of_the_repository_is_whole(tool):
    """``make -C tools release-check`` compares the gallery with results at the papers' scale."""
    assert tool.damaged(ROOT / "docs/gallery") == []

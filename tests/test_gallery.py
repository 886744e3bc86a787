"""The gallery has the pictures of a run; only changed pictures are written, and outdated pictures are found."""

from __future__ import annotations

import importlib.util
import io
import json
import sys
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest
from fabricated import folder
from matplotlib.figure import Figure
from PIL import Image

from shuffledp.pipeline.figures.palette import GRAY, PRINTED_DASH, lighter, look

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


def with_many_curves() -> bytes:
    """Draw a picture with twenty colors of lines and markers, their smoothed edges, and grays."""
    figure = Figure(figsize=(9, 4))
    for panel, ax in enumerate(figure.subplots(1, 3)):
        for i in range(20):
            one = look(i)
            color = one.color if i < 10 else lighter(one.color)
            x = np.linspace(0.1, 1, 9)
            ax.plot(x, (i + 1) * x**-panel, color=color, ls=one.dash, marker=one.marker, mfc="none", lw=1.3)
            ax.plot(x, (i + 1.5) * x**-panel, color=GRAY, ls=PRINTED_DASH, marker=one.marker, mfc="none")
    sink = io.BytesIO()
    figure.savefig(sink, format="png", dpi=150)
    return sink.getvalue()


def test_every_color_of_a_legend_stays(tool):
    source = with_many_curves()
    before, after = (
        np.asarray(Image.open(io.BytesIO(p)).convert("RGB"), np.int64).reshape(-1, 3)
        for p in (source, tool.small(source))
    )
    packed = before @ [2**16, 2**8, 1]
    colors, which, counts = np.unique(packed, return_inverse=True, return_counts=True)
    frequent = counts[which] >= tool.FREQUENT
    assert (counts >= tool.FREQUENT).sum() > 20 and len(colors) > tool.COLORS
    assert np.abs(before - after)[frequent].max() <= 8
    assert np.all(after[packed == packed.max()] == 255)  # white stays white


def test_a_picture_with_other_colors_is_found_and_made_anew(tool, paper, places, monkeypatch):
    results, gallery = places
    with monkeypatch.context() as patch:
        patch.setattr(tool, "COLORS", 4)
        tool.update(results, gallery)
    found = tool.outdated(results, gallery)
    assert found[0] == "dump.fig4_printed: its colors are not those of the picture"
    assert tool.update(results, gallery)[0] == "dump.fig4_printed: refreshed"
    assert tool.outdated(results, gallery) == []


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


def test_another_look_and_another_caption_are_noticed(tool, paper, places):
    results, gallery = places
    tool.update(results, gallery)
    paper.files["fig5.png"] = paper.files["fig4_exact.png"]
    paper.files["fig4_exact.rst"] = b"Another finding.\n"
    paper.publish()
    assert tool.outdated(results, gallery) == [
        "dump.fig4_exact: the caption has changed",
        "dump.fig5: the picture is drawn differently",
    ]
    assert tool.update(results, gallery) == ["dump.fig5: refreshed"]
    assert tool.outdated(results, gallery) == []


def test_figures_that_come_and_go(tool, paper, places):
    results, gallery = places
    tool.update(results, gallery)
    paper.manifest["entries"] = [e for e in paper.manifest["entries"] if e["id"] != "fig5"]
    paper.figure("fig6", 1)
    paper.publish()
    assert tool.outdated(results, gallery) == [
        "dump.fig6: is not in the gallery",
        "dump.fig5: no figure has this name any more",
    ]
    assert tool.update(results, gallery) == [
        "dump.fig6: added",
        "dump.fig5: removed, no figure has this name",
    ]
    assert not (gallery / "dump/fig5.png").exists()


def test_a_figure_with_nothing_in_it_does_not_replace_one_that_shows_something(tool, paper, places):
    results, gallery = places
    tool.update(results, gallery)
    paper.files["fig5.csv"] = b"rate,eps,method,mean\n"
    next(e for e in paper.manifest["entries"] if e["id"] == "fig5")["note"] = "Training is left out."
    paper.publish()
    before = written(gallery)
    lines = tool.update(results, gallery)
    assert lines == ["dump.fig5: nothing was drawn (Training is left out.); the picture that is there stays"]
    assert written(gallery).keys() == before.keys()
    assert written(gallery)["dump/fig5.png"] == before["dump/fig5.png"]
    assert tool.outdated(results, gallery) == ["dump.fig5: cannot be compared: Training is left out."]


def test_a_small_scale_is_refused(tool, tmp_path, places):
    results, gallery = places
    small = folder(results, "dump", "DUMP", scale="shortened")
    small.figure("fig5", 1)
    small.publish()
    with pytest.raises(tool.GalleryError, match="small scale"):
        tool.update(results, gallery)
    assert not gallery.exists()


@pytest.mark.parametrize("command", ["make", "check"])
def test_without_results_it_says_what_to_do(tool, tmp_path, capsys, command):
    assert tool.main([command, "--results", str(tmp_path), "--gallery", str(tmp_path / "gallery")]) == 2
    assert "run `make all` first" in capsys.readouterr().err


def test_the_command_line_says_whether_the_gallery_is_current(tool, paper, places, capsys):
    where = ["--results", str(places[0]), "--gallery", str(places[1])]
    assert tool.main(["check", *where]) == 1
    assert "dump.fig5: is not in the gallery" in capsys.readouterr().err
    assert tool.main(["make", *where]) == 0
    assert tool.main(["check", *where]) == 0


def test_damage_is_found(tool, paper, places):
    results, gallery = places
    tool.update(results, gallery)
    (gallery / "dump/fig5.png").write_bytes(b"something else")
    (gallery / "dump/fig4_exact.png").unlink()
    (gallery / "dump/stray.png").write_bytes(b"")
    assert tool.damaged(gallery) == [
        "dump/fig4_exact.png is missing",
        "dump/fig5.png is not the file that its index names",
        "dump/stray.png is in no index",
    ]
    assert tool.update(results, gallery) == [
        "dump.fig4_exact: refreshed",
        "dump.fig5: refreshed",
        "dump.stray: removed, no figure has this name",
    ]


def test_too_many_bytes_are_found(tool, paper, places, monkeypatch):
    tool.update(*places)
    monkeypatch.setattr(tool, "MOST_BYTES", 1_000)
    assert [line for line in tool.damaged(places[1]) if "more than 1,000" in line]


def test_the_gallery_of_the_repository_is_whole(tool):
    """``make release-check`` compares the gallery with results at the papers' scale."""
    assert tool.damaged(ROOT / "docs/gallery") == []

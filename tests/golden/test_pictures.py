"""The comparison of two folders of results finds a changed pixel, a changed word and a missing file only."""

import shutil

import numpy as np
import pytest
from PIL import Image, PngImagePlugin

from scripts_by_file import script

TOOL = script("tools/golden_pictures.py")
PAGE = '<html><head><style>{style}</style></head><body><p>Error {number}</p><img src="{src}" alt="curve"></body></html>'


def picture(path, change=0, **about):
    pixels = np.full((8, 10, 3), 200, np.uint8)
    pixels[2, 3, 1] += change
    info = PngImagePlugin.PngInfo()
    for key, value in about.items():
        info.add_text(key, value)
    path.parent.mkdir(parents=True, exist_ok=True)
    Image.fromarray(pixels).save(path, pnginfo=info)


def page(path, number="0.5", style="a", src="fig.png"):
    path.write_text(PAGE.format(number=number, style=style, src=src))


@pytest.fixture
def folders(tmp_path):
    before, after = tmp_path / "before", tmp_path / "after"
    picture(before / "figures/demo/fig1.png")
    page(before / "index.html")
    (before / "figures/demo/fig1.rst").write_text("A caption.\n")
    (before / "runs").mkdir()
    (before / "runs/table.csv").write_text("1\n")
    shutil.copytree(before, after)
    return before, after


def told(folders, capsys):
    code = TOOL.main([str(folder) for folder in folders])
    return code, capsys.readouterr().out.splitlines()


def test_the_same_results_do_not_differ_whatever_their_files_say_of_themselves(folders, capsys):
    picture(folders[1] / "figures/demo/fig1.png", Software="another")
    page(folders[1] / "index.html", style="b")
    (folders[1] / "runs/table.csv").write_text("2\n")
    assert told(folders, capsys) == (0, ["Nothing differs in 3 files."])


@pytest.mark.parametrize(
    "change, expected",
    [
        (
            lambda f: picture(f / "figures/demo/fig1.png", 1),
            "figures/demo/fig1.png: 1 of 80 pixels, by at most 1 of 255",
        ),
        (lambda f: page(f / "index.html", "0.6"), "index.html: 2 lines, first '-Error 0.5'"),
        (lambda f: (f / "figures/demo/fig1.rst").write_text("A Caption.\n"), "fig1.rst: 2 lines"),
        (lambda f: (f / "figures/demo/fig1.rst").unlink(), "fig1.rst: only before"),
        (lambda f: (f / "figures/new.md").write_text("x"), "figures/new.md: only after"),
        (
            lambda f: Image.new("RGB", (5, 8)).save(f / "figures/demo/fig1.png"),
            "figures/demo/fig1.png: 10 x 8 pixels -> 5 x 8",
        ),
    ],
)
def test_a_planted_change_is_listed_with_its_measure(folders, capsys, change, expected):
    change(folders[1])
    code, (line,) = told(folders, capsys)
    assert code == 1 and expected in line

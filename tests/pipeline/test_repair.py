import hashlib

import pytest

from shuffledp.pipeline.repair import PREPARED, RESULTS, repair
from shuffledp.storage import publish


@pytest.fixture
def results(tmp_path):
    return tmp_path / "results"


def of(folder, name):
    """Publish an undamaged bundle of a run."""
    publish(folder / f"{name}.sha256", {folder / f"{name}.{end}": b"1" for end in ("cells.parquet", "json")})
    return folder / f"{name}.sha256"


def test_list_outside_its_folder_is_removed(results, tmp_path):
    letter = tmp_path / "documents/letter.txt"
    letter.parent.mkdir()
    letter.write_bytes(b"precious")
    checksum = of(results / "runs/a/b", "c")
    checksum.write_text(f"# c\n{'0' * 64}  ../../../../documents/letter.txt\n")
    assert [f.removed for f in repair(results, RESULTS)] == [True, True]
    assert letter.read_bytes() == b"precious"
    assert not checksum.exists()


def test_list_with_foreign_files_is_removed(results):
    """The files stay, because they are no part of the result."""
    for checksum, foreign in (
        (results / "runs/a/b/c.sha256", "notes.txt"),
        (results / "site.sha256", "README.md"),
        (results / "figures/a/figures.sha256", "own/plot.png"),
    ):
        path = checksum.parent / foreign
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(b"precious")
        checksum.write_text(f"# {checksum.stem}\n{'0' * 64}  {foreign}\n")
        found = list(repair(results, RESULTS))
        assert [f.removed for f in found] == [False, True]
        assert path.read_bytes() == b"precious"
        assert not checksum.exists()


def test_links_outside_results_are_not_followed(results, tmp_path):
    foreign = of(tmp_path / "elsewhere/a/b", "c")
    foreign.with_name("c.json").write_bytes(b"changed")
    results.mkdir()
    (results / "runs").symlink_to(tmp_path / "elsewhere")
    assert {f.removed for f in repair(results, RESULTS)} == {False}
    assert foreign.exists()
    assert foreign.with_name("c.json").read_bytes() == b"changed"


@pytest.mark.parametrize(
    "folder, places",
    [*((name, RESULTS) for name in ("runs/a/b", "figures/a", "claims", "site/charts", ".")), (".", PREPARED)],
)
def test_leftovers_of_killed_jobs_are_removed(results, folder, places):
    leftover = results / folder / ".a.json.host-12-0a1b2c3d.tmp"
    leftover.parent.mkdir(parents=True)
    leftover.write_bytes(b"half")
    assert [f.text for f in repair(results, places)] == [f"removed {leftover} (left by a killed job)"]
    assert not leftover.exists()


def test_damaged_page_is_removed_with_list(results):
    publish(results / "site.sha256", {results / n: n.encode() for n in ("index.html", "pages/a.html")})
    (results / "pages/a.html").write_bytes(hashlib.sha256().digest())
    assert all(f.removed for f in repair(results, RESULTS))
    assert sorted(p.name for p in results.rglob("*.*")) == ["index.html"]


@pytest.mark.parametrize("name", ["c.cells.parquet", "c.json", "c.sha256"])
def test_folder_instead_of_file_is_kept(results, name):
    path = of(results / "runs/a/b", "c").with_name(name)
    path.unlink()
    path.mkdir()
    (path / "letter.txt").write_bytes(b"precious")
    found = list(repair(results, RESULTS))
    assert [f.text for f in found if not f.removed] == [
        f"left {path}: a folder stands where a file belongs; remove it yourself"
    ]
    assert (path / "letter.txt").read_bytes() == b"precious"

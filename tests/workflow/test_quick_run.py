"""The quick run as users see it: its files, a kill, and its page in a browser.

These tests are in one file, because they share one run and a file's tests run in one process.
"""

import json
import re
import shlex
import time
from pathlib import Path

import pytest
from click.testing import CliRunner

from browser import one_browser as one_browser, open_page, requires_browser
from pipeline_project import METHOD_DONE, QUICK, kill, read_until
from scripts_by_file import script
from shuffledp.cli import main
from shuffledp.storage import damaged, listed

pytestmark = [pytest.mark.pipeline, pytest.mark.whole_run]

ONE_PAPER = (*QUICK, "papers=[random_population]")


def test_quick_run_makes_everything(quick_run):
    """The run makes every figure, table and page from shipped summaries."""
    results = quick_run.results
    manifests = sorted(results.glob("figures/*/manifest.json"))
    assert manifests
    for manifest in manifests:
        for entry in json.loads(manifest.read_text())["entries"]:
            for name in entry["files"].values():
                assert (manifest.parent / name).stat().st_size > 0
    assert damaged(results / "site.sha256") == []
    assert {"index.html", "pages/errata.html"} <= {
        path.relative_to(results).as_posix() for path in listed(results / "site.sha256")
    }
    assert "Data adult: source summary" in quick_run.output, "the run must say which data were used"
    assert not list(quick_run.project.folder.rglob("*.tmp"))


def test_simultaneous_run_is_refused(quick_run):
    assert quick_run.refused.returncode != 0
    assert "Another run is at work in this folder" in quick_run.refused.stdout
    assert "Traceback" not in quick_run.refused.stdout


def test_second_run_has_nothing_to_do(quick_run):
    assert "Nothing to be done" in quick_run.project.succeeds(*QUICK)


def test_missing_page_is_made_again(quick_run):
    page = quick_run.results / "pages/claims.html"
    aside = page.rename(page.with_suffix(".aside"))
    try:
        planned = quick_run.project.succeeds("--dry-run", *QUICK)
    finally:
        aside.rename(page)
    assert "pages" in planned and "Nothing to be done" not in planned


def test_killed_run_restarts_with_same_tables(quick_run, project):
    """`make -C tools faults` has more moments and kinds of faults."""
    # The results alone, without figures and pages: they are what is compared.
    wanted = ("runs", *ONE_PAPER)
    with project.running(*wanted) as process:
        read_until(process, METHOD_DONE, 2)
        time.sleep(0.2)
        assert process.poll() is None, "the run ended before it could be killed"
        kill(process)
    project.succeeds(*wanted)
    alone, together = project.tables(), quick_run.project.tables()
    assert alone and alone.items() <= together.items()  # the other papers change nothing either
    assert {name for name in together if "/random_population/" in name} == set(alone)


@pytest.mark.browser
@requires_browser
def test_site_shows_drawings_and_stays_offline(quick_run):
    results = quick_run.results
    with open_page(results / "index.html") as opened:
        opened.scroll_through()
        assert opened.page.query_selector_all("main img")
        assert not opened.broken_images()
        assert len(opened.page.inner_text("body").split()) <= 1500
        assert not opened.foreign_requests
        assert not opened.errors
    for manifest in sorted(results.glob("figures/*/manifest.json")):
        with open_page(results / f"pages/{manifest.parent.name}.html") as opened:
            opened.scroll_through()
            assert not opened.broken_images()
            cards = set(opened.page.evaluate("[...document.querySelectorAll('.card')].map(each => each.id)"))
            drawn = {entry["id"] for entry in json.loads(manifest.read_text())["entries"]}
            assert drawn == cards | (drawn & {"errata", "reading_notes", "ranking"})
            assert not opened.foreign_requests
            assert not opened.errors


def test_command_of_first_page_computes_table(quick_run):
    page = (quick_run.results / "index.html").read_text(encoding="utf-8")
    command = re.search(r'<p class="command"><code>shuffledp ([^<]*)</code>', page)
    assert command is not None
    row = re.compile(r'data-field="protocol">(\w+)</code>.*data-field="mse">([^<]+)</td>')
    shown = {name: float(error) for name, error in row.findall(page)}
    names = ("correlated_noise", "designated_coins")
    done = CliRunner().invoke(main, [*shlex.split(command[1]), "--protocols", ",".join(names), "--json"])
    rows = {answer["protocol"]: answer["mse"] for answer in json.loads(done.stdout)["rows"]}
    assert {name: shown[name] for name in names} == pytest.approx(rows, rel=5e-3)


def test_no_picture_is_empty(quick_run):
    numbers = sorted(path.with_suffix(".csv") for path in (quick_run.results / "figures").rglob("*.png"))
    assert len(numbers) > 50
    assert [path.name for path in numbers if len(path.read_text().splitlines()) < 2] == []


def test_column_figures_are_of_the_run(quick_run, monkeypatch, tmp_path):
    tool = script("tools/column_figures.py")
    monkeypatch.chdir(quick_run.project.folder)
    folder = Path("results/quick")
    drawn = {path.stem for path in (folder / "figures/dump").glob("fig8*.png")}
    assert {path.stem for path in tool.write(folder, "dump/fig8")} == drawn
    with pytest.raises(ValueError, match="has no figure whose name"):
        tool.write(folder, "comparison/")  # a study that a quick run leaves out
    (tmp_path / "figures/dump").mkdir(parents=True)
    (tmp_path / "figures/dump/manifest.json").touch()
    with pytest.raises(ValueError, match="of an earlier version"):
        tool.write(tmp_path)

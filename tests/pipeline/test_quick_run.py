"""The quick run as users see it: its files, three kills, its report and its page in a real browser.

All of this is one file, because the tests share one run and a file's tests run in one process.
"""

import json
import time
from pathlib import Path

import numpy as np
import pytest

from browser import open_page, requires_browser
from pipeline_project import Project, kill
from shuffledp.figures.names import in_natural_order
from shuffledp.storage import damaged, listed

pytestmark = pytest.mark.pipeline

QUICK = ("--configfile", "config/quick.yaml")
ONE_PAPER = (*QUICK, "--config", "papers=[random_population]")


def test_quick_run_on_shipped_summaries_makes_every_figure_table_and_page(
    quick_run: tuple[Project, str],
) -> None:
    project, output = quick_run
    results = project.folder / "results/quick"
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
    assert "Data adult: source summary" in output, "the run must say which data were used"
    assert not list(project.folder.rglob("*.tmp"))


def test_second_run_has_nothing_to_do(quick_run: tuple[Project, str]) -> None:
    project, _ = quick_run
    assert "Nothing to be done" in project.succeeds(*QUICK)


def test_three_kills_and_a_restart_give_the_tables_of_an_undisturbed_run(
    quick_run: tuple[Project, str], project: Project
) -> None:
    undisturbed, _ = quick_run
    for pause in np.random.default_rng(20231101).uniform(0.2, 7.0, size=3):
        process = project.start(*ONE_PAPER)
        assert process.stdout is not None
        for line in process.stdout:
            if "Execute" in line:  # jobs begin
                break
        time.sleep(pause)
        assert process.poll() is None, "the run ended before it could be killed"
        kill(process)
    project.succeeds(*ONE_PAPER)
    alone, together = project.tables(), undisturbed.tables()
    assert alone and alone.items() <= together.items()  # the other papers change nothing either
    assert {name for name in together if "/random_population/" in name} == set(alone)


@pytest.fixture(scope="session")
def report(quick_run: tuple[Project, str]) -> Path:
    project, _ = quick_run
    project.succeeds("--configfile", "config/quick.yaml", "--report", "results/quick/report.html")
    return project.folder / "results/quick/report.html"


def test_report_has_no_broken_caption(report: Path) -> None:
    text = report.read_text(encoding="utf-8")
    assert "Docutils System Messages" not in text
    assert "system-message" not in text


@pytest.mark.browser
@requires_browser
def test_report_lists_every_figure_and_stays_offline(report: Path, quick_run: tuple[Project, str]) -> None:
    project, _ = quick_run
    manifests = [
        json.loads(m.read_text())
        for m in sorted((project.folder / "results/quick/figures").glob("*/manifest.json"))
    ]
    with open_page(report) as opened:
        page = opened.page
        for manifest in manifests:
            page.reload()
            page.get_by_text("Results").first.click()
            page.get_by_text(manifest["paper"]["title"]).first.click()
            shown = in_natural_order(entry["drawing"] for entry in manifest["entries"])
            for name in shown.values():
                page.get_by_text(name, exact=True).first.wait_for()
            tops = [page.get_by_text(n, exact=True).first.bounding_box()["y"] for n in sorted(shown.values())]
            assert tops == sorted(tops)
            first = manifest["entries"][0]
            page.get_by_text(shown[first["drawing"]], exact=True).first.click()
            page.get_by_text(first["title"].split(" (accounting")[0]).first.wait_for()
            page.locator("tbody a").first.click()  # the eye
            page.wait_for_function("[...document.images].some(i => i.complete && i.naturalWidth > 300)")
        assert not opened.errors
        assert not opened.foreign_requests


@pytest.mark.browser
@requires_browser
def test_site_of_a_run_shows_all_drawings_and_stays_offline(quick_run: tuple[Project, str]) -> None:
    project, _ = quick_run
    results = project.folder / "results/quick"
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
            drawn = {entry["drawing"] for entry in json.loads(manifest.read_text())["entries"]}
            assert drawn == cards | (drawn & {"errata", "reading_notes"})
            assert not opened.foreign_requests
            assert not opened.errors

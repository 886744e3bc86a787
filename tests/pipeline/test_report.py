"""Snakemake's report and the results page, opened in a real browser."""

import json
from pathlib import Path

import pytest

from browser import open_page, requires_browser
from pipeline_project import Project

pytestmark = [pytest.mark.pipeline, pytest.mark.browser, pytest.mark.xdist_group("quick")]


@pytest.fixture(scope="session")
def report(quick_run: tuple[Project, str]) -> Path:
    project, _ = quick_run
    project.succeeds("--configfile", "config/quick.yaml", "--report", "results/quick/report.html")
    return project.folder / "results/quick/report.html"


def shown(project: Project) -> list[dict[str, str]]:
    manifests = sorted((project.folder / "results/quick/figures").glob("*/manifest.json"))
    return [entry for m in manifests for entry in json.loads(m.read_text())["entries"]]


def test_report_has_no_broken_caption(report: Path) -> None:
    text = report.read_text(encoding="utf-8")
    assert "Docutils System Messages" not in text
    assert "system-message" not in text


@requires_browser
def test_report_lists_every_figure_and_stays_offline(report: Path, quick_run: tuple[Project, str]) -> None:
    project, _ = quick_run
    with open_page(report) as opened:
        page = opened.page
        page.wait_for_selector("text=random population", timeout=20_000)
        page.get_by_text("random population").first.click()
        body = page.inner_text("body")
        for entry in shown(project):
            assert entry["drawing"] in body
        assert not opened.foreign_requests


@requires_browser
def test_results_page_of_a_run_shows_all_pictures_and_stays_offline(quick_run: tuple[Project, str]) -> None:
    project, _ = quick_run
    with open_page(project.folder / "results/quick/index.html") as opened:
        page = opened.page
        opened.scroll_through()
        assert page.query_selector_all("main img")
        assert not opened.broken_images()
        body = page.inner_text("body")
        for entry in shown(project):
            assert entry["title"] in body
        assert not opened.foreign_requests
        assert not opened.errors

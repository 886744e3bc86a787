"""The code in the documentation's pages runs unchanged, and the pages' files have the stated results."""

from __future__ import annotations

import hashlib
import json
import re
import shlex
import socket
from pathlib import Path

import numpy as np
import pytest
import yaml
from click.testing import CliRunner
from examples import RUN, with_output

from pipeline_project import copy_of_project
from scripts_by_file import ROOT
from shuffledp.cli import main
from shuffledp.pipeline.config.config_files import read_yaml
from shuffledp.pipeline.datasets.preparation import prepare
from shuffledp.pipeline.figures.drawings import paper_job
from shuffledp.pipeline.figures.paper import draw_all
from shuffledp.pipeline.figures.selection import load_settings
from shuffledp.protocols import conformance, get

PAGES = sorted((ROOT / "docs").rglob("*.md"))
WITH_CODE = [page for page in PAGES if RUN.search(page.read_text(encoding="utf-8"))]
#: Pages with code that does not run by itself, with the reasons; tests below run the code.
ELSEWHERE = {
    "baselines.md": "methods of a class",
    "data.md": "needs prepared data",
    "guides/package.md": "a package",
}


def name_of(page):
    return page.relative_to(ROOT / "docs").as_posix()


@pytest.mark.parametrize("page", WITH_CODE, ids=name_of)
def test_code_runs(page):
    text = page.read_text(encoding="utf-8")
    page_text = with_output(text, name_of(page))
    assert '```text title="prints"' in page_text or "<!-- python run" in text


def test_no_code_is_left_out():
    plain = {name_of(page) for page in PAGES if re.search(r"^```python$", page.read_text("utf-8"), re.M)}
    assert plain == set(ELSEWHERE)
    assert {"quickstart.md", "choosing.md", "guides/experiment.md"} <= {name_of(page) for page in WITH_CODE}


def test_readme_prints_output_of_its_code(capsys, monkeypatch):
    monkeypatch.delenv("COLUMNS")
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    code = text.split("```python\n")[1].split("```")[0]
    assert code == (ROOT / "tests/first_lines.py").read_text(encoding="utf-8")  # which mypy checks
    exec(code, {})
    assert capsys.readouterr().out == text.split("```text\n")[1].split("```")[0]
    assert code.rstrip() in (ROOT / "docs/index.md").read_text(encoding="utf-8")
    papers = re.compile(r"^\| \[`\w+`\]\(docs/.*\n", re.MULTILINE)
    assert len(papers.sub("", text).split()) <= 805


def test_quickstart_begins_with_ten_lines():
    first = RUN.search((ROOT / "docs/quickstart.md").read_text(encoding="utf-8"))
    assert len([line for line in first["code"].splitlines() if line.strip()]) <= 12  # imports included


# -- a baseline of one's own --------------------------------------------------------------------------------------


def test_baselines_page_extends_readmes_class(tmp_path):
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    code = readme[readme.index("## Add your own baseline") :].split("```python\n")[1].split("```")[0]
    page = (ROOT / "docs/baselines.md").read_text(encoding="utf-8")
    methods = re.findall(r"^```python\n(.*?)^```$", RUN.sub("", page), re.M | re.S)
    assert [re.search(r"def (\w+)", method)[1] for method in methods] == [
        "sample_aggregate",
        "expected_variance",
    ]
    indented = [
        method if method.startswith("    ") else re.sub(r"(?m)^(?=.)", "    ", method) for method in methods
    ]
    (tmp_path / "half_budget.py").write_text(code + "\n" + "\n".join(indented))
    found = get("frequency", f"{tmp_path}/half_budget.py:HalfBudget")
    assert {"sample_aggregate", "expected_variance"} <= set(vars(found))
    conformance.check_protocol(found, conformance.default_cases(found))


# -- data ---------------------------------------------------------------------------------------------------------


def test_data_page_comments_are_true(tmp_path, monkeypatch):
    def refused(*_, **__):
        raise OSError("the test has no network")

    monkeypatch.setattr(socket.socket, "connect", refused)
    monkeypatch.setattr(socket, "getaddrinfo", refused)
    monkeypatch.chdir(tmp_path)
    raw, prepared = Path("data/raw"), Path("data/prepared")
    monkeypatch.setenv("http_proxy", "http://127.0.0.1:9")  # nobody listens there
    monkeypatch.setenv("https_proxy", "http://127.0.0.1:9")
    for name in ("adult", "ipums", "msnbc"):  # from the summaries, which have these counts exactly
        prepare(name, raw_dir=raw, output_dir=prepared, say=lambda _: None)
    code = re.search(r"^```python\n(.*?)^```$", (ROOT / "docs/data.md").read_text("utf-8"), re.M | re.S)[1]
    names: dict[str, object] = {}
    lines = code.splitlines()
    exec("\n".join(line for line in lines if line.startswith("from ")), names)
    women_and_men, birthplaces, sizes = (eval(line, names) for line in lines if line.startswith("load("))
    assert women_and_men.tolist() == [16192, 32650]
    assert birthplaces.shape == (900,)
    assert sizes.shape == (17,)
    assert np.all(sizes > 0)


# -- an experiment of one's own -----------------------------------------------------------------------------------


def saved_files(text):
    """Return the files that a page's reader saves, by path."""
    return dict(re.findall(r"Save this\s+as `([^`]+)`:\n\n```\w+\n(.*?)^```$", text, re.M | re.S))


def test_example_file_is_the_guides():
    files = saved_files((ROOT / "docs/guides/experiment.md").read_text(encoding="utf-8"))
    example = (ROOT / "config/own/visits.yaml.example").read_text(encoding="utf-8")
    assert files["config/own/visits.yaml"] == example


@pytest.mark.pipeline
@pytest.mark.whole_run
def test_guides_experiment_runs_as_written(tmp_path, monkeypatch):
    page = ROOT / "docs/guides/experiment.md"
    text = page.read_text(encoding="utf-8")
    files = saved_files(text)
    assert [Path(path).suffix for path in files] == [".yaml", ".rst"]
    project = copy_of_project(tmp_path)
    monkeypatch.chdir(tmp_path)
    exec(RUN.search(text)["code"], {})  # makes visits.csv
    experiment, caption = files
    for path, content in files.items():
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_text(content)
    check, run = re.search(r"## 3. Run\n\n```sh\n(.*?)^```", text, re.M | re.S)[1].splitlines()
    assert check == "shuffledp check"
    assert shlex.split(run)[:3] == ["snakemake", "--cores", "all"]
    done = CliRunner().invoke(main, check.split()[1:])
    assert "colors: 3 methods" in done.output, done.output
    output = project.succeeds("visits", *shlex.split(run)[3:])  # without audit and pages
    assert project.jobs_of(output) == {"local", "amplified", "grr_blanket"}
    assert re.search(r"^own_data +1$", output, re.M), "counted once for all methods"
    left_out = "1 with another number of cells than the header (visits.csv, line 20002)"
    assert f"visits.csv: 1 row left out: {left_out}." in output
    assert "Not run, as `papers` does not list them" in output
    results = tmp_path / "results/visits"
    said = (results / "figures/visits/error.rst").read_text()
    assert said.startswith("Squared error of a color's share\n")
    assert "visits.csv, color" in said
    about = json.loads((results / "runs/visits/colors/local.json").read_text())["data"]
    sha256 = hashlib.sha256((tmp_path / "visits.csv").read_bytes()).hexdigest()
    assert (about["source"], about["files"][0]["sha256"]) == ("own", sha256)

    # a changed file is counted again; one that is missing is named in tests/pipeline/experiments/test_user_files.py
    with (tmp_path / "visits.csv").open("a") as file:
        file.write("red,1\n")
    planned = project.succeeds(*shlex.split(run)[3:], "--dry-run")
    assert re.search(r"^own_data +1$", planned, re.M) and re.search(
        r"^experiment_visits_colors +1$", planned, re.M
    )
    assert {"audit", "pages"} <= set(re.findall(r"^(\w+) +1$", planned, re.M))

    # with the caption of the guide
    exec(RUN.search(text)["code"], {})
    path = tmp_path / experiment
    path.write_text(
        path.read_text().replace("y_scale: log", f"y_scale: log\n    caption: {Path(caption).name}")
    )
    config = read_yaml(tmp_path / "config/config.yaml") | {"papers": [], "results": "results/visits"}
    settings = load_settings(config, Path())
    (drawing,) = paper_job(settings.papers["visits"], settings, Path())["drawings"]
    (drawn,) = draw_all([drawing])
    assert re.search(r"LOCAL has \S+ times the error\s+of AMPLIFIED", drawn.files["error.rst"].decode())

    # with the figure and the table of the guide
    more = yaml.safe_load(re.search(r"## Figures and tables.*?```yaml\n(.*?)^```", text, re.M | re.S)[1])
    own = yaml.safe_load(path.read_text())
    path.write_text(
        yaml.safe_dump({**own, "figures": {**own["figures"], **more["figures"]}, "tables": more["tables"]})
    )
    settings = load_settings(config, Path())
    drawn = draw_all(paper_job(settings.papers["visits"], settings, Path())["drawings"])
    assert {"front.png", "methods.tabular"} <= {name for one in drawn for name in one.files}

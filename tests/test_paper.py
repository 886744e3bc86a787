"""The article that reads its numbers from results builds, and fails if a file, a column or a row is missing."""

import csv
import json
from pathlib import Path

import pytest
import typst

from scripts_by_file import ROOT, script

MANIFESTS = [f"figures/{name}/manifest.json" for name in ("comparison", "allocation", "dump")]
TASKS = ("frequency", "binary", "bounded_sums", "real_sums", "bits")
PAPERS = ("random_population", "dump", "summation", "shuffle_gaussian", "segmented")
SHUFFLER = {"who is trusted": "shuffler permutes", "accounting": "exact", "messages of a user": "1"}
ROWS = [
    {"method": "first", "in units of the curator's": "2", "printed": "9", **SHUFFLER},
    {"method": "coarse correlated noise", "in units of the curator's": "1.5", "printed": "–", **SHUFFLER},
]
DOT = bytes.fromhex(
    "89504e470d0a1a0a0000000d4948445200000001000000010802000000907753de0000000c49444154789c6360606000000004"
    "0001f61738550000000049454e44ae426082"
)


def tables() -> dict[str, list[dict[str, str]]]:
    headline = {"claim": "c", "paper_value": "1", "printed": "2", "exact": "3", "verdict": "holds"}
    claim = {"id": "A-1", "kind": "claim", "claim": "c", "overall": "fails"}
    system = {
        "setting": "s",
        "users": "10",
        "delta": "1e-9",
        "printed eps": "1",
        "verdict": "holds",
        "users needed": "9",
    }
    return {
        "claims/headlines": [{"paper": paper, **headline} for paper in PAPERS],
        "claims/claims": [{"paper": paper, **claim} for paper in PAPERS],
        "claims/audit": [{"status": "holds"}],
        "claims/deployments/systems": [
            {**system, "exact eps from": "0.9", "exact eps to": "1.1", "eps, 10 % colluding": "1.2"}
        ],
        "claims/deployments/sources": [{"status": "verified"}, {"status": "incomplete"}],
        "figures/allocation/batches": [
            {"curve": curve, "sigma": "1", "delta": "1e-8", "eps_central": "0.5"}
            for curve in ("poisson", "lower", "upper", "known")
        ],
        **{
            f"figures/comparison/{task}": [{**row, "squared error of a count": "4"} for row in ROWS]
            for task in ("frequency", "binary")
        },
        **{
            f"figures/comparison/{task}": [{**row, "squared error": "4"} for row in ROWS]
            for task in ("bounded_sums", "real_sums", "bits")
        },
    }


def write(folder: Path, content: dict[str, list[dict[str, str]]]) -> None:
    for name, rows in content.items():
        path = folder / f"{name}.csv"
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("w", encoding="utf-8", newline="") as file:
            writer = csv.DictWriter(file, list(rows[0]))
            writer.writeheader()
            writer.writerows(rows)
    settings = [["participants N", "10"], ["eps", "1 nats"], ["delta", "1e-8"], ["guarantee", "exact: first"]]
    run = {"version": "0", "commit": "abc", "seed": 1, "scale": "paper"}
    entries = {
        "comparison": [{"id": task, "settings": settings} for task in TASKS],
        "allocation": [{"id": "batches", "title": "One epoch", "settings": []}],
        **{
            paper: [{"id": "figure", "settings": [["data", "uniform (source: synthetic)"]]}]
            for paper in PAPERS
        },
    }
    for name, listed in entries.items():
        path = folder / f"figures/{name}/manifest.json"
        path.parent.mkdir(exist_ok=True)
        path.write_text(json.dumps({"run": run, "entries": listed}), encoding="utf-8")
    (folder / "figures/allocation/batches.png").write_bytes(DOT)


@pytest.fixture(scope="module")
def build():
    return script("tools/paper.py").build


def test_the_paper_is_built_from_a_folder_of_results(build, tmp_path):
    write(tmp_path, tables())
    assert build(tmp_path).startswith(b"%PDF")


@pytest.mark.parametrize("name", [f"{name}.csv" for name in tables()] + MANIFESTS)
def test_a_missing_file_stops_the_build(build, tmp_path, name):
    write(tmp_path, tables())
    (tmp_path / name).unlink()
    with pytest.raises(typst.TypstError, match="not found"):
        build(tmp_path)


@pytest.mark.parametrize(
    ("name", "column"),
    [("claims/headlines", "exact"), ("claims/claims", "overall"), ("figures/comparison/binary", "printed")],
)
def test_a_missing_column_stops_the_build(build, tmp_path, name, column):
    content = tables()
    content[name] = [{key: value for key, value in row.items() if key != column} for row in content[name]]
    write(tmp_path, content)
    with pytest.raises(typst.TypstError, match=column):
        build(tmp_path)


def test_a_missing_row_stops_the_build(build, tmp_path):
    content = tables()
    content["claims/headlines"].pop()
    write(tmp_path, content)
    with pytest.raises(typst.TypstError, match="not one row"):
        build(tmp_path)


def test_there_is_no_number_of_a_result_in_the_text():
    """Numbers in the source are only sizes and bounds of the layout, and years of references."""
    text = (ROOT / "paper/paper.typ").read_text(encoding="utf-8")
    prose = [line for line in text.splitlines() if line[:1].isalpha()]
    assert not [line for line in prose if any(word[:1].isdigit() for word in line.split())]

"""The table of where the pipeline's time goes adds up."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from scripts_by_file import script

ROOT = Path(__file__).resolve().parents[1]


@pytest.fixture(scope="module")
def pipeline():
    return script("benchmarks/pipeline.py")


def test_processes_are_added_up_by_kind(pipeline, tmp_path):
    lines = [
        ["tmpab_1.run_method.py", 2.0, 0.5, 80.0],
        ["tmpx.run_method.py", 1.0, 0.0, 90.0],
        ["tmp.draw_paper.py", 3.0, 0.0, 300.0],
        ["tmpy.draw_paper.py", 1.0, 0.0, 200.0],
    ]
    lines.append(["snakemake", 3.0, 8.5, 500.0])  # a second of its children's time is in none of the scripts
    log = tmp_path / "cpu.jsonl"
    log.write_text("".join(f"{json.dumps(line)}\n" for line in lines))
    cells = tmp_path / "results/runs/paper/experiment/method.cells.parquet"
    cells.parent.mkdir(parents=True)
    pq.write_table(pa.table({"cell": ["a", "b", "c", "d"]}), cells)
    run = pipeline.used(log, 6.0, tmp_path / "results")
    assert sum(run.cpu.values()) == pytest.approx(11.5)
    assert (run.cpu["snakemake"], run.cpu["methods"], run.cpu["drawing"]) == (3.0, 3.5, 4.0)
    assert run.cpu["other processes"] == pytest.approx(1.0)
    assert (run.jobs["methods"], run.cells) == (2, 4)
    rows = dict(
        line.strip("| ").split(" | ")
        for line in pipeline.table({"quick": run}, (0.5, 0.6), None, 0.0)
        if "| " in line and "---" not in line and "quick" not in line
    )
    assert rows["methods: starts of their jobs"] == "2 x 0.50 s = 1 s"
    assert rows["methods: work per cell"] == "625 ms"
    assert rows["CPU time in all"] == "12 s"
    assert rows["drawing"] == "4 s in 2 jobs, the longest 3 s"
    assert rows["largest memory of a job"] == "300 MiB, drawing"


def test_every_script_of_the_workflow_has_a_row_or_takes_no_part(pipeline):
    scripts = {path.name for path in (ROOT / "workflow/scripts").glob("*.py")}
    assert sorted(scripts) == sorted((*pipeline.KINDS, *pipeline.LEFT_OUT))


def test_every_process_reports_itself(pipeline, tmp_path):
    (tmp_path / "sitecustomize.py").write_text(pipeline.SPY)
    script = tmp_path / "busy.py"
    script.write_text("import time\nend = time.process_time() + 0.2\nwhile time.process_time() < end: pass\n")
    environment = {**os.environ, "PYTHONPATH": str(tmp_path), "SHUFFLEDP_CPU": str(tmp_path / "cpu.jsonl")}
    subprocess.run([sys.executable, str(script)], env=environment, check=True)
    name, own, children, most = json.loads((tmp_path / "cpu.jsonl").read_text())
    assert name == "busy.py"
    assert own >= 0.2
    assert children == 0
    assert 1 < most < 1000

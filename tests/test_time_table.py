"""The table of where the pipeline's time goes adds up."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from scripts_by_file import script

ROOT = Path(__file__).resolve().parents[1]


@pytest.fixture(scope="module")
def pipeline():
    return script("benchmarks/pipeline.py")


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

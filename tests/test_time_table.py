"""The table of the pipeline's run time adds up."""

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

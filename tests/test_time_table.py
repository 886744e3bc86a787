"""The table of the pipeline's run time counts every job."""

import re
from pathlib import Path

import pytest

from scripts_by_file import script

ROOT = Path(__file__).resolve().parents[1]


def test_every_log_of_a_rule_has_a_kind() -> None:
    pipeline = script("benchmarks/pipeline.py")
    rules = "".join(path.read_text(encoding="utf-8") for path in (ROOT / "workflow/rules").glob("*.smk"))
    logs = re.findall(r'\{LOGS\}/(?:\{RESULTS\}/)?(.+)\.log"', rules)
    assert len(logs) > 10
    left_out = ("training/", "{paper.key}/{name}", "dataset/summaries", "dataset/{{key}}")
    for log in logs:
        if not log.startswith(left_out):
            assert pipeline.kind_of(re.sub(r"\{+[a-z._]+\}+", "a", log.replace("{planned.log}", "a/a")))
    assert pipeline.kind_of("summation/scaling") == "experiments"
    with pytest.raises(StopIteration):
        pipeline.kind_of("a/b/c")

"""The counts of the audit under many seeds."""

from __future__ import annotations

from scripts_by_file import script
from shuffledp.pipeline.audit.combined_table import VIOLATION
from shuffledp.pipeline.audit.table import NOT_AUDITED

tool = script("tools/audit_seeds.py")
STATUSES = {
    ("enumerated", "holds"): 1200,
    ("enumerated", NOT_AUDITED): 30,
    ("estimate", "holds"): 7,
    ("sampled", VIOLATION): 2,
}


def test_rows_are_counted_by_what_is_compared():
    _, _, _, _, enumerated, sampled, messages, estimate, every = tool.summary(3, 61, STATUSES).splitlines()
    assert enumerated.endswith("| 1,230 | 30 | 0 |")
    assert sampled.endswith("| 2 | 0 | 2 |")
    assert messages.endswith("| 0 | 0 | 0 |")
    assert estimate.endswith("| 7 | 0 | 0 |")
    assert every == "| **all** | 1,239 | 30 | 2 |"

"""Text in legends and captions about the guarantees of a drawing."""

import pandas as pd

from shuffledp.guarantees import FROM_BELOW
from shuffledp.pipeline.figures.guarantee_words import doubts, guarantee_facts

ORDER = ["printed", "exact"]


def cells(*rows):
    """Return cells from (method, accounting, guarantee, trust), with a reason for a doubtful guarantee."""
    frame = pd.DataFrame(rows, columns=["method", "accounting", "guarantee", "trust"])
    note = frame["guarantee"].map({"violated": "broken", "unproven": "open"}).fillna("")
    return frame.assign(curve=frame["method"], guarantee_note=note)


MIXED = cells(
    ("a", "printed", "violated", "shuffler"),
    ("a", "exact", "upper", "shuffler"),
    ("b", "printed", "unproven", None),
    ("b", "exact", "unproven", None),
    ("c", "printed", "exact", "local"),
    ("c", "exact", None, "local"),
    ("d", "printed", "upper", "shuffler"),
    ("d", "printed", "violated", "shuffler"),
)
NAMES = {"a": "A, plain", "b": "B", "c": "C", "d": "D"}


def test_doubtful_curves_are_marked_with_accounting():
    assert doubts(MIXED, ORDER) == {"a": "printed: violated", "b": "unproven", "d": "violated"}
    assert doubts(cells(("a", "printed", "upper", None), ("b", "exact", None, None)), ORDER) == {}
    both = cells(("a", "exact", "unproven", None), ("a", "printed", "violated", None))
    assert doubts(both, ORDER) == {"a": "printed: violated, exact: unproven"}


def test_lower_bound_violates_no_guarantee():
    rows = cells(("a", "exact", "violated", None), ("b", "exact", "violated", None))
    rows.loc[rows["method"] == "a", "guarantee_note"] = FROM_BELOW.note
    assert doubts(rows, ORDER) == {"a": "lower bound, no guarantee", "b": "violated"}
    assert guarantee_facts(rows, NAMES, ORDER)["guarantee"] == (
        "violated in a known setting, perhaps not drawn here: B | lower bound, no guarantee: A, plain"
    )


def test_captions_group_methods_by_label():
    assert guarantee_facts(MIXED, NAMES, ORDER) == {
        "guarantee": "exact: C | upper: A, plain (exact); D (in part) | unproven: B | "
        "violated in a known setting, perhaps not drawn here: A, plain (printed); D (in part)",
        "why in doubt": "A, plain (printed); D (in part): broken | B: open",
        "users trust": "a shuffler: A, plain; D | nobody: C",
    }
    alike = cells(("a", "printed", "upper", "shuffler"), ("b", "printed", "upper", "shuffler"))
    assert guarantee_facts(alike, NAMES, ORDER) == {"guarantee": "upper", "users trust": "a shuffler"}
    assert guarantee_facts(cells(("a", "printed", None, None)), NAMES, ORDER) == {}

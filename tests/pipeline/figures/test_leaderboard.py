"""Leaderboards: each column selects its cells, and the best method is first under equal trust."""

import pandas as pd
import pytest

from shuffledp.pipeline.figures.drawn_tables import as_leaderboard
from shuffledp.pipeline.figures.leaderboard import ABSENT, INFEASIBLE, WHY, leaderboard, ranked

NAMES = {"a": "first", "b": "second", "c": "curator's", "d": "third"}


def _cells():
    rows = [
        # method, accounting, trust, status, reason
        ("a", "exact", "shuffler", "ok", ""),
        ("a", "printed", "shuffler", "infeasible", "the theorem needs more users"),
        ("b", "exact", "shuffler", "ok", ""),
        ("b", "printed", "shuffler", "ok", ""),
        ("c", "exact", "central", "ok", float("nan")),  # as a table without reasons is read
        ("d", "exact", "shuffler", "infeasible", "too few users"),
    ]
    frame = pd.DataFrame(rows, columns=["method", "accounting", "trust", "status", "reason"])
    return frame.assign(
        cell=[f"cell{i}" for i in range(len(rows))],
        users_expected=100.0,
        messages_per_user=[2.0, None, 1.0, 1.5, 1.0, None],
        parameters="{}",
    )


def _summary():
    numbers = {"cell0": 0.5, "cell2": 0.25, "cell3": 0.75, "cell4": 0.0625}
    cells = _cells().set_index("cell")
    return pd.DataFrame(
        [
            {
                "cell": cell, "metric": "mse", "kind": kind, "mean": mean + shift,
                "method": cells.loc[cell, "method"], "accounting": cells.loc[cell, "accounting"],
                "users_expected": 100.0, "standard_error": float("nan"),
            }
            for cell, mean in numbers.items()
            for kind, shift in (("simulated", 0.01), ("expected", 0.0))
        ]
    )  # fmt: skip


ENTRY = {
    "methods": list(NAMES),
    "entries": [
        {"heading": "trust", "value": "trust", "where": {"accounting": "exact"}},
        {"heading": "exact", "value": "mse", "where": {"accounting": "exact"}, "unit": "counts"},
        {"heading": "printed", "value": "mse", "where": {"accounting": "printed"}},
        {"heading": "messages", "value": "messages_per_user", "where": {"accounting": "exact"}},
    ],
    "order": ["trust", "exact"],
    "format": ".3g",
}


def test_best_is_first_by_trust():
    """Infeasible methods are last."""
    rows, numbers = leaderboard(ENTRY, _cells(), _summary(), NAMES)
    assert list(rows["method"]) == ["second", "first", "curator's", "third"]
    assert numbers == ["exact", "printed", "messages"]
    assert list(rows["trust"]) == ["shuffler permutes"] * 2 + ["curator", "shuffler permutes"]
    assert list(rows["exact"]) == [2500.0, 5000.0, 625.0, INFEASIBLE]  # closed forms, of counts
    assert list(rows["printed"]) == [0.75, INFEASIBLE, ABSENT, ABSENT]
    assert list(rows[WHY]) == ["", "", "", "too few users"]


def test_number_over_a_marked_control():
    where = {"accounting": "exact"}
    entries = [
        {"heading": "error", "value": "mse", "where": where},
        {"heading": "over", "value": "mse", "over": "c", "where": where},
    ]
    some = {**ENTRY, "entries": entries, "order": ["error"], "controls": ["c"]}
    rows, _ = leaderboard(some, _cells(), _summary(), NAMES)
    assert list(rows["method"]) == ["curator's (control)", "second", "first", "third"]
    assert list(rows["over"]) == [1.0, 4.0, 8.0, INFEASIBLE]
    without = [{"heading": "over", "value": "mse", "over": "d", "where": where}]
    lost, _ = leaderboard({**some, "entries": without, "order": ["over"]}, _cells(), _summary(), NAMES)
    assert set(lost["over"]) == {ABSENT, INFEASIBLE}  # no number stands below


def test_three_forms_of_the_same_rows():
    forms = as_leaderboard(ENTRY, *leaderboard(ENTRY, _cells(), _summary(), NAMES))
    assert forms["csv"].splitlines()[1] == "second,shuffler permutes,2500,0.75,1,"
    assert "| second" in forms["md"] and "2.5e+03" in forms["md"]
    assert r"second & shuffler permutes & $2.5 \cdot 10^{3}$" in " ".join(forms["tex"].split())


def test_without_infeasible_rows_no_reasons():
    some = {**ENTRY, "methods": ["b", "c"], "entries": [ENTRY["entries"][i] for i in (0, 1, 3)]}
    rows, _ = leaderboard(some, _cells(), _summary(), NAMES)
    assert WHY not in rows and list(rows["method"]) == ["second", "curator's"]


def test_ambiguous_selection_is_refused():
    loose = {**ENTRY, "entries": [{"heading": "exact", "value": "mse"}], "order": ["exact"], "methods": ["b"]}
    with pytest.raises(ValueError, match="add grid variables to `where`"):
        leaderboard(loose, _cells(), _summary(), NAMES)


def test_first_accounting_of_method_is_used():
    either = {"accounting": ["printed", "exact"]}
    entries = [
        {"heading": "error", "value": "mse", "where": either},
        {"heading": "accounting", "value": "accounting", "where": either},
    ]
    some = {**ENTRY, "entries": entries, "order": ["error"]}
    rows, _ = leaderboard(some, _cells(), _summary(), NAMES)
    assert list(rows["method"]) == ["curator's", "second", "first", "third"]
    assert list(rows["accounting"]) == ["exact", "printed", "printed", "exact"]
    assert list(rows["error"]) == [0.0625, 0.75, INFEASIBLE, INFEASIBLE]


def test_ranks_omit_doubtful_and_other_trust():
    """Ranks of a leaderboard omit controls, too."""
    sound = _cells().assign(guarantee="exact")
    assert ranked(ENTRY, sound, _summary(), "shuffler") == {"b": 2500.0, "a": 5000.0}
    assert ranked(ENTRY, sound, _summary(), "shuffler", "central") == {"c": 625.0, "b": 2500.0, "a": 5000.0}
    assert ranked({**ENTRY, "controls": ["b"]}, sound, _summary(), "shuffler") == {"a": 5000.0}
    doubted = sound.assign(guarantee=sound["guarantee"].where(sound["method"] != "b", "unproven"))
    assert ranked(ENTRY, doubted, _summary(), "shuffler") == {"a": 5000.0}
    assert ranked(ENTRY, sound, _summary(), "local") == {}

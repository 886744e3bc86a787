"""Leaderboards: each column selects its cells, and the best method is first under equal trust."""

import pytest
from made_up_cells import cells_of, summary_of

from shuffledp.pipeline.figures.drawn_tables import as_leaderboard
from shuffledp.pipeline.figures.leaderboard import ABSENT, INFEASIBLE, WHY, leaderboard, ranked

NAMES = {"a": "first", "b": "second", "c": "curator's", "d": "third"}


CELLS = cells_of(
    "method accounting trust status reason messages_per_user error",
    ("a", "exact", "shuffler", "ok", "", 2.0, 0.5),
    ("a", "printed", "shuffler", "infeasible", "the theorem needs more users", None, None),
    ("b", "exact", "shuffler", "ok", "", 1.0, 0.25),
    ("b", "printed", "shuffler", "ok", "", 1.5, 0.75),
    ("c", "exact", "central", "ok", float("nan"), 1.0, 0.0625),  # as a table without reasons is read
    ("d", "exact", "shuffler", "infeasible", "too few users", None, None),
)
SUMMARY = summary_of(CELLS)


def column(heading, value, accounting="exact", **more):
    return {"heading": heading, "value": value, "where": {"accounting": accounting}, **more}


ENTRY = {
    "methods": list(NAMES),
    "entries": [
        column("trust", "trust"),
        column("exact", "mse", unit="counts"),
        column("printed", "mse", "printed"),
        column("messages", "messages_per_user"),
    ],
    "order": ["trust", "exact"],
    "format": ".3g",
}


def board(entry):
    return leaderboard(entry, CELLS, SUMMARY, NAMES)


def test_best_is_first_by_trust():
    """Infeasible methods are last."""
    rows, numbers = board(ENTRY)
    assert list(rows["method"]) == ["second", "first", "curator's", "third"]
    assert numbers == ["exact", "printed", "messages"]
    assert list(rows["trust"]) == ["shuffler permutes"] * 2 + ["curator", "shuffler permutes"]
    assert list(rows["exact"]) == [2500.0, 5000.0, 625.0, INFEASIBLE]  # closed forms, of counts
    assert list(rows["printed"]) == [0.75, INFEASIBLE, ABSENT, ABSENT]
    assert list(rows[WHY]) == ["", "", "", "too few users"]


def test_number_over_a_marked_control():
    entries = [column("error", "mse"), column("over", "mse", over="c")]
    some = {**ENTRY, "entries": entries, "order": ["error"], "controls": ["c"]}
    rows, _ = board(some)
    assert list(rows["method"]) == ["curator's (control)", "second", "first", "third"]
    assert list(rows["over"]) == [1.0, 4.0, 8.0, INFEASIBLE]
    without = {**some, "entries": [column("over", "mse", over="d")], "order": ["over"]}
    lost, _ = board(without)
    assert set(lost["over"]) == {ABSENT, INFEASIBLE}  # no number stands below


def test_three_forms_of_the_same_rows():
    forms = as_leaderboard(ENTRY, *board(ENTRY))
    assert forms["csv"].splitlines()[1] == "second,shuffler permutes,2500,0.75,1,"
    assert "| second" in forms["md"] and "2.5e+03" in forms["md"]
    assert r"second & shuffler permutes & $2.5 \cdot 10^{3}$" in " ".join(forms["tex"].split())


def test_without_infeasible_rows_no_reasons():
    some = {**ENTRY, "methods": ["b", "c"], "entries": [ENTRY["entries"][i] for i in (0, 1, 3)]}
    rows, _ = board(some)
    assert WHY not in rows and list(rows["method"]) == ["second", "curator's"]


def test_ambiguous_selection_is_refused():
    loose = {**ENTRY, "entries": [{"heading": "exact", "value": "mse"}], "order": ["exact"], "methods": ["b"]}
    with pytest.raises(ValueError, match="add grid variables to `where`"):
        board(loose)


def test_first_accounting_of_method_is_used():
    either = ["printed", "exact"]
    entries = [column("error", "mse", either), column("accounting", "accounting", either)]
    rows, _ = board({**ENTRY, "entries": entries, "order": ["error"]})
    assert list(rows["method"]) == ["curator's", "second", "first", "third"]
    assert list(rows["accounting"]) == ["exact", "printed", "printed", "exact"]
    assert list(rows["error"]) == [0.0625, 0.75, INFEASIBLE, INFEASIBLE]


def test_ranks_omit_doubtful_and_other_trust():
    """Ranks of a leaderboard omit controls, too."""
    sound = CELLS.assign(guarantee="exact")
    assert ranked(ENTRY, sound, SUMMARY, "shuffler") == {"b": 2500.0, "a": 5000.0}
    assert ranked(ENTRY, sound, SUMMARY, "shuffler", "central") == {"c": 625.0, "b": 2500.0, "a": 5000.0}
    assert ranked({**ENTRY, "controls": ["b"]}, sound, SUMMARY, "shuffler") == {"a": 5000.0}
    doubted = sound.assign(guarantee=sound["guarantee"].where(sound["method"] != "b", "unproven"))
    assert ranked(ENTRY, doubted, SUMMARY, "shuffler") == {"a": 5000.0}
    assert ranked(ENTRY, sound, SUMMARY, "local") == {}

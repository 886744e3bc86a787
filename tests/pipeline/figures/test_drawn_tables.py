"""Tables: readers see labels and headings, not names of the code; LaTeX breaks lines that do not fit."""

import csv
import io
import re

import pandas as pd
import pytest

from shuffledp.pipeline.figures.drawn_tables import LINES, as_table, in_three_forms, latex, stated

NAMES = {"mix_dump": "mixDUMP, 50 % & more", "pure_dump": "pureDUMP"}
CELLS = pd.DataFrame(
    {
        "cell": ["a", "b", "c", "d"],
        "method": ["mix_dump", "pure_dump"] * 2,
        "n_1": [1000, 1000, 20, 20],
        "accounting": "exact",
        "status": "ok",
        "eps_local": [1.0, 2.0, 3.0, 4.0],
        "parameters": "{}",
    }
)
ORDERS = {"n_1": [1000, 20], "method": list(NAMES), "accounting": ["exact"]}


def made(**entry):
    entry = {"rows": ["n_1"], "columns": ["method"], "value": "eps_local", "format": ".1f", **entry}
    return as_table(entry, CELLS, pd.DataFrame({"metric": [], "kind": []}), ORDERS, NAMES)


def rows_of(text):
    return list(csv.reader(io.StringIO(text)))


def test_methods_are_labels_in_every_form():
    forms = made()
    assert rows_of(forms["csv"]) == [
        ["n_1", *NAMES.values()], ["1000", "1.0", "2.0"], ["20", "3.0", "4.0"],
    ]  # fmt: skip
    assert all("pureDUMP" in text and "pure_dump" not in text for text in forms.values())
    turned = made(rows=["method"], columns=["n_1"])
    assert [row[0] for row in rows_of(turned["csv"])] == ["method", *NAMES.values()]
    assert all("pureDUMP" in text and "pure_dump" not in text for text in turned.values())


def test_headings_take_the_place_of_names():
    headings = {"n_1": "{} users", "method": "protocol"}
    forms = made(rows=["method"], columns=["n_1", "accounting"], headings=headings)
    assert rows_of(forms["csv"])[0] == ["protocol", "1000 users, exact", "20 users, exact"]
    assert forms["md"].startswith("| protocol ") and "| 1000 users, exact " in forms["md"]
    assert "protocol & 1000 users, exact & 20 users, exact" in forms["tex"]


def test_what_latex_would_take_for_a_command_is_escaped():
    tex = made()["tex"]
    assert "n\\_1" in tex and "mixDUMP, 50 \\% \\& more" in tex


def test_a_table_that_fits_is_a_plain_one():
    tex = latex(["a", "b"], [["1", "2"]])
    assert tex.splitlines()[:3] == ["% needs the package booktabs", "\\begin{tabular}{ll}", "\\toprule"]
    assert "p{" not in tex


def broken(tex):
    """Kinds and widths of the columns of a long table, over the letters of its line."""
    spec = tex[tex.index("{longtable}{") + len("{longtable}{") : tex.index("\\toprule")]
    return re.findall(r"p\{([0-9.]+)\\linewidth\}|(l)", re.sub(r">\{.*?\}", "", spec))


@pytest.mark.parametrize("texts, sideways", [(2, False), (9, True)])
def test_long_texts_break_and_all_columns_fit_beside_each_other(texts, sideways):
    words = "the quick brown fox_jumps over 50 % of all lazy dogs " * 10
    header, row = (
        ["id", *[f"column {i}" for i in range(texts)]],
        ["A_1", *[words[40 * i :] for i in range(texts)]],
    )
    tex = latex(header, [row, row])
    assert ("\\begin{landscape}" in tex) == sideways
    assert sum(kind == "l" for _, kind in broken(tex)) == 1  # the first column is short
    shares = [float(share) for share, _ in broken(tex) if share]
    assert len(shares) == texts
    line = LINES[sideways]
    assert sum(shares) * line + len("A_1") + 1.5 * (texts + 1) <= line * (1 + 1e-3 * texts)
    assert shares == sorted(shares, reverse=True)  # who says more has more room


def test_what_latex_opens_it_closes():
    long = "a long text with {braces} and \\commands " * 9
    for tex in (
        latex(["a"], [["1"]]),
        latex(["a", "b"], [["1", long]]),
        latex(list("abcdefghi"), [[long] * 9]),
    ):
        opened = re.findall(r"\\begin\{(\w+)\}", tex)
        assert sorted(opened) == sorted(re.findall(r"\\end\{(\w+)\}", tex))
        plain = tex.replace("\\{", "").replace("\\}", "")
        assert plain.count("{") == plain.count("}")
        packages = {"longtable": "longtable", "landscape": "pdflscape"}
        assert all(packages[name] in tex.splitlines()[0] for name in opened if name in packages)
        assert tex.count("\\toprule") == tex.count("\\bottomrule") == 1
        lines = [line for line in tex.splitlines() if line.endswith("\\\\")]
        assert len({line.replace("\\&", "").count("&") for line in lines}) == 1


def test_texts_of_claims_are_in_all_three_forms():
    frame = pd.DataFrame({"id": ["A-1"], "note": ["some words, " * 40]})
    forms = in_three_forms(frame)
    assert rows_of(forms["csv"])[1] == ["A-1", "some words, " * 40]
    assert "| A-1 " in forms["md"] and "longtable" in forms["tex"]


def test_a_finished_table_states_its_delta():
    assert stated(pd.DataFrame({"delta": ["1e-06", "1e-09", "1e-06"]})) == {"delta": "1e-06, 1e-09"}
    assert stated(pd.DataFrame({"eps": ["1"]})) == {}

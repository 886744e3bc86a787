"""Tables show labels and headings instead of names in the code, and LaTeX breaks long lines."""

import csv
import io
import re

import pandas as pd
import pytest

from shuffledp.pipeline.figures.drawn_tables import as_table, in_three_forms, latex, stated

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
    return as_table(entry, CELLS, pd.DataFrame({"cell": [], "metric": [], "kind": []}), ORDERS, NAMES)


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
    assert r"protocol & 1000 users, exact & 20 users, exact" in forms["tex"]


def test_latex_commands_are_escaped():
    tex = made()["tex"]
    assert "n\\_1" in tex and "mixDUMP, 50 \\% \\& more" in tex


def test_latex_table_has_caption_and_label():
    tex = latex(
        ["eps of A_1", "n", "delta"],
        [["12.7", "5376", "1e-06"], ["–", "123456.5", "2.86e-26"]],
        "50 %",
        "dump:t",
    )["tex"]
    assert r"caption={50 \%}, label={tab:dump:t}" in tex and "colspec={rrr}" in tex
    assert r"\toprule $\varepsilon$ of A\_1 & n & $\delta$ \\" in tex
    assert r"$12.7$ & $5{,}376$ & $10^{-6}$ \\" in tex
    assert r"– & $123{,}456.5$ & $2.86 \cdot 10^{-26}$ \\" in tex


def test_wide_rows_have_small_letters():
    sizes = [
        re.findall(r"font=.(\w+)", latex(["number of users"] * columns, [["0.0001234567"] * columns])["tex"])
        for columns in (5, 10, 15)
    ]
    assert sizes == [["footnotesize"], ["scriptsize"], ["tiny"]]


@pytest.mark.parametrize("texts, sideways", [(2, False), (9, True)])
def test_long_texts_break_or_turn_page(texts, sideways):
    words = "the quick brown fox_jumps over 50 % of all lazy dogs " * 10
    row = ["A_1", *[words[40 * i :] for i in range(texts)]]
    tex = latex(["id", *[f"column {i}" for i in range(texts)]], [row, row])["tex"]
    assert ("\\begin{landscape}" in tex) == sideways == ("pdflscape" in tex)
    assert f"colspec={{l{'X[-1,l]' * texts}}}" in tex


def test_only_csv_keeps_all_digits():
    forms = in_three_forms(
        pd.DataFrame({"k": ["12345678"], "delta": ["2.858924939e-26"], "tail": ["0.0001669953313"]})
    )
    assert rows_of(forms["csv"])[1] == ["12345678", "2.858924939e-26", "0.0001669953313"]
    assert "2.859e-26" in forms["md"] and "| 12345678 " in forms["md"] and "0.000167 " in forms["md"]
    assert r"$12{,}345{,}678$ & $2.859 \cdot 10^{-26}$ & $0.000167$" in forms["tex"]


def test_claim_texts_are_in_every_form():
    frame = pd.DataFrame({"id": ["A-1"], "note": ["some words, " * 40]})
    forms = in_three_forms(frame)
    assert rows_of(forms["csv"])[1] == ["A-1", "some words, " * 40]
    assert "| A-1 " in forms["md"] and "longtblr" in forms["tex"]


def test_a_finished_table_states_its_delta():
    assert stated(pd.DataFrame({"delta": ["1e-06", "1e-09", "1e-06"]})) == {"delta": "1e-06, 1e-09"}
    assert stated(pd.DataFrame({"eps": ["1"]})) == {}


def test_an_empty_column_is_omitted():
    row = ["shuffler permutes the reports", *["123.4"] * 2, ""]
    tex = latex(["trust", "n1", "errors of all counts", "why not"], [row, row])["tex"]
    assert "colspec={X[-1,l]rX[-1,r]}" in tex and "why not" not in tex

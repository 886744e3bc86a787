"""Order, Pareto fronts and texts of rows."""

import csv
import math
import re
from dataclasses import replace

import pytest

import shuffledp
from command_line import invoked, printed, typed, unwrapped
from shuffledp.comparison.drawing import grouped
from shuffledp.comparison.rows import TRUST, Compared, as_csv, front, in_order, table
from shuffledp.pipeline.figures.leaderboard import TRUST as ON_LEADERBOARDS


def row(name, trust="shuffler", mse=1e-6, bits=5.0, status="ok", **more):
    known = {"mse": mse, "bits_per_user": bits, "messages_per_user": 1.0} if status == "ok" else {}
    return Compared(name, name, "frequency", trust, status, "", "exact", "own", **known, **more)


def test_trust_order_is_that_of_leaderboards():
    assert list(TRUST) == list(ON_LEADERBOARDS)


def test_order():
    rows = [
        row("f", status="failed"),
        row("i", status="infeasible"),
        row("l", "local"),
        row("b", mse=2e-6),
        row("a", mse=1e-6),
        row("c", "central"),
    ]
    assert [r.protocol for r in in_order(rows)] == ["a", "b", "c", "l", "i", "f"]


def test_unproven_bounds_lead_no_ranking():
    rows = [
        replace(row("printed", mse=1e-9, guarantee="upper"), accounting="printed"),
        row("unproven", mse=2e-9, guarantee="unproven"),
        row("good", guarantee="upper"),
        row("best", mse=1e-7, guarantee="exact"),
        replace(row("alone", "local", guarantee="exact"), accounting="printed"),
    ]
    ordered = in_order(rows)
    assert [r.protocol for r in ordered] == ["best", "good", "printed", "unproven", "alone"]
    assert [r.protocol for r in front(rows)] == ["best", "alone"]
    assert "Rows with printed accounting (the bound as published)" in (unwrapped(table(ordered)))
    for alike in (ordered[:2], ordered[2:]):
        assert "come last in their trust model" not in table(alike)


def test_fronts_have_undominated_rows():
    rows = [
        row("cheap", bits=1.0, mse=9e-6),
        row("as_cheap", bits=1.0, mse=1e-5),
        row("worse", bits=3.0, mse=9e-6),
        row("good", bits=3.0, mse=2e-6),
        row("best", bits=9.0, mse=1e-6),
        row("other", "central", bits=99.0, mse=1.0),
        row("no", status="infeasible"),
    ]
    assert [r.protocol for r in front(rows)] == ["cheap", "good", "best", "other"]
    groups = grouped(rows)
    assert [(g.trust, len(g.rows), len(g.best)) for g in groups] == [("shuffler", 5, 3), ("central", 1, 1)]


@pytest.mark.parametrize("begin", ["=", "+", "-", "@", " =", "\t="])
def test_csv_cells_begin_no_formula(begin):
    (header, line) = csv.reader(as_csv([replace(row("a"), label=f"{begin}1+1", slack=-0.5)]).splitlines())
    found = dict(zip(header, line, strict=True))
    assert (found["label"], found["slack"]) == (f"'{begin}1+1", "-0.5")


def test_reasons_are_grouped_and_failures_marked():
    rows = [
        row("a"),
        replace(row("b", status="infeasible"), reason="Too few\nusers."),
        replace(row("c", status="infeasible"), reason="Too few users."),
        replace(row("d", status="failed"), reason="KeyError: 'x'"),
    ]
    assert table(rows).splitlines()[-3:] == [
        "Left out:",
        "  b, c: Too few users.",
        "  failed: d: KeyError: 'x'",
    ]
    assert table(rows[1:]).startswith("No protocol meets the requirements.")


def test_other_units_and_plain_values():
    one = row("a", half_width=2.0, simulated_mse=3.0, eps_local=math.inf)
    scaled = one.scaled(0.5)
    assert (scaled.mse, scaled.half_width, scaled.simulated_mse) == (2.5e-7, 1.0, 0.75)
    assert scaled.heavy_variance is None
    noisy = replace(one, parameters={"levels": 3.0, "noise_rmse": 4.0}).scaled(0.5)
    assert noisy.parameters == {"levels": 3.0, "noise_rmse": 2.0}
    assert one.as_dict()["eps_local"] == "inf"
    header, line = as_csv([one]).splitlines()
    assert dict(zip(header.split(","), line.split(","), strict=True))["eps_local"] == "inf"


@pytest.mark.parametrize("width", [60, 100])
def test_lines_fit_width_without_cut_numbers(width, monkeypatch):
    """Only the command, which is for copying, and error messages are longer."""
    words = typed("--users 3000 --domain-size 4 --eps 1 --delta 1e-6 --colluding 1%")
    names = ["--protocols", "fragmented_rappor,grr_blanket,local,solh"]
    wide = printed("compare", *words, *names)
    monkeypatch.setenv("COLUMNS", str(width))
    narrow = printed("compare", *words, *names)
    assert max(len(line) for line in narrow.splitlines() if "shuffledp client" not in line) <= width
    cells = {
        line.split()[0]: line.split()[1:] for line in wide.splitlines() if line.endswith(("upper", "exact"))
    }
    shown = re.findall(r"^(\w+)\s+(.*(?:upper|exact))$", narrow, re.MULTILINE)
    assert [name for name, _ in shown] == [*cells]
    for name, numbers in shown:
        full = iter(cells[name])
        assert all(number in full for number in numbers.split())  # in this order
    described = printed("describe grr_blanket", *words[:-2])
    batch = shuffledp.simulate(counts=[900, 99, 1], protocol="grr_blanket", eps=1, delta=1e-6)
    answer = shuffledp.amplification(2.0, 1000, 1e-6)
    for text in (described, str(batch), str(answer)):
        assert max(map(len, text.splitlines())) <= width


def test_two_names_never_print_alike(monkeypatch):
    monkeypatch.setenv("COLUMNS", "120")
    names = ["balls_into_bins", "hashed_balls_into_bins", "mine/very_long_name_of_a_file.py:VeryLongName"]
    rows = [row(name, guarantee="upper", eps_local=1.0, half_width=0.1) for name in names]
    for width, columns in (
        (40, None),
        (120, None),
        (60, ["mse", "bits_per_user", "messages_per_user", "mse"]),
    ):
        monkeypatch.setenv("COLUMNS", str(width))
        first = [line.split()[0] for line in table(rows, columns).splitlines() if line.strip()]
        assert set(names) <= set(first)


def test_chosen_columns_are_printed():
    words = typed("--users 300 --domain-size 4 --eps 1 --delta 1e-3 --protocols local")
    text = printed("compare", *words, "--columns", "guarantee,mse,slack")
    assert "\nprotocol                       guarantee      error slack\nlocal" in text
    refused = invoked("compare", *words, "--columns", "mse,most")
    assert refused.exit_code == 1 and "columns must be one of eps_local, " in refused.output

"""Computed tables and numbers of the documentation are up to date."""

from __future__ import annotations

import importlib
import math
import re
from pathlib import Path

import pandas as pd
import pytest

from shuffledp.accounting.baselines.fragmented_rappor import rappor_flip_probability
from shuffledp.accounting.expected_errors.sums import central_laplace_mse, rappor_mse
from shuffledp.pipeline.claims import claim_tables, errata_data, review
from shuffledp.pipeline.papers import document_numbers, documents
from shuffledp.pipeline.papers.random_population import multi_message_gaps, published_gaps
from shuffledp.pipeline.papers.shuffle_gaussian import computed_tables as shuffle_gaussian
from shuffledp.pipeline.papers.summation import computed_tables as summation
from shuffledp.populations import Binomial
from shuffledp.storage import damaged

ROOT = Path(__file__).parents[3]
PAGE = ROOT / "docs" / "random_population.md"
PAGES = {page.name: page.read_text(encoding="utf-8") for page in sorted((ROOT / "docs").glob("*.md"))}


def block_of(name: str) -> str:
    """Return a table of a page, with its marks."""
    begin, end = f"<!-- begin {name} -->\n", f"<!-- end {name} -->\n"
    text = next(page for page in PAGES.values() if begin in page)
    return text[text.index(begin) : text.index(end) + len(end)]


@pytest.mark.parametrize("name", sorted(documents.TABLES))
def test_tables_of_the_page_are_up_to_date(name):
    block = block_of(name)
    assert documents.refreshed(block) == block


@pytest.mark.parametrize("paper", errata_data.papers())
def test_reading_notes_accuse_nobody(paper):
    """The table has all texts of the notes and of their witnesses; another test checks that the table is up to date."""
    accusing = re.compile(
        r"\b(unsafe|misprint\w*|mistake\w*|wrong\w*|slips?|erroneous\w*|incorrect\w*|falsely|fails?)\b",
        re.IGNORECASE,
    )
    assert not accusing.findall(block_of(f"notes {paper}"))


@pytest.mark.parametrize("name", sorted(documents.FROM_RESULTS))
def test_tables_of_a_run_at_the_papers_scale_are_up_to_date(name):
    made = documents.from_results(name, ROOT / documents.REFERENCE)
    assert made is not None and made in block_of(name)


MARK = re.compile(r"<!-- value ([a-z ]+): ([a-z0-9 ]+) -->([^\n]*?)<!-- end -->")


@pytest.mark.parametrize("group", sorted(documents.VALUES))
def test_numbers_of_sentences_are_up_to_date_and_all_used(group):
    marks = [mark for page in PAGES.values() for mark in MARK.findall(page) if mark[0] == group]
    assert {name: text for _, name, text in marks} == documents.VALUES[group]()
    for _, name, text in marks:
        assert text == documents.value(group, name)
        assert re.fullmatch(r"[0-9][0-9.,e-]*(?: to [0-9][0-9.,]*| of (?:the )?[0-9]+)?(?: %)?", text), (
            name,
            text,
        )


def test_a_number_of_a_sentence_is_computed_anew():
    text = "It takes <!-- value summation: bits best -->9.99<!-- end --> bits.\n"
    bits = documents.value("summation", "bits best")
    assert documents.refreshed(text) == text.replace("9.99", bits)


#: Expected errors of a method by accounting, for the splits S1, S2 and S3; one rival has no exact accounting.
ERRORS = {
    "segmented_best": {"printed": [0.5, 1.0, 0.25], "exact": [1.0, 0.75, 0.1]},
    "balls_into_bins": {"printed": [1.0] * 3, "exact": [1.0] * 3},
    "subset_shuffled": {"printed": [2.0] * 3},
    **{
        name: {"printed": [2.0] * 3, "exact": [2.0] * 3}
        for name in ("subset_local", "separate", "separate_weighted")
    },
    "separate_inverse_variance": {"printed": [0.8] * 3, "exact": [1.0] * 3},
}
BEST = {"printed": 2.0, "exact": 0.5}


def write_reference(folder: Path) -> None:
    (folder / "segmented").mkdir(parents=True)
    for experiment, variables in (("msnbc", "n=5000"), ("uniform", "n=5000 s=4")):
        rows = []
        for method, errors in ERRORS.items():
            for accounting, numbers in errors.items():
                best = BEST[accounting]
                found = f"blankets={best} eps_local=1 flat_high={1.1 * best} flat_low={0.9 * best}"
                for split, expected in zip(documents.SPLITS, numbers, strict=True):
                    point = f"{variables} split={split}"
                    rows.append((method, point, accounting, expected, 1.0, found))
        # A method that is no rival has several cells at one place.
        rows += 2 * [("segmented", f"m=1 {variables} split={documents.SPLITS[0]}", "printed", 0.1, 1.0, "")]
        columns = ["method", "point", "accounting", "expected", "eps_local", "parameters"]
        pd.DataFrame(rows, columns=columns).to_csv(folder / f"segmented/{experiment}.csv", index=False)


def test_tables_are_made_of_the_reference(tmp_path):
    write_reference(tmp_path)
    gains = documents.from_results("segmented gains", tmp_path)
    assert gains is not None
    assert gains.splitlines()[2:] == [
        f"| {data} | 5,000 | 50 %, 0 %, 75 % | 0 %, 25 %, 90 % | 38 %, 0 %, 69 % |"
        for data in ("MSNBC", "4 of 128 items")
    ]
    best = documents.from_results("segmented best", tmp_path)
    assert best is not None
    assert best.splitlines()[2] == "| MSNBC | 5,000 | 2 | 1.8 to 2.2 | 0.5 | 0.45 to 0.55 |"
    block = "<!-- begin segmented gains -->\nold\n<!-- end segmented gains -->\n"
    assert documents.refreshed(block, tmp_path) == block.replace("old\n", gains)


def test_without_the_reference_a_page_stays_as_it_is(tmp_path):
    block = "<!-- begin segmented gains -->\nold\n<!-- end segmented gains -->\n"
    assert documents.refreshed(block, tmp_path) == block


def test_the_pages_have_every_table_once():
    every = [*documents.TABLES, *documents.FROM_RESULTS]
    for name in every:
        assert sum(page.count(f"<!-- begin {name} -->") for page in PAGES.values()) == 1, name
        assert sum(page.count(f"<!-- end {name} -->") for page in PAGES.values()) == 1, name
    assert sum(page.count("<!-- begin ") for page in PAGES.values()) == len(every)


def test_every_paper_has_its_errata_on_a_page():
    assert {f"errata {paper}" for paper in errata_data.papers()} <= set(documents.TABLES)
    assert {f"notes {paper}" for paper in errata_data.papers()} <= set(documents.TABLES)


def test_an_altered_number_is_noticed():
    text = PAGE.read_text(encoding="utf-8")
    start, stop = text.index("<!-- begin checkin"), text.index("<!-- end checkin")
    block = text[start:stop] + "<!-- end checkin -->\n"
    assert documents.refreshed(block) == block
    assert documents.refreshed(block.replace("1.65", "1.66")) == block


def test_the_review_lists_every_verdict():
    text = PAGES["errata_review.md"]
    assert all(f"- *{name}*: {meaning}" in text for name, meaning in review.VERDICTS.items())


def test_the_page_lists_every_effect():
    text = PAGE.read_text(encoding="utf-8")
    assert all(f"- *{name}*: {meaning}" in text for name, meaning in errata_data.EFFECTS.items())


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("<!-- begin budgets -->\n", "no matching end"),
        ("<!-- begin nothing -->\n<!-- end nothing -->\n", "No table is named nothing"),
        (
            "<!-- value dump: nothing -->3<!-- end -->",
            r"No number of 'dump' is named 'nothing'\. Known: entries",
        ),
        (
            "<!-- value nothing: x -->3<!-- end -->",
            r"No group of numbers is named 'nothing'\. Known: summation",
        ),
        ("<!-- value dump: entries -->3\n<!-- end -->", "no matching end"),
        ("<!-- value dump -->3<!-- end dump -->", "no matching end"),
        ("<!-- value dump -->3", "not of the form"),
    ],
)
def test_pages_with_wrong_marks_are_refused(text, message):
    with pytest.raises(ValueError, match=message):
        documents.refreshed(text)


def test_tables_of_a_paper():
    assert list(claim_tables.TABLES["random_population"]) == ["table2"]
    assert claim_tables.table("random_population", "table2").equals(multi_message_gaps.table_two())
    with pytest.raises(
        ValueError,
        match=r"No table 'table9' of claims about 'dump'\. Known: errata, reading_notes, table2, table3",
    ):
        claim_tables.table("dump", "table9")


@pytest.mark.parametrize(("name", "rows"), [("errata", 21), ("reading_notes", 8), ("table2", 13)])
def test_script_writes_a_verified_table(name, rows, tmp_path, monkeypatch):
    monkeypatch.syspath_prepend(str(ROOT / "workflow" / "scripts"))
    script = importlib.import_module("claim_tables")
    table, checksum = tmp_path / f"{name}.csv", tmp_path / f"{name}.sha256"
    script.main("random_population", name, table)
    assert damaged(checksum) == []
    written = pd.read_csv(table)
    assert len(written) == rows
    assert name == "table2" or written["shown"].all()


def test_an_unknown_table_is_named_with_the_known_ones():
    with pytest.raises(ValueError, match=r"'table3'.*Known: errata, reading_notes, table2"):
        claim_tables.table("random_population", "table3")


# -- numbers of sentences against other ways to them ---------------------------------------------------------------


def test_numbers_are_rounded_to_significant_digits():
    assert document_numbers._number(9416.7, 4) == "9,417"
    assert document_numbers._number(0.00996, 2) == "0.010"
    assert document_numbers._number(0.0) == "0"
    assert document_numbers._span([2.04, 1.96]) == "2.0"
    assert document_numbers._span([11.4, 3.26]) == "3.3 to 11"
    assert document_numbers._percent(0.0301) == "3.0 %"


def test_the_errors_of_rappor_are_those_of_its_estimators():
    published = rappor_flip_probability(10**6, 1.0, 1e-6, calibration="optimistic")
    least, most = (
        math.sqrt(rappor_mse(10**6, size, published, estimator=estimator) / central_laplace_mse(size, 1.0))
        for size, estimator in ((2, "centred"), (15, "plain"))
    )
    assert document_numbers.VALUES["summation"]()["rappor published"] == f"{least:.1f} to {most:.0f}"


def test_the_bits_are_those_of_the_points_of_figure_1():
    points = summation.figure_points()
    last = points[(points["panel"] == "c") & (points["curve"] == "correlated noise")].iloc[-1]
    numbers = document_numbers.VALUES["summation"]()
    assert numbers["bits best"] == f"{last['other']:.2f}"
    assert numbers["bits modular"] == f"{last['ours']:.1f}"
    assert numbers["bits of the figure"] == f"{last['paper']:.1f}"


def test_the_check_in_budgets_fall_in_the_order_of_the_table():
    budgets = shuffle_gaussian.checkin_budgets()
    assert budgets["eps"].is_monotonic_decreasing
    by_name = dict(budgets.to_numpy().tolist())
    half = shuffle_gaussian.checkin_budgets(shuffle_gaussian.CHECKIN_SIGMA / 2)
    assert (half.set_index("accountant")["eps"] >= budgets.set_index("accountant")["eps"] * (1 - 1e-9)).all()
    assert by_name["the pair of Theorem 1"] < by_name["convexity of the divergence"]


def test_the_gain_of_figure_3_is_that_of_the_search_over_all_numbers():
    gain, best = document_numbers._figure_3_gain(Binomial(5000, 0.2))
    assert best % 10 == 0
    assert 0 < gain < 1
    assert document_numbers.VALUES["random population"]()["figure 3 squared gain"] == f"{100 * gain:.1f} %"


def test_dummies_leave_the_error_as_it_is_where_none_are_best():
    assert published_gaps.dummies_error(Binomial(5000, 0.2), 0.05, "exact", adaptive=False) == pytest.approx(
        1, abs=1e-12
    )
    assert published_gaps.dummies_error(Binomial(5000, 0.2), 0.05, "printed", adaptive=False) < 0.95

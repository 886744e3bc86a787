"""No number of a caption is typed: templates ask the drawing's own table, and say what it says."""

import io
import re
import zlib
from functools import cache
from itertools import product
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
import yaml
from docutils import nodes
from docutils.core import publish_doctree

from shuffledp import claims
from shuffledp.experiments.config import Settings
from shuffledp.figures.captions import (
    DRAWN_TWICE,
    LONGEST_FINDING,
    CaptionError,
    ClaimRows,
    Numbers,
    Share,
    Values,
    exact_cuts,
    finding,
    integer,
    number,
    percent,
    plain_caption,
    render,
    span,
    times,
)
from shuffledp.figures.drawings import Drawing, claim_tables, drawings_of, paper_job
from shuffledp.figures.selection import load_settings
from shuffledp.figures.variants import BOTH

ROOT = Path(__file__).resolve().parents[2]
TEMPLATES = sorted((ROOT / "workflow/report").rglob("*.rst"))


# -- questions -----------------------------------------------------------------------------------------------------


def table(*rows: tuple[Any, ...], columns: str = "method accounting eps k number") -> pd.DataFrame:
    return pd.DataFrame(rows, columns=columns.split())


ROWS = table(
    ("a", "exact", 0.1, 50, 2.0),
    ("a", "exact", 1.0, 50, 1.0),
    ("a", "exact", 0.1, 500, 3.0),
    ("a", "printed", 0.1, 50, 24.0),
    ("b", "exact", 0.1, 50, 4.0),
    ("b", "exact", 1.0, 50, 0.5),
    ("b", "exact", 0.1, 500, 3.0),
    ("level", "exact", None, None, 2.0),
    ("sparse", "exact", 1.0, 50, 10.0),
)


@pytest.fixture
def ask() -> Numbers:
    return Numbers(ROWS, ["a", "b", "level", "sparse", "nowhere"], {"accounting": "exact"})


def test_a_ratio_is_taken_at_the_points_that_both_have(ask):
    assert span(ask.ratio("b", "a")) == "0.500 to 2"
    assert times(ask.ratio("b", "a", k=500)) == "1 times"
    assert span(ask.ratio("sparse", "a")) == "10"  # at eps 1 only, although sparse has no other
    assert span(ask.ratio("a", "level")) == "0.500 to 1.50"


def test_a_question_may_be_about_another_file_of_the_figure(ask):
    assert span(ask.value("a", accounting="printed") / ask.value("a")) == "12"
    with pytest.raises(
        CaptionError, match=r"value\('b', accounting='printed'\): the drawing has no such numbers"
    ):
        ask.value("b", accounting="printed")


def test_shares_count_points(ask):
    assert str(ask.share_better("a", "b")) == "1 of 3 points"
    assert str(ask.share_better("a", "sparse")) == "the only point"
    assert str(ask.value("a").above(0.5)) == "all 3 points"
    assert str(ask.value("a").below(0.5)) == "none of 3 points"
    assert Share(2, 3).most
    assert not Share(1, 2).most
    assert (Share(0, 3).none, Share(3, 3).every, Share(1, 3).some) == (True, True, True)


def test_rounding_makes_nothing_better():
    rows = table(("a", "exact", 1, 1, 1.0), ("b", "exact", 1, 1, 1.0 + 1e-13))
    assert Numbers(rows, ["a", "b"]).share_better("a", "b").none


def test_the_lead_is_over_the_best_of_the_others(ask):
    lead = ask.lead("a", but=["sparse"])
    assert lead.rows[["eps", "k", "number"]].sort_values(["k", "eps"]).to_numpy().tolist() == [
        [0.1, 50, 1.0],
        [1.0, 50, 0.5],
        [0.1, 500, 2 / 3],
    ]
    assert ask.lead("level", but=["a", "b"]).only == 5


def test_places_of_extremes(ask):
    assert ask.value("a").where_least("eps") == 1.0
    assert ask.value("a", eps=1.0).where_greatest("eps") == 1.0
    assert (ask.least("k"), ask.greatest("k"), ask.choices("eps")) == (50, 500, [0.1, 1.0])
    assert ask.value("a", eps=0.1).crossing("k", 2.5) == (50, 500)
    assert ask.value("a", eps=0.1).crossing("k", 2.0) == (None, 50)
    assert ask.value("a", eps=0.1).crossing("k", 9) is None
    assert ask.value("a", eps=0.1).slope("k").only == pytest.approx(0.176091, abs=1e-6)  # log10(1.5)
    assert ask.value("a").at(eps=0.1).count == 2
    assert ask.value("a").mean == 2
    assert (ask.value("a") - 3).magnitude == 2


def test_one_number_in_two_spellings_is_said_once():
    assert span(some_values(1.0, 1.0004)) == "1.00"
    assert span(some_values(0.9996, 1.0)) == "1.00"
    assert span(some_values(1.0, 1.0)) == "1"


def some_values(*numbers: float) -> Values:
    return Values(pd.DataFrame({"eps": range(len(numbers)), "number": numbers}), "made up")


@pytest.mark.parametrize(
    ("numbers", "said"),
    [
        ((2.1, 4.8), "cuts the error by 2.10 to 4.80 times"),
        ((1.001, 4.8), "cuts the error by up to 4.80 times"),
        ((0.25, 0.5), "raises the error by 2 to 4 times"),
        ((0.25, 1.0), "raises the error by up to 4 times"),
        ((0.5, 2.0), "changes the error by a factor of 0.500 to 2"),
        ((0.998, 1.003), "leaves the error as it is"),
        ((0.98, 1.03), "changes the error by at most 2.9 %"),
    ],
)
def test_what_exact_accounting_does_is_put_into_words(numbers, said):
    assert exact_cuts(some_values(*numbers), "the error") == said


def test_in_a_picture_with_both_accountings_numbers_are_exact_unless_the_printed_ones_are_asked_for():
    both = Numbers(ROWS, ["a", "b", "level", "sparse", "nowhere"], {"accounting": BOTH})
    exact = Numbers(ROWS, ["a", "b", "level", "sparse", "nowhere"], {"accounting": "exact"})
    assert both.value("a").rows.equals(exact.value("a").rows)
    assert both.value("a").variables == ["eps", "k"]
    assert both.choices("accounting") == ["exact"]
    assert span(both.value("a", accounting="printed")) == "24"
    assert span(both.printed_over("a")) == span(exact.printed_over("a")) == "12"
    assert span(both.printed_over("a", eps=0.1)) == "12"


def test_an_entry_of_a_table_with_one_row():
    assert (str(Share(1, 1, "entries")), str(Share(0, 1, "entries"))) == (
        "the only entry",
        "not the only entry",
    )


def test_what_is_not_feasible_is_not_drawn(ask):
    assert ask.drawn("a")
    assert not ask.drawn("nowhere")


@pytest.mark.parametrize(
    ("question", "message"),
    [
        (lambda n: n.value("c"), "no method 'c' in the drawing. Known: a, b, level, sparse, nowhere."),
        (lambda n: n.value("a", n=3), "no variable 'n' in the drawing. Known: accounting, eps, k."),
        (lambda n: n.value("nowhere"), r"value\('nowhere'\): the drawing has no such numbers"),
        (lambda n: n.value("a", eps=0.3), "no such numbers"),
        (lambda n: n.least("method"), "no variable 'method'"),
        (lambda n: n.value("a").only, r"value\('a'\): 3 numbers, by eps, k; only one can stand here"),
        (lambda n: str(n.value("a")), "needs a filter"),
        (lambda n: n.value("a") / (n.value("b") * 0), "not finite"),
        (lambda n: n.value("a").crossing("k", 1), "runs along eps, k, not k alone"),
        (lambda n: n.value("a").at(n=1), "no variable 'n'. Known: eps, k"),
    ],
)  # fmt: skip
def test_what_cannot_be_answered_is_an_error(ask, question, message):
    with pytest.raises(CaptionError, match=message):
        question(ask)


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (1.0, "1"), (1.001, "1.00"), (5.2e-2, "0.0520"), (48841, "48,800"), (9416.7, "9,420"),
        (3.97e11, "3.97e+11"), (1e-6, "1.00e-06"), (0, "0"), (-1.26, "-1.26"),
        (0.9996, "1.00"), (9.999, "10.0"), (99999, "100,000"),
    ],
)  # fmt: skip
def test_numbers_in_words(value, text):
    assert number(value) == text


def test_other_words(ask):
    assert integer(48841.2) == "48,841"
    assert percent(0.0521) == "5.2 %"
    assert percent(ask.ratio("b", "a") - 1) == "-50 to 100 %"


CLAIMS = ClaimRows(
    pd.DataFrame(
        {"paper": ["13", "73", ""], "formula": ["12.7", "72.04", "x"], "verdict": ["agrees", "off", "off"]}
    )
)


def test_a_table_of_claims_answers_about_its_rows():
    assert span(CLAIMS.column("paper")) == "13 to 73"
    assert span(CLAIMS.column("paper", verdict="off") / CLAIMS.column("formula", verdict="off")) == "1.01"
    assert str(CLAIMS.rows_with(verdict="agrees")) == "1 of 3 entries"
    assert CLAIMS.entries("formula", verdict="off") == ["72.04", "x"]
    with pytest.raises(CaptionError, match=r"no column 'ours' in the table. Known: paper, formula, verdict"):
        CLAIMS.column("ours")


# -- templates -----------------------------------------------------------------------------------------------------


def rendered(tmp_path: Path, text: str, rows: pd.DataFrame = ROWS) -> str:
    (tmp_path / "one.rst").write_text(text)
    names = Numbers(rows, ["a", "b"], {"accounting": "exact"}).questions()
    return render(tmp_path / "one.rst", {"where": {}, "facts": {}, "scale": "paper", **names}).strip()


def test_a_changed_table_changes_the_caption(tmp_path):
    text = "b has {{ ratio('b', 'a') | times }} the error, less at {{ share_better('b', 'a') }}."
    assert rendered(tmp_path, text) == "b has 0.500 to 2 times the error, less at 1 of 3 points."
    changed = ROWS.assign(number=ROWS["number"].where(ROWS["method"] != "b", 0.25))
    assert rendered(tmp_path, text, changed) == "b has 0.0833 to 0.250 times the error, less at all 3 points."


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("x\n\n{{ ratio('a', 'c') | span }}", r"one\.rst:3: no method 'c'"),
        ("{{ unknown }}", r"one\.rst:1: 'unknown' is undefined"),
        ("{{ facts.data }}", r"one\.rst:1: .*no attribute 'data'"),
        ("x\n{{ value('a') }}", r"one\.rst:2: value\('a'\): needs a filter"),
        ("x\n{% if %}", r"one\.rst:2: Expected an expression"),
        ("{{ value('a') | spam }}", r"one\.rst:1: No filter named 'spam'"),
    ],
)
def test_a_template_that_asks_in_vain_is_named_with_the_line(tmp_path, text, message):
    with pytest.raises(CaptionError, match=message):
        rendered(tmp_path, text)


@pytest.mark.parametrize(
    ("prose", "plain"),
    [
        ("Errors of *all* methods.\n", "Errors of all methods."),
        ("``printed`` is **not** less\nthan *x*.\n\nMore.\n", "printed is not less than x."),
        ("1/eps* for eps* = 0.9, 2 * 3 * 4.\n", "1/eps* for eps* = 0.9, 2 * 3 * 4."),
    ],
)
def test_the_finding_is_the_first_paragraph_as_plain_text(prose, plain):
    assert finding(prose) == plain


def test_a_drawing_without_a_template_says_what_it_is_computed_from():
    facts = {
        "data": "a_file.csv (source: own)",
        "participants N": "20",
        "repeats": "3",
        "users trust": "nobody",
    }
    prose = plain_caption("Error of *all* methods", facts)
    assert finding(prose) == "Error of *all* methods"
    text = publish_doctree(prose).astext()
    assert text.endswith("data: a_file.csv (source: own); participants N: 20; repeats: 3.")
    assert "nobody" not in text
    long = finding(plain_caption("many words " * 40, facts))
    assert len(long) <= LONGEST_FINDING
    assert long.endswith("…")


def test_a_caption_without_a_finding_is_refused():
    with pytest.raises(CaptionError, match="the caption is empty"):
        finding(" \n\n")
    assert len(finding("x" * LONGEST_FINDING)) == LONGEST_FINDING
    with pytest.raises(CaptionError, match=r"first paragraph has 161 characters; .* in at most 160: 'xxx"):
        finding("x" * (LONGEST_FINDING + 1) + "\n\nMore.")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("{% set a = 1 %}\n\n" + 200 * "x" + "\n\ny", r"one\.rst:3: the first paragraph has 200 characters"),
        ("{# nothing #}\n{% if false %}x{% endif %}\n", r"one\.rst:2: the caption is empty"),
    ],
)
def test_a_template_without_a_finding_is_named_with_the_line(tmp_path, text, message):
    with pytest.raises(CaptionError, match=message):
        rendered(tmp_path, text)


# -- the captions that ship ----------------------------------------------------------------------------------------

#: Digits that are no result: references, settings (``name = number``), formulas, identifiers.
ALLOWED = [
    r"(?:Figure|Table|Theorem|Section|Corollary)s? [0-9][0-9a-z.]*(?:(?:,| and| to) [0-9][0-9a-z.]*)*",
    r"[Ee]quation \([0-9]+\)",
    r"\b(?:RP|SUM|DUMP|SG|SEG)-[EN]?[0-9.]*[0-9]",
    r"[\w*')]+ = (?:[0-9][0-9,.e/-]*[0-9]|[0-9])(?:(?:, [0-9.]+)* and [0-9.]*[0-9](?! %| times| bits))?",
    r"\b[A-Za-z_]+[0-9]+\b",
    r"\bsqrt\([0-9]\)|\(k - 1\)/k|1 - 1/e|1/eps\*(?:\^2)?|delta/2|log\(1/delta\)|o\(1\)|\b2C\b|\+ 1 bits",
]
#: A factor in words is as much of a result as one in digits.
WORDS = r"\b(?:two|three|four|five|six|seven|eight|nine|ten|hundred|thousand|twice)\b(?: to \w+)? (?:times|per ?cent)\b"


def typed(text: str) -> list[str]:
    """Numbers of a template's prose that stand there without being asked for."""
    prose = re.sub(r"\{\{.*?\}\}|\{%.*?%\}|\{#.*?#\}", " ", text, flags=re.DOTALL)
    prose = " ".join(prose.split())
    for pattern in ALLOWED:
        prose = re.sub(pattern, " ", prose)
    return re.findall(r"\S*[0-9]\S*", prose) + re.findall(WORDS, prose)


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("about 8 % better than Figure 4 and Tables 3 and 4 (RP-E15, SEG-6.1, SUM-N3)", ["8"]),
        ("at eps = 0.05, delta = 1e-6, n = 500,000 (equation (7))", []),
        ("20 to 40 times fewer, five to eight times smaller", ["20", "40", "five to eight times"]),
        ("{{ ratio('a', 'b', eps=0.1) | span }} {% if x == 3 %} ADAPTIVE {% endif %} l1", []),
        ("falls from 99 at eps = 1.", ["99"]),
    ],
)
def test_the_search_for_typed_numbers(text, found):
    assert typed(text) == found


@pytest.mark.parametrize("path", TEMPLATES, ids=lambda p: str(p.relative_to(ROOT / "workflow/report")))
def test_no_number_is_typed(path):
    assert typed(path.read_text(encoding="utf-8")) == []


@pytest.fixture(scope="module", params=["paper", "quick"])
def settings(request: pytest.FixtureRequest) -> Settings:
    config = yaml.safe_load((ROOT / "config/config.yaml").read_text())
    if request.param == "quick":
        config |= yaml.safe_load((ROOT / "config/quick.yaml").read_text())
    return load_settings(config, ROOT)


def fabricated(drawing: Drawing, seed: str, left_out: frozenset[str] = frozenset()) -> Numbers:
    """Made-up numbers of every method at every point at which it is computed."""
    experiment, by = drawing.experiment, drawing.entry.get("files")
    common = {name: value for name, value in drawing.where.items() if name != by}
    rows: list[dict[str, Any]] = []
    for method in set(drawing.entry["methods"]) - left_out:
        used = experiment.variables(experiment.methods[method])
        grid = {v: values for v, values in experiment.grid.items() if v in used}
        for accounting, *point in product(experiment.accountings([method]), *grid.values()):
            row = {"method": method, "accounting": accounting, **dict(zip(grid, point, strict=True))}
            if all(row.get(v, value) == value for v, value in common.items()):
                share = zlib.crc32(f"{seed} {row}".encode()) / 2**32
                rows.append({**row, "number": 100 * (0.1 + share)})
    return Numbers(pd.DataFrame(rows), list(drawing.entry["methods"]), drawing.where)


def text_of(drawing: Drawing, numbers: Numbers, scale: str) -> str:
    path = ROOT / "workflow/report" / drawing.experiment.paper / drawing.entry["caption"]
    facts = {"data": "made up", "highest accuracy": "made up"}
    names = {"where": drawing.where, "facts": facts, "scale": scale}
    return render(path, {**names, **numbers.questions()})


PAPERS = ["random_population", "dump", "summation", "shuffle_gaussian", "segmented"]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("One *short* sentence,\nin two lines.\n\nThe rest.\n", "One short sentence, in two lines."),
        ("Uses ``a * b`` and **all**, see `there <https://x.org>`_.", "Uses a * b and all, see there."),
        (":math:`x` and 2 * 3 * 4 = 24, a*b*c", "x and 2 * 3 * 4 = 24, a*b*c"),
        (r"An \*asterisk\* and n_1", "An *asterisk* and n_1"),
        ("Alone.", "Alone."),
    ],
)
def test_a_finding_is_the_first_paragraph_as_plain_text(text, said):
    assert finding(text) == said


def assert_has_a_finding(prose: str) -> None:
    """One sentence in a paragraph of its own, of which `finding` makes what a reader of the caption reads."""
    document = publish_doctree(
        prose, settings_overrides={"report_level": 1, "halt_level": 2}
    )  # valid, or it raises
    first = document.children[0]
    assert isinstance(first, nodes.paragraph)
    assert " ".join(first.astext().split()) == finding(prose)
    assert re.fullmatch(r"[A-Z0-9p](?:(?!\. [A-Z]).)*[^.]\.", finding(prose)), finding(prose)
    assert len(document.children) > 1


@pytest.mark.parametrize("key", PAPERS)
def test_every_caption_can_be_made_of_any_numbers_and_follows_them(settings, key):
    scale = "shortened" if key in settings.shortened else "paper"
    for drawing in drawings_of(settings.papers[key]):
        texts = (
            text_of(drawing, fabricated(drawing, seed), scale)  # some findings count few points
            for seed in ("one", "two", "three", "four", "five", "six", "seven", "eight")
        )
        one = next(texts)
        assert_has_a_finding(one)
        if scale == "paper":  # with fewer points it is the same template
            assert any(finding(other) != finding(one) for other in texts), drawing.id
        both = drawing.where.get("accounting") == BOTH
        assert " ".join(one.split()).count(DRAWN_TWICE) == both, drawing.id


def test_captions_of_the_comparison_are_valid_and_have_a_finding(settings):
    """Of figures with curves: what the others ask is in the pictures themselves."""
    study = settings.papers.get("comparison")
    for drawing in drawings_of(study) if study else ():
        if drawing.kind == "figure" and drawing.entry.get("kind", "curves") == "curves":
            numbers = fabricated(drawing, "one")
            called = {method: method.replace("_", " ").capitalize() for method in drawing.entry["methods"]}
            path = ROOT / "workflow/report/comparison" / drawing.entry["caption"]
            names = {"where": drawing.where, "facts": {}, "scale": "paper", "called": called, "controls": []}
            assert_has_a_finding(render(path, {**names, **numbers.questions()}))


def test_captions_are_rendered_under_both_accountings_at_once(settings):
    found = {d.name for paper in settings.papers.values() for d in drawings_of(paper) if d.variant == BOTH}
    assert {"fig3", "fig4", "fig5", "fig12", "fig6b", "tokens", "flexible_error"} <= found


def test_the_job_says_at_which_scale_it_runs(settings):
    for paper in settings.papers.values():
        job = paper_job(paper, settings, ROOT / "workflow/report")
        assert {one["scale"] for one in job["drawings"]} == {job["run"]["scale"]}


def drawings(settings: Settings, paper: str, caption: str) -> list[Drawing]:
    return [d for d in drawings_of(settings.papers[paper]) if d.entry["caption"] == caption]


def test_public_coin_is_said_to_be_drawn_only_where_it_is(settings):
    for drawing in drawings(settings, "dump", "errors.rst"):
        if drawing.where["accounting"] in ("printed", BOTH):
            coins = {"public_coin", "public_coin_beyond"}
            none = text_of(drawing, fabricated(drawing, "x", frozenset(coins)), "paper")
            assert "public-coin is not drawn" in none
            beyond = text_of(drawing, fabricated(drawing, "x", frozenset({"public_coin"})), "paper")
            assert "public-coin as proven is feasible at no point" in beyond
            assert "is drawn as proven" in text_of(drawing, fabricated(drawing, "x"), "paper")


def as_read(frame: pd.DataFrame) -> pd.DataFrame:
    """As the drawing reads it: texts only."""
    text = io.StringIO(frame.to_csv(index=False))
    return pd.read_csv(text, dtype=str, keep_default_na=False)


def claim_text(paper: str, caption: str, rows: pd.DataFrame) -> str:
    names = {"where": {}, "facts": {}, "scale": "paper", **ClaimRows(as_read(rows)).questions()}
    return render(ROOT / "workflow/report" / paper / caption, names)


#: Papers and studies with errata.
FINDINGS = [*PAPERS, "comparison"]
#: A column of every table of claims on which its caption depends. Table 4 has the columns of Table 3.
ASKING = {
    ("random_population", "table2"): ("verdict", lambda v: "unsafe"),
    ("dump", "table2"): ("mse", lambda v: 2 * float(v)),
    ("dump", "table3"): ("verdict", lambda v: "off"),
    ("dump", "table4"): ("delta of the paper's entry", lambda v: 1.0),
    ("summation", "figure_points"): ("verdict", lambda v: "agrees"),
    ("summation", "noise_messages"): ("paper", lambda v: 3 * v),
    ("summation", "designs"): ("certified delta", lambda v: 2 * v),
    ("shuffle_gaussian", "table1"): ("equal terms", lambda v: 3 * float(v)),
    ("shuffle_gaussian", "shuffling_cost"): ("ratio", lambda v: 2 * float(v)),
    ("deployments", "systems"): ("verdict", lambda v: "unsafe"),
    ("deployments", "sources"): ("status", lambda v: "incomplete"),
    **{(paper, "errata"): ("effect", lambda v: "unsafe") for paper in FINDINGS},
}
#: In place of what takes long to compute.
MADE_UP = {
    "designs": pd.DataFrame(
        {
            "certified delta": [9e-7, 9.9e-7],
            "analytic over this": [46.4, 1510.0],
            "verdict": ["certified"] * 2,
        }
    ),
    "errata": pd.DataFrame({"effect": ["unsafe", "cosmetic", "safe"]}),
    "reading_notes": pd.DataFrame({"id": ["X-N1", "X-N2"]}),
}


@cache
def claim_rows(paper: str, name: str) -> pd.DataFrame:
    found = MADE_UP.get(name)
    return claims.table(paper, name.replace("table4", "table3")) if found is None else found


@pytest.mark.parametrize(("paper", "name"), ASKING)
def test_captions_of_claims_follow_their_tables(paper, name):
    frame = claim_rows(paper, name)
    column, change = ASKING[paper, name]
    one = claim_text(paper, f"{name}.rst", frame)
    assert_has_a_finding(one)
    assert claim_text(paper, f"{name}.rst", frame.assign(**{column: frame[column].map(change)})) != one


@pytest.mark.parametrize(
    "paper, name", [("random_population", "table2"), ("dump", "table2"), ("dump", "table3")]
)
def test_a_checked_table_states_delta(paper, name):
    assert "delta" in claim_rows(paper, name)


@pytest.mark.parametrize("rows", [1, 3])
@pytest.mark.parametrize("name", ["errata", "reading_notes"])
@pytest.mark.parametrize("paper", FINDINGS)
def test_captions_of_errata_and_notes_count_them(paper, name, rows):
    for effect in ("unsafe", "cosmetic"):
        frame = pd.DataFrame({"id": ["X"] * rows, "effect": [effect] * rows})
        prose = claim_text(paper, f"{name}.rst", frame)
        assert_has_a_finding(prose)
        assert ("one" if rows == 1 else "3") in finding(prose)


def test_every_table_of_claims_is_tried(settings):
    every = {(key, table.name) for key, paper in settings.papers.items() for table in claim_tables(paper)}
    asked = {(key, name) for key, name in ASKING if key in settings.papers}  # the quick scale has no studies
    assert every - {(key, "reading_notes") for key in FINDINGS} == asked

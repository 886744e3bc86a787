"""No number of a caption is typed: templates ask the drawing's own table, and say what it says."""

import io
import re
import zlib
from itertools import product
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
import yaml
from docutils.core import publish_doctree

from shuffledp import claims
from shuffledp.experiments.config import Settings
from shuffledp.figures.captions import (
    CaptionError,
    ClaimRows,
    Numbers,
    Share,
    integer,
    number,
    percent,
    render,
    span,
    times,
)
from shuffledp.figures.drawings import BOTH, Drawing, claim_tables, drawings_of, paper_job
from shuffledp.figures.paper import strictest
from shuffledp.figures.selection import load_settings

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
    made_up = Numbers(pd.DataFrame(rows), list(drawing.entry["methods"]), drawing.where)
    return strictest(made_up) if drawing.variant == BOTH else made_up


def text_of(drawing: Drawing, numbers: Numbers, scale: str) -> str:
    path = ROOT / "workflow/report" / drawing.experiment.paper / drawing.entry["caption"]
    facts = {"data": "made up", "highest accuracy": "made up"}
    names = {"where": drawing.where, "facts": facts, "scale": scale}
    return render(path, {**names, **numbers.questions()})


PAPERS = ["random_population", "dump", "summation", "shuffle_gaussian", "segmented"]


@pytest.mark.parametrize("key", PAPERS)
def test_every_caption_can_be_made_of_any_numbers_and_follows_them(settings, key):
    scale = "shortened" if key in settings.shortened else "paper"
    for drawing in drawings_of(settings.papers[key]):
        one, other = (text_of(drawing, fabricated(drawing, seed), scale) for seed in ("one", "other"))
        publish_doctree(one, settings_overrides={"report_level": 1, "halt_level": 2})  # valid, or it raises
        path = ROOT / "workflow/report" / key / drawing.entry["caption"]
        asks = re.search(r"\b(?:value|ratio|lead|share_better)\(", path.read_text())
        assert (one != other) == bool(asks), drawing.id


def test_captions_are_rendered_under_both_accountings_at_once(settings):
    found = {d.name for paper in settings.papers.values() for d in drawings_of(paper) if d.variant == BOTH}
    assert {"fig3", "fig4", "fig5", "fig12", "fig6b", "tokens", "flexible_error"} <= found


def test_where_both_are_drawn_a_question_is_about_the_strictest(ask):
    found = strictest(Numbers(ROWS, ask.methods, {"accounting": BOTH}))
    assert span(found.value("a")) == span(ask.value("a"))
    assert span(found.value("a", accounting="printed")) == "24"
    only_printed = table(("a", "exact", 1, 1, 2.0), ("p", "printed", 1, 1, 5.0))
    found = strictest(Numbers(only_printed, ["a", "p"], {"accounting": BOTH}))
    assert (span(found.value("p")), span(found.value("a"))) == ("5", "2")
    assert found.drawn("p")


def test_the_job_says_at_which_scale_it_runs(settings):
    for paper in settings.papers.values():
        job = paper_job(paper, settings, ROOT / "workflow/report")
        assert {one["scale"] for one in job["drawings"]} == {job["run"]["scale"]}


def drawings(settings: Settings, paper: str, caption: str) -> list[Drawing]:
    return [d for d in drawings_of(settings.papers[paper]) if d.entry["caption"] == caption]


def test_public_coin_is_said_to_be_drawn_only_where_it_is(settings):
    for drawing in drawings(settings, "dump", "errors.rst"):
        if drawing.where["accounting"] == "printed":
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


#: Tables of claims whose captions have numbers, and a column on which they depend. Table 4 has the columns of Table 3.
ASKING = {
    ("random_population", "table2"): ("verdict", lambda v: "unsafe"),
    ("dump", "table3"): ("verdict", lambda v: "off"),
    ("dump", "table4"): ("delta of the paper's entry", lambda v: 1.0),
    ("summation", "figure_points"): ("verdict", lambda v: "agrees"),
    ("summation", "noise_messages"): ("paper", lambda v: 3 * v),
    ("summation", "designs"): ("certified delta", lambda v: 2 * v),
    ("shuffle_gaussian", "table1"): ("equal terms", lambda v: 3 * float(v)),
    ("shuffle_gaussian", "shuffling_cost"): ("ratio", lambda v: 2 * float(v)),
}
DESIGNS = pd.DataFrame({"certified delta": [9e-7, 9.9e-7], "analytic over this": [46.4, 1510.0]})


@pytest.mark.parametrize(("paper", "name"), ASKING)
def test_captions_of_claims_follow_their_tables(paper, name):
    frame = DESIGNS if name == "designs" else claims.table(paper, name.replace("table4", "table3"))
    column, change = ASKING[paper, name]
    one = claim_text(paper, f"{name}.rst", frame)
    assert claim_text(paper, f"{name}.rst", frame.assign(**{column: frame[column].map(change)})) != one


def test_the_other_tables_of_claims_have_no_questions(settings):
    for key, paper in settings.papers.items():
        for table in claim_tables(paper):
            if (key, table.name) not in ASKING:
                text = (ROOT / "workflow/report" / key / table.caption).read_text()
                assert "{{" not in text
                assert claim_text(key, table.caption, pd.DataFrame({"none": ["x"]})).strip() == text.strip()

"""Captions contain no typed number: templates read the drawing's table and give its numbers."""

import io
import math
import re
import zlib
from functools import cache

import pandas as pd
import pytest
from docutils import nodes
from docutils.core import publish_doctree
from made_up_cells import points_of

from scripts_by_file import ROOT
from shipped_settings import shipped_settings
from shuffledp.pipeline.claims import claim_tables as claims
from shuffledp.pipeline.claims.claim_jobs import papers_with_claims
from shuffledp.pipeline.figures.captions import (
    DRAWN_TWICE,
    LONGEST_FINDING,
    CaptionError,
    ClaimRows,
    Numbers,
    above,
    below,
    crossing,
    finding,
    how_drawn,
    plain_caption,
    render,
    slope,
    where_greatest,
    where_least,
)
from shuffledp.pipeline.figures.drawing_jobs import BOTH
from shuffledp.pipeline.figures.drawings import SHARED_CAPTIONS, drawings_of, paper_job
from shuffledp.pipeline.formatters import finite, percent, span, times
from shuffledp.pipeline.query import MissingResultsError
from shuffledp.pipeline.site.caption_html import DETAILS

FOLDERS = ROOT / "src/shuffledp/pipeline/papers"
TEMPLATES = sorted(FOLDERS.rglob("*.rst"))
#: Most words of a caption before its details.
MOST_WORDS = 60


# -- questions -----------------------------------------------------------------------------------------------------


def table(*rows, columns="method accounting eps k number"):
    return pd.DataFrame(rows, columns=columns.split())


def by(variable, places, accounting="exact", **numbers):
    """Return rows of methods with their numbers at the values of a variable."""
    return table(
        *[
            (m, accounting, place, n)
            for m, own in numbers.items()
            for place, n in zip(places, own, strict=True)
        ],
        columns=f"method accounting {variable} number",
    )


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


METHODS = ["a", "b", "level", "sparse", "nowhere"]


@pytest.fixture
def ask():
    return Numbers(ROWS, METHODS, {"accounting": "exact"})


def test_ratio_uses_common_points(ask):
    assert span(ask.ratio("b", "a")) == "0.500 to 2"
    assert times(ask.ratio("b", "a", k=500)) == "1 times"
    assert percent(ask.ratio("b", "a") - 1) == "-50 to 100 %"
    assert span(ask.ratio("sparse", "a")) == "10"  # at eps 1 only, although sparse has no other
    assert span(ask.ratio("a", "level")) == "0.500 to 1.50"


def test_question_may_name_another_file(ask):
    assert span(ask.value("a", accounting="printed") / ask.value("a")) == "12"
    with pytest.raises(MissingResultsError, match="there is no accounting = printed"):
        ask.value("b", accounting="printed")


def test_shares_count_points(ask):
    assert str(ask.share_better("a", "b")) == "1 of 3 points"
    assert str(ask.share_better("a", "sparse")) == "the only point"
    assert str(above(ask.value("a"), 0.5)) == "all 3 points"
    assert str(below(ask.value("a"), 0.5)) == "none of 3 points"


def test_rounding_makes_nothing_better():
    rows = table(("a", "exact", 1, 1, 1.0), ("b", "exact", 1, 1, 1.0 + 1e-13))
    assert Numbers(rows, ["a", "b"]).share_better("a", "b").none


def test_lead_is_over_best_other(ask):
    lead = ask.lead("a", but=["sparse"])
    assert finite(lead).tolist() == pytest.approx([1.0, 2 / 3, 0.5])
    assert ask.lead("level", but=["a", "b"]).item() == 5


def test_places_of_extremes(ask):
    assert where_least(ask.value("a"), "eps") == 1.0
    assert where_greatest(ask.value("a", eps=1.0), "eps") == 1.0
    assert (ask.least("k"), ask.greatest("k"), ask.choices("eps")) == (50, 500, [0.1, 1.0])
    rising = ask.value("a", eps=0.1)
    assert crossing(rising, "k", 2.5) == (50, 500)
    assert crossing(rising, "k", 2.0) == (None, 50)
    assert crossing(rising, "k", 9) is None
    assert finite(slope(rising, "k")) == pytest.approx(0.176091, abs=1e-6)  # log10(1.5)
    with pytest.raises(ValueError, match="too many values"):
        crossing(ask.value("a"), "k", 1)


def test_leaders_share_equal_points(ask):
    assert {m: str(share) for m, share in ask.leaders(["a", "b"]).items()} == {
        "a": "2 of 3 points",
        "b": "2 of 3 points",
    }
    assert list(ask.leaders(["a", "b"], eps=1.0)) == ["b"]
    assert ask.leaders(["b", "nowhere"])["b"].every
    assert ask.leaders(["nowhere"]) == {}
    assert span(ask.lowest(["a", "b", "nowhere"])) == "0.500 to 3"


def test_growth_is_between_the_ends(ask):
    assert span(ask.growth("a", "eps")) == "0.500"  # with 50 values; with 500 there is one end only
    assert span(ask.growth("b", "k")) == "0.750"
    assert ask.growth("sparse", "eps") is None
    assert ask.growth("nowhere", "eps") is None


def test_caption_describes_the_drawing():
    assert how_drawn(both=False, simulated=False) == ""
    assert how_drawn(both=True, simulated=False) == DRAWN_TWICE
    said = how_drawn(both=False, simulated=True, closed=False)
    assert said.startswith("Filled markers are simulated means") and said.endswith("join simulated means.")


def test_both_accountings_default_to_exact_numbers(ask):
    both = Numbers(ROWS, METHODS, {"accounting": BOTH})
    assert both.value("a").equals(ask.value("a"))
    assert both.value("a").dims == ("eps", "k")
    assert both.choices("accounting") == ["exact"]
    assert span(both.value("a", accounting="printed")) == "24"
    assert span(both.printed_over("a")) == span(ask.printed_over("a")) == "12"
    assert span(both.printed_over("a", eps=0.1)) == "12"


@pytest.mark.parametrize(
    "question, message",
    [
        (lambda n: n.value("c"), "no method 'c' in the drawing. Known: a, b, level, sparse, nowhere."),
        (lambda n: n.value("a", n=3), r"a has no variable n. Known: accounting, eps, k\."),
        (lambda n: n.least("method"), "no variable 'method'"),
        (lambda n: above(n.value("a") * math.nan, 1), "No point has a number"),
    ],
)
def test_unanswerable_questions_are_errors(ask, question, message):
    with pytest.raises(ValueError, match=message):
        question(ask)


CLAIMS = ClaimRows(
    pd.DataFrame(
        {"paper": ["13", "73", ""], "formula": ["12.7", "72.04", "x"], "verdict": ["agrees", "off", "off"]}
    )
)


def test_claim_table_answers_about_rows():
    assert span(CLAIMS.column("paper")) == "13 to 73"
    assert span(CLAIMS.column("paper", verdict="off") / CLAIMS.column("formula", verdict="off")) == "1.01"
    assert str(CLAIMS.rows_with(verdict="agrees")) == "1 of 3 entries"
    assert CLAIMS.entries("formula", verdict="off") == ["72.04", "x"]
    with pytest.raises(CaptionError, match=r"no column 'ours' in the table. Known: paper, formula, verdict"):
        CLAIMS.column("ours")


# -- templates -----------------------------------------------------------------------------------------------------


def rendered(tmp_path, text, rows=ROWS):
    (tmp_path / "one.rst").write_text(text)
    names = Numbers(rows, ["a", "b"], {"accounting": "exact"}).questions()
    return render(tmp_path / "one.rst", {"where": {}, "facts": {}, "scale": "paper", **names}).strip()


def test_a_changed_table_changes_the_caption(tmp_path):
    text = "b has {{ ratio('b', 'a') | times }} the error, less at {{ share_better('b', 'a') }}."
    assert rendered(tmp_path, text) == "b has 0.500 to 2 times the error, less at 1 of 3 points."
    changed = ROWS.assign(number=ROWS["number"].where(ROWS["method"] != "b", 0.25))
    assert rendered(tmp_path, text, changed) == "b has 0.0833 to 0.250 times the error, less at all 3 points."


@pytest.mark.parametrize(
    "text, message",
    [
        ("x\n\n{{ ratio('a', 'c') | span }}", r"one\.rst:3: no method 'c'"),
        ("{{ unknown }}", r"one\.rst:1: 'unknown' is undefined"),
        ("x\n{{ value('a') }}", r"one\.rst:2: Numbers need a filter"),
        ("x\n{{ value('a', eps=0.3) | span }}", r"one\.rst:2: .*there is no eps = 0\.3"),
        ("x\n{{ value('a') | number }}", r"one\.rst:2: 3 numbers; this place needs a single number"),
        ("x\n{{ (value('a') / (value('b') * 0)) | span }}", r"one\.rst:2: A number is not finite"),
        ("x\n{{ value('a') | where_least('n') }}", r"one\.rst:2: .*'n'"),
        ("x\n{% if %}", r"one\.rst:2: Expected an expression"),
    ],
)
def test_failing_template_is_named_with_line(tmp_path, text, message):
    with pytest.raises(CaptionError, match=message):
        rendered(tmp_path, text)


@pytest.mark.parametrize(
    "prose, plain",
    [
        ("Errors of *all* methods.\n", "Errors of all methods."),
        ("``printed`` is **not** less\nthan *x*.\n\nMore.\n", "printed is not less than x."),
        (":math:`x`, `there <https://x.org>`_ and n\\_1.\n", "x, there and n_1."),
        ("1/eps* for eps* = 0.9, 2 * 3 * 4.\n", "1/eps* for eps* = 0.9, 2 * 3 * 4."),
    ],
)
def test_finding_is_first_paragraph(prose, plain):
    assert finding(prose) == plain


def test_drawing_without_template_states_its_data():
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


def test_caption_without_finding_is_refused():
    with pytest.raises(CaptionError, match="the caption is empty"):
        finding(" \n\n")
    assert len(finding("x" * LONGEST_FINDING)) == LONGEST_FINDING
    with pytest.raises(CaptionError, match=r"first paragraph has 161 characters; .* in at most 160: 'xxx"):
        finding("x" * (LONGEST_FINDING + 1) + "\n\nMore.")


@pytest.mark.parametrize(
    "text, message",
    [
        ("{% set a = 1 %}\n\n" + 200 * "x" + "\n\ny", r"one\.rst:3: the first paragraph has 200 characters"),
        ("{# nothing #}\n{% if false %}x{% endif %}\n", r"one\.rst:2: the caption is empty"),
    ],
)
def test_template_without_finding_is_named(tmp_path, text, message):
    with pytest.raises(CaptionError, match=message):
        rendered(tmp_path, text)


# -- the captions that ship ----------------------------------------------------------------------------------------

#: Digits that are no results: references, settings (``name = number``), formulas, identifiers.
ALLOWED = [
    r"(?:Figure|Table|Theorem|Section|Corollary)s? [0-9][0-9a-z.]*(?:(?:,| and| to) [0-9][0-9a-z.]*)*",
    r"[Ee]quation \([0-9]+\)",
    r"\b(?:RP|SUM|DUMP|SG|SEG|OQ)-[EN]?[0-9.]*[0-9]",
    r"[\w*')]+ = (?:[0-9][0-9,.e/-]*[0-9]|[0-9])(?:(?:, [0-9.]+)* and [0-9.]*[0-9](?! %| times| bits))?",
    r"\b[A-Za-z_]+[0-9]+\b",
    r"\bsqrt\([0-9]\)|\(k - 1\)/k|1 - 1/e|1/eps\*(?:\^2)?|delta/2|log\(1/delta\)|o\(1\)|\b2C\b|\+ 1 bits",
]
#: Factors in words, which are results like factors in digits.
WORDS = r"\b(?:two|three|four|five|six|seven|eight|nine|ten|hundred|thousand|twice)\b(?: to \w+)? (?:times|per ?cent)\b"


def typed(text):
    """Return numbers in a template's prose that no expression computes."""
    prose = re.sub(r"\{\{.*?\}\}|\{%.*?%\}|\{#.*?#\}", " ", text, flags=re.DOTALL)
    prose = " ".join(prose.split())
    for pattern in ALLOWED:
        prose = re.sub(pattern, " ", prose)
    return re.findall(r"\S*[0-9]\S*", prose) + re.findall(WORDS, prose)


@pytest.mark.parametrize("path", TEMPLATES, ids=lambda p: f"{p.parts[-3]}/{p.name}")
def test_no_number_is_typed(path):
    assert typed(path.read_text(encoding="utf-8")) == []


@pytest.fixture(scope="module", params=["paper", "quick"])
def settings(request):
    return shipped_settings(request.param)


@pytest.fixture(scope="module")
def paper_settings():
    return shipped_settings("paper")


def fabricated(drawing, seed, left_out=frozenset()):
    """Return made-up numbers of every method at every point where it is computed."""
    common = {name: value for name, value in drawing.where.items() if value != BOTH}
    rows = [
        {**row, "number": 100 * (0.1 + zlib.crc32(f"{seed} {row}".encode()) / 2**32)}
        for row in points_of(drawing, drawing.experiment.grid)
        if row["method"] not in left_out and all(row.get(v, value) == value for v, value in common.items())
    ]
    return Numbers(pd.DataFrame(rows), list(drawing.entry["methods"]), drawing.where)


def rendered_with(caption, numbers, trusting, **names):
    """Return a caption in the words of a figure; a method's name is its id with spaces."""
    both = numbers.here.get("accounting") == BOTH
    known = {
        "where": numbers.here,
        "facts": {},
        "scale": "paper",
        "called": {m: m.replace("_", " ") for m in numbers.methods},
        "controls": [],
        "how_drawn": how_drawn(both=both, simulated=True),
        "trusting": trusting,
        **numbers.questions(),
    }
    paper, _, name = caption.partition("/")
    return render(FOLDERS / paper / "captions" / name, known | names)


def text_of(drawing, numbers, scale="paper", proven=True):
    methods = drawing.entry["methods"]
    names = {
        "facts": {"data": "made up", "highest accuracy": "made up"},
        "scale": scale,
        "called": {method: method.replace("_", " ").capitalize() for method in methods},
    }
    caption = f"{drawing.experiment.paper}/{drawing.entry['caption']}"
    return rendered_with(caption, numbers, lambda *_: methods if proven else [], **names)


PAPERS = [key for key in papers_with_claims() if key in shipped_settings("quick").papers]  # no studies


def assert_has_a_finding(prose):
    """Check for one sentence in a paragraph of its own, which `finding` returns as readers see it."""
    document = publish_doctree(
        prose, settings_overrides={"report_level": 1, "halt_level": 2}
    )  # valid, or it raises
    first = document.children[0]
    assert isinstance(first, nodes.paragraph)
    assert " ".join(first.astext().split()) == finding(prose)
    assert re.fullmatch(r"[A-Z0-9p](?:(?!\. [A-Z]).)*[^.]\.", finding(prose)), finding(prose)
    assert len(document.children) > 1
    shown, mark, _ = prose.partition(f"\n{DETAILS}\n")
    assert mark and len(shown.split()) <= MOST_WORDS, shown


@pytest.mark.parametrize("key", PAPERS)
def test_captions_follow_any_numbers(settings, key):
    scale = "shortened" if key in settings.shortened else "paper"
    followed = set()
    for drawing in drawings_of(settings.papers[key]):
        template = drawing.entry["caption"], drawing.where.get("accounting")
        if template in followed:  # other parts of the same picture
            continue
        texts = (
            text_of(drawing, fabricated(drawing, seed), scale)  # some findings count few points
            for seed in ("one", "two", "three", "four", "five", "six", "seven", "eight")
        )
        one = next(texts)
        assert_has_a_finding(one)
        if scale == "paper":  # with fewer points it is the same template
            assert any(finding(other) != finding(one) for other in texts), drawing.id
        followed.add(template)
        both = drawing.where.get("accounting") == BOTH
        assert " ".join(one.split()).count(DRAWN_TWICE) == both, drawing.id


@pytest.mark.parametrize("key", ["comparison", "ranges"])
def test_study_captions_have_a_finding(paper_settings, key):
    """These are figures with curves; the captions of other kinds use the pictures' numbers."""
    for drawing in drawings_of(paper_settings.papers[key]):
        if drawing.kind == "figure" and drawing.entry.get("kind") != "pareto":
            assert_has_a_finding(text_of(drawing, fabricated(drawing, drawing.id)))


def test_captions_cover_both_accountings(settings):
    found = {
        d.id
        for paper in settings.papers.values()
        for d in drawings_of(paper)
        if d.where.get("accounting") == BOTH
    }
    assert {"fig3", "fig4", "fig5", "fig12", "fig6_s8", "tokens", "flexible_error"} <= found


def test_job_states_its_scale(settings):
    for paper in settings.papers.values():
        job = paper_job(paper, settings, ROOT)
        assert {one["scale"] for one in job["drawings"]} == {job["run"]["scale"]}


def drawings(settings, paper, caption):
    return [d for d in drawings_of(settings.papers[paper]) if d.entry["caption"] == caption]


def test_bound_without_guarantee_is_not_compared(paper_settings):
    drawing, *_ = drawings(paper_settings, "random_population", "fig7.rst")
    numbers = fabricated(drawing, "x")
    proven, doubtful = (text_of(drawing, numbers, proven=known) for known in (True, False))
    assert "no guarantee" not in proven and "MULTI-UNION has no guarantee (RP-E16)" in doubtful
    assert proven.count("that of MULTI-UNION") == doubtful.count("that of MULTI-UNION") + 1


def test_public_coin_is_feasible_where_stated(paper_settings):
    drawing = next(d for d in drawings(paper_settings, "dump", "errors.rst") if d.id == "fig5")
    both = text_of(drawing, fabricated(drawing, "x"))
    assert "public-coin is feasible as proven at" in both
    beyond = text_of(drawing, fabricated(drawing, "x", frozenset({"public_coin"})))
    assert "public-coin as proven is feasible at no point" in beyond
    none = text_of(
        drawing, fabricated(drawing, "x", frozenset({"public_coin", "public_coin_beyond"})), "paper"
    )
    assert "does not cover, has 0 points." in none


def as_read(frame):
    """Return texts only, as the drawing reads them."""
    text = io.StringIO(frame.to_csv(index=False))
    return pd.read_csv(text, dtype=str, keep_default_na=False)


def claim_text(paper, caption, rows):
    names = {"where": {}, "facts": {}, "scale": "paper", **ClaimRows(as_read(rows)).questions()}
    folder = FOLDERS if caption in SHARED_CAPTIONS else FOLDERS / paper
    return render(folder / "captions" / caption, names)


#: Column of each table of claims on which its caption depends.
ASKING = {
    ("random_population", "table2"): ("verdict", lambda v: "unsafe"),
    ("dump", "table2"): ("mse", lambda v: 2 * float(v)),
    ("dump", "table3"): ("verdict", lambda v: "off"),
    ("summation", "figure_points"): ("verdict", lambda v: "agrees"),
    ("summation", "noise_messages"): ("paper", lambda v: 3 * v),
    ("summation", "designs"): ("certified delta", lambda v: 2 * v),
    ("shuffle_gaussian", "table1"): ("equal terms", lambda v: 3 * float(v)),
    ("shuffle_gaussian", "shuffling_cost"): ("ratio", lambda v: 2 * float(v)),
    ("deployments", "systems"): ("verdict", lambda v: "unsafe"),
    ("deployments", "sources"): ("status", lambda v: "incomplete"),
    ("dump", "errata"): ("effect", lambda v: "unsafe"),
}
#: Made-up results in place of slow computations.
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
def claim_rows(paper, name):
    found = MADE_UP.get(name)
    return claims.table(paper, name) if found is None else found


@pytest.mark.parametrize("paper, name", ASKING)
def test_captions_of_claims_follow_their_tables(paper, name):
    frame = claim_rows(paper, name)
    column, change = ASKING[paper, name]
    assert "delta" in frame or name not in ("table2", "table3")  # a checked table states delta
    one = claim_text(paper, f"{name}.rst", frame)
    assert_has_a_finding(one)
    assert claim_text(paper, f"{name}.rst", frame.assign(**{column: frame[column].map(change)})) != one


@pytest.mark.parametrize("rows", [1, 3])
@pytest.mark.parametrize("name", ["errata", "reading_notes"])
def test_errata_captions_count_entries(name, rows):
    for effect in ("unsafe", "cosmetic"):
        frame = pd.DataFrame({"id": ["X"] * rows, "effect": [effect] * rows})
        prose = claim_text("dump", f"{name}.rst", frame)
        assert_has_a_finding(prose)
        assert ("one" if rows == 1 else "3") in finding(prose)


# -- sentences that were wrong --------------------------------------------------------------------------------------


def sentence(caption, rows, where, trust=None, **names):
    """Return a caption of a few numbers on one line."""
    methods = list(dict.fromkeys([*rows["method"], *names.pop("methods", [])]))

    def trusting(accounting, *who):
        known = set(rows.loc[rows["accounting"] == accounting, "method"])
        return [m for m in methods if m in known and (trust or {}).get(m, "shuffler") in who]

    return " ".join(rendered_with(caption, Numbers(rows, methods, where), trusting, **names).split())


SUMS = pd.concat(
    [
        by("users", [10, 1000], correlated_sum=[61.6] * 2, bit_sum=[1100.0] * 2, central_laplace=[49.8] * 2),
        by("users", [10, 1000], "printed", correlated_sum=[61.7] * 2, split_and_mix=[49.8] * 2),
    ]
).assign(eps=0.2)


def sums(rows):
    return sentence("comparison/sums_by_eps.rst", rows, {"accounting": BOTH}, {"central_laplace": "central"})


def test_lowest_sum_error_names_its_protocols():
    """The caption names the lower printed errors, too."""
    text = sums(SUMS)
    assert finding_of(text) == (
        "Without a curator, the lowest exact error is that of correlated sum at all 2 points."
    )
    assert "As printed, split and mix has 0.808 times this error." in text
    assert "As printed" not in sums(
        SUMS.assign(number=SUMS["number"].where(SUMS["method"] != "split_and_mix", 70.0))
    )
    crossed = finding_of(
        sums(
            SUMS.assign(
                number=SUMS["number"].where((SUMS["method"] != "bit_sum") | (SUMS["users"] > 10), 5.0)
            )
        )
    )
    assert "correlated sum at 1 of 2 points" in crossed and "bit sum at 1 of 2 points" in crossed
    curator = sums(SUMS[SUMS["method"] == "central_laplace"])
    assert curator.startswith("No protocol without a curator is feasible.")


def finding_of(text):
    """Return the first sentence of a caption on one line."""
    return re.split(r"(?<=\.) (?=[A-Z.])", text)[0]


def test_error_dependence_on_users_is_stated():
    rows = by("users", [10, 1000], level=[5.0, 5.05], rising=[2.0, 17.0], falling=[4.0, 0.8])
    text = sentence("comparison/frequency_by_users.rst", rows, {"accounting": "exact"}, methods=["nowhere"])
    assert finding_of(text).startswith("From 10 to 1,000 users, 1 of 3 errors")
    assert "rising 8.50, falling 0.200." in text


def test_systems_table_states_needed_users():
    rows = pd.DataFrame({"verdict": ["holds", "holds"], "users needed": ["49302", "89039"]})
    text = claim_text("deployments", "systems.rst", rows)
    assert finding(text).endswith("hold for every data set; 49,302 to 89,039 users are enough.")
    assert "At the printed numbers of users" in text


def test_correlated_noise_names_both_bounds():
    """The ratio uses the best bound of randomized response, and the caption names the other."""
    rows = by("share", [0.01], correlated_noise=[10.0], grr_blanket=[120.0], amplified=[270.0])
    text = sentence("comparison/frequency.rst", rows, {})
    assert finding_of(text).startswith(
        "Randomized response has 12 times the squared error of correlated noise"
    )
    assert "27 times by the clones bound" in text


BITS = by(
    "eps", [0.5, 1.0], multi_union=[4, 2], correlated_noise=[20, 10], grr_blanket=[120, 60], sageo=[2, 1]
)


def test_best_protocol_for_bits_is_named():
    says = "Where a shuffler only permutes, multi union has the lowest"
    others = "correlated noise has 5 times, randomized response 30 times its error."
    curve = sentence(
        "comparison/binary_by_eps.rst", BITS, {"accounting": "exact"}, {"sageo": "shuffler_adds"}
    )
    assert finding_of(curve) == f"{says} error; {others}"
    order = {"multi_union": 2.0, "correlated_noise": 10.0, "grr_blanket": 60.0}
    board = sentence("comparison/binary.rst", BITS, {}, ranked=lambda *_: order)
    assert finding_of(board) == f"{says} squared error, 2; {others}"
    alone = sentence("comparison/binary.rst", BITS, {}, ranked=lambda *_: {})
    assert alone.startswith("No protocol whose shuffler only permutes is feasible here.")


@pytest.mark.parametrize(
    "order, says",
    [
        ({"a": 1.0, "b": 3.0}, "Of 2 rows without a curator, a has the lowest squared error, 1; next is b, 3."),
        (
            {"a": 1.0, "b": 1.0001, "c": 5.0},
            "Of 3 rows without a curator, a and b have the lowest squared error, 1; next is c, 5.",
        ),
        ({"a": 1.0}, "Of 1 rows without a curator, a has the lowest squared error, 1."),
        ({}, "No protocol but controls is feasible here."),
    ],
)  # fmt: skip
def test_leaderboard_states_number_of_protocols(order, says):
    text = sentence("comparison/leaderboard.rst", ROWS, {}, methods=["c"], ranked=lambda *_: order)
    assert finding_of(text) == says


def test_pair_bound_is_not_called_tighter():
    """The bound for one pair is not called tighter than the bound for all pairs."""
    rows = by(
        "rounds",
        [1, 10],
        clones_sensitivity_1=[54.0, 540.0],
        clones_sensitivity_2=[23.0, 230.0],
        shuffle_distance_1=[1.0, 10.0],
        shuffle_distance_2=[1.0, 10.0],
        shuffle_distance_2_to_order_30=[0.2, None],
    ).dropna()
    text = sentence("shuffle_gaussian/composition.rst", rows, {})
    assert "for one pair of data sets, is below the clones bound for all pairs" in finding_of(text)
    assert "neither is tighter" in text and "SG-4" in text
    crossed = rows.assign(number=rows["number"].where(rows["rounds"] == 1, 9.0))
    assert "at 1 of 2 points (d = 1)" in sentence("shuffle_gaussian/composition.rst", crossed, {})


def test_curator_noise_covers_both_relations():
    relations = ["replace_one", "add_remove"]
    rows = by("relation", relations, central_gaussian=[4.0, 9.0], central_laplace=[1.0, 1.0])
    text = sentence("comparison/reference_lines.rst", rows, {})
    assert (
        "4 times the variance of discrete Laplace noise if a user is replaced, 9 times if "
        "one is added or removed" in text
    )


NUMBERS = [0.5, 1.0, None]
OTHERS = {
    method: [None, None, number]
    for method, number in (("balls_into_bins", 2.0), ("separate", 4.0), ("separate_inverse_variance", 3.0))
}
SEGMENTED = pd.concat(
    [
        by("m", NUMBERS, segmented=[3.0, 2.0008, None], **OTHERS),
        by("m", NUMBERS, "printed", segmented=[5.0, 4.0, None], **OTHERS),
        by("m", NUMBERS, "corrected", segmented=[None, 6.0024, None]),
    ]
)
SEGMENTED = SEGMENTED.dropna(subset="number").assign(n=5000)
RIVALS = ["subset_shuffled", "subset_local", "separate_weighted"]


def test_difference_below_grid_is_none():
    where = {"accounting": BOTH, "split": "x"}
    text = finding_of(sentence("segmented/by_m.rst", SEGMENTED, where, methods=RIVALS))
    assert "equals the best competitor's" in text and "2 (n = 5,000) times" in text
    better = SEGMENTED.assign(number=SEGMENTED["number"].where(SEGMENTED["method"] != "segmented", 1.0))
    text = finding_of(sentence("segmented/by_m.rst", better, where, methods=RIVALS))
    assert text.endswith("SegMM is 0.500 times (n = 5,000) the best competitor's.")

import itertools
import os
import re
from collections import Counter
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote

import pytest
from fabricated import (
    PAPERS,
    PROTOCOLS,
    as_csv,
    fabricate,
    publish_table,
    rows_of,
)
from markupsafe import Markup

from scripts_by_file import script
from shuffledp.identities import identities
from shuffledp.pipeline import site as pages
from shuffledp.pipeline.site.build import link_remarks
from shuffledp.pipeline.site.caption_html import to_html
from shuffledp.pipeline.site.selector import kept_tables
from shuffledp.storage import IntegrityError, damaged, listed

VOID = {"meta", "img", "link", "br", "hr", "input"}


class Page(HTMLParser):
    """Tags and attributes of a page in order; nesting and attribute names are checked meanwhile."""

    def __init__(self, text):
        super().__init__()
        self.tags, self.open = [], []
        self.feed(text)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag, attrs):
        assert len({name for name, _ in attrs}) == len(attrs)
        assert [name for name, _ in attrs if not re.fullmatch("[a-z][a-z0-9:-]*", name)] == []
        self.handle_startendtag(tag, attrs)
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.tags.append((tag, {name: value or "" for name, value in attrs}))

    def handle_endtag(self, tag):
        assert self.open.pop() == tag, self.getpos()

    def all(self, name):
        return [attributes for tag, attributes in self.tags if tag == name]


def render(results, **how):
    return pages.render(results, PAPERS, PROTOCOLS, **how)


@pytest.fixture(scope="module")
def results(tmp_path_factory):
    """Return the folder that `site` is built from, which no test changes."""
    folder = tmp_path_factory.mktemp("results")
    fabricate(folder)
    return folder


@pytest.fixture(scope="module")
def site(results):
    return render(results)


def html(site, name):
    return site["index.html" if name == "index" else f"pages/{name}.html"].decode()


def assert_shows(text, *fragments):
    assert [fragment for fragment in fragments if fragment not in text] == []


def of(papers, key, *entries):
    return [e for e in papers[key].manifest["entries"] if not entries or e["id"] in entries]


def test_everything_has_exactly_one_page(site):
    expected = {name for name in pages.outputs(PAPERS, PROTOCOLS) if name != "site.sha256"}
    assert set(site) == expected
    assert {n for n in expected if n.endswith(".html")} == {
        "index.html",
        *(f"pages/{name}.html" for name in (*PAPERS, "claims", "audit", "errata", "open_questions")),
        *(f"pages/{name}.html" for name in ("choose", "papers", "overall", "protocols")),
        *(
            f"pages/protocols/{name}.html"
            for name in {*PROTOCOLS, *(key.split(".")[-1] for key in identities())}
        ),
    }


def test_first_page_has_selectors_best_rows(site):
    setting, offers = next(iter(kept_tables().items()))
    groups = Counter(offer.trust for offer in offers)
    index, choose = html(site, "index"), html(site, "choose")
    assert index.count("<circle") == sum(min(count, 3) for count in groups.values())
    assert choose.count("<circle") == len(offers)
    assert all(f"<code>{setting.command}</code>" in text for text in (index, choose))
    assert '<a href="../pages/protocols/pure_dump.html">pureDUMP</a>' in choose


def test_protocol_page_has_the_runs_results(papers, tmp_path):
    first = papers[PAPERS[0]]
    for entry in of(papers, PAPERS[0], "fig4"):
        entry["protocols"] = ["pure_dump"]
    first.publish()
    text = html(render(tmp_path), "protocols/pure_dump")
    assert "<h1>pureDUMP</h1>" in text and "also as curator" not in text
    assert text.count(">histogram (squared error of a count of users)</th>") == 1
    assert text.count('<td class="number">100,000</td>') == 4
    assert "too few users" in text and "{&#34;total&#34;: 4321}" in text
    assert '<a href="../../pages/audit.html#frequency-pure_dump-exact">frequency, exact</a>' in text
    assert text.count('href="../../pages/random_population.html#fig4"') == 1
    assert 'href="../../pages/claims.html#RP-01"' in text and "RP-08" not in text


def test_protocols_without_results_have_pages(site):
    text = html(site, "protocols/jump_counts")
    identity = identities()["jump_counts"]
    assert_shows(
        text,
        f"<h1>{identity.label}</h1>",
        identity.sentence,
        "Derived in this project",
        "Trust: a shuffler that permutes. Setting: histogram",
        "on average 1.42, of 11.4 bits together, and at most 137, rarely more.",
    )
    assert "Errors and costs" not in text
    assert '<a href="../pages/protocols/jump_counts.html">' in html(site, "choose")


def test_empty_columns_are_left_out(site, papers, tmp_path):
    heading = "Relative to the curator’s</th>"
    assert heading in html(site, "protocols/pure_dump")
    papers["overall"].files["ranking.csv"] = as_csv(
        [row | {"over_curator": ""} for row in rows_of("ranking")]
    )
    papers["overall"].publish()
    assert heading not in html(render(tmp_path), "protocols/pure_dump")


def test_pages_link_only_to_given_addresses(results, site):
    links = {"docs": "../docs/index.html", "repository": "https://example.org/code"}
    linked = render(results, links=links)
    assert '<a href="../docs/index.html">Docs</a>' in html(linked, "index")
    assert '<a href="../../docs/index.html">Docs</a>' in html(linked, "choose")
    assert '<a href="https://example.org/code">Repository</a>' in html(linked, "choose")
    assert "Repository" not in html(site, "index")


def test_papers_have_their_cards(site):
    def cards(name):
        return [a["id"] for a in Page(html(site, name)).all("article")]

    assert cards(PAPERS[0]) == ["fig4", "fig5", "budgets"]
    assert cards(PAPERS[1]) == ["fig5", "fig6", "wide"]
    assert "2 papers on the shuffle model" in html(site, "index")
    assert "4 figures, 2 tables" in html(site, "index")
    assert "1 erratum and 1 reading note<" in html(site, "index")


def test_ids_are_unique_and_references_valid(site, results):
    read = {name: Page(content.decode()) for name, content in site.items() if name.endswith(".html")}
    ids = {n: [a["id"] for _, a in page.tags if "id" in a] for n, page in read.items()}
    for name, page in read.items():
        assert len(set(ids[name])) == len(ids[name])
        for attribute in ("aria-labelledby", "for"):
            pointing = {a[attribute] for _, a in page.tags if attribute in a}
            assert pointing <= set(ids[name])
        links = [a["href"] for a in page.all("a")] + [
            a["src"] for a in (*page.all("img"), *page.all("script")) if "src" in a
        ]
        for link in links:
            target, _, anchor = link.partition("#")
            if link.startswith("https://doi.org/"):
                continue
            assert not re.match(r"/|\w+:", link)
            place = Path(name).parent / unquote(target) if target else Path(name)
            found = Path(os.path.normpath(place)).as_posix()
            assert found in site or (results / found).is_file(), link
            assert not anchor or anchor in ids[found], link


def test_all_files_of_entries_are_linked(site, papers):
    for key in PAPERS:
        targets = {a["href"] for name in (key, "errata") for a in Page(html(site, name)).all("a")}
        for entry in of(papers, key):
            assert {f"../figures/{key}/{name}" for name in entry["files"].values()} <= targets


@pytest.mark.parametrize("name", ["index", *PAPERS, "errata"])
def test_landmarks_language_headings_and_text_alternatives(site, name):
    page = Page(html(site, name))
    assert page.all("html") == [{"lang": "en"}]
    assert len(page.all("main")) == len(page.all("h1")) == 1
    assert {a.get("aria-label") for a in page.all("nav")} >= {"Pages"}
    assert [a["href"] for a in page.all("a") if a.get("class") == "skip"] == ["#page-main"]
    for image in page.all("img"):
        assert "Error falls as the budget grows" in image["alt"]
        assert int(image["width"]) > 0
        assert int(image["height"]) > 0
    at_first = [i for i in page.all("img") if "loading" not in i]
    cards = {a["id"] for a in page.all("article") if "id" in a}
    assert len(at_first) >= len(cards - {"budgets", "wide"})  # printed without a reader who scrolls
    levels = [int(tag[1]) for tag, _ in page.tags if re.fullmatch("h[1-6]", tag)]
    assert levels[0] == 1
    assert all(after <= before + 1 for before, after in itertools.pairwise(levels))
    assert "style" not in {attribute for _, attributes in page.tags for attribute in attributes}
    assert sum("aria-current" in a for a in page.all("a")) == 1


def test_notes_gaps_and_scale_are_shown(site):
    first, second, index = (html(site, name) for name in (*PAPERS, "index"))
    note = "This is a summary of Adult that ships with the project."
    assert first.count(note) == index.count(note) == 1
    assert_shows(index, "Shortened run", "some results below")
    assert "Shortened run" in second and "Shortened run" not in first
    assert "at the paper’s scale" not in second
    assert_shows(
        first,
        "at the paper’s scale",
        "Gaps: 2 reasons",
        "adaptive at rate 0.05, eps 0.001: too few users",
        "commit <code>0123456789ab</code>",
    )


def test_audited_protocol_has_row_and_slack(site):
    text = html(site, "audit")
    rows = {tag["id"]: tag for tag in Page(text).all("tr") if "id" in tag}
    assert {name: row["data-outcome"] for name, row in rows.items()} == {
        "frequency-pure_dump-exact": "holds",
        "frequency-pure_dump-printed": "undecided",
        "frequency-flexible_pure_dump-printed": "listed erratum",
        "frequency-new_one-exact": "not audited",
    }
    assert_shows(
        text,
        "least slack 1.01: dump.domains.pure_dump: k = 50",
        "least slack 1: nine users",
        "(<strong>1 exceeded</strong>)",
        "1 point of experiments (1 undecided)",
        "rounding error: at most 0.002 of the claimed delta",
        "not audited: not written down",
        '<a href="../claims/audit.csv">',
    )
    assert_shows(
        html(site, "index"),
        '<a href="pages/audit.html">The guarantees, audited</a>',
        "audits 3 pairs of a protocol",
        *(f">{name}</span> <strong>1</strong>" for name in ("holds", "listed erratum", "undecided")),
    )


def test_errata_have_quotes_and_numbers(site):
    text = html(site, "errata")
    rows = re.findall(r'<tr role="row" id="([^"]*)" .*?</tr>', text, re.DOTALL)
    assert rows == ["RP-E16", "RP-N2"]
    (erratum,), (note,) = rows_of("errata"), rows_of("reading_notes")
    for said in (*erratum.values(), *note.values()):
        if said not in ("True", "RP-E16", "RP-N2", "0.000166995123", "") and "see RP-N2" not in said:
            assert f">{said}<" in text.replace("</span> ", ">"), said
    assert '<data value="0.000166995123">0.000167</data>' in text
    assert 'on the way, see <a href="../pages/errata.html#RP-N2">RP-N2</a>' in text
    assert 'href="../pages/errata.html#RP-E16"' in html(site, PAPERS[0])


def test_claims_have_verdicts_and_their_errata(site):
    text = html(site, "claims")
    assert re.findall(r'<tr role="row" id="([^"]*)"', text) == ["RP-01", "RP-08", "O-15"]
    first, second, third = text.split('<tr role="row" id=')[1:]
    assert_shows(
        first,
        '<span class="effect is-in-part">in part</span>',
        '<span class="terms">printed:</span> <span class="effect is-fails">fails</span>, 48.1 %',
        '<span class="terms">exact:</span> <span class="effect is-holds">holds</span>, 71.9 %',
        "our expectation: it looked at one accounting.",
        'data-as="otherwise"',
    )
    assert_shows(second, "(uncertainty: 400 random settings)", 'data-as="as expected"')
    assert "<strong>" not in second  # one judgment needs no verdict of its own
    assert 'data-verdict="untestable"' in third


def test_claims_errata_and_figures_are_linked(site):
    linked = '<a href="../pages/claims.html#RP-01">RP-01</a> <span class="effect is-in-part">in part</span>'
    figure, erratum = (
        f'href="../pages/{to}"' for to in ("random_population.html#fig4", "errata.html#RP-E16")
    )
    assert_shows(html(site, "claims"), f"{figure}>Fig. 4</a>", f"{erratum}>RP-E16</a>")
    errata, paper, questions = (html(site, name) for name in ("errata", PAPERS[0], "open_questions"))
    entry = errata[errata.index('id="RP-E16"') :].partition("</tr>")[0]
    assert_shows(entry, linked, figure, 'href="../pages/open_questions.html#OQ-1"')
    card = paper[paper.index('<article class="card" id="fig4"') :].partition("</article>")[0]
    assert_shows(card, f"Claims about this figure: {linked}.", erratum)
    assert '<a href="../pages/claims.html#RP-08">RP-08</a>' in paper
    assert_shows(
        questions, erratum, 'href="../pages/errata.html#RP-N2"', 'href="../claims/open_questions.csv"'
    )
    assert_shows(
        html(site, "index"),
        '<a href="pages/claims.html#RP-01">',
        '<a href="pages/claims.html">All claims with their verdicts</a>',
    )
    for name in ("index", "claims", "random_population"):
        assert "open_questions.html" in html(site, name).partition("<main")[2], name


def test_headlines_must_be_there_and_whole(papers, tmp_path):
    path = tmp_path / "claims/headlines.csv"
    path.write_bytes(path.read_bytes().replace(b"in part", b"holds"))
    with pytest.raises(IntegrityError, match="headlines"):
        render(tmp_path)


def test_errata_links_respect_their_context():
    ids = frozenset({"RP-E1", "RP-E16", "SEG-6.4"})
    linked = link_remarks("RP-E16, RP-E1. xRP-E1 RP-E166 SEG-6.4.1 SEG-6.4.", ids, "e.html")
    assert re.findall(r">([^<]+)</a>", linked) == ["RP-E16", "RP-E1", "SEG-6.4"]
    inside = link_remarks(Markup('<a href="#RP-E1">RP-E1</a> <b title="RP-E1">RP-E1</b>'), ids, "e.html")
    assert inside.count("e.html") == 1
    assert link_remarks("<RP-E1>", ids, "e.html").startswith("&lt;<a ")


def test_tables_show_what_the_csv_says(site):
    text = html(site, PAPERS[0])
    assert '<th scope="col" class="number">eps_local</th>' in text
    assert '<th scope="col">method</th>' in text
    row = (
        '<tr><th scope="row" class="number">0.01</th><td>local</td><td class="number">'
        '<data value="0.14285714285714285">0.1429</data></td><td class="number">48842</td></tr>'
    )
    assert text.count(row) == 1
    assert text.count("at most 4 significant digits") == 1
    for box in (a for a in Page(text).all("div") if a.get("class") == "scroll"):
        assert box["tabindex"] == "0"


def test_only_long_fractions_are_shortened(papers, tmp_path):
    shown = {"1.23456789e-07": "1.235e-07"}
    texts = ["48841000", "0.5", "1e-05", *shown, "inf", "nan", "", "1.2345678 (estimated)"]
    paper = papers["dump"]
    paper.files["wide.csv"] = "\n".join(["name,value", *(f"row,{text}" for text in texts), ""]).encode()
    paper.publish()
    cells = re.findall(r"<td[^>]*>(?:<data[^>]*>)?([^<]*)", html(render(tmp_path), "dump"))
    assert cells == [shown.get(text, text) for text in texts]


@pytest.mark.usefixtures("papers")
def test_small_runs_show_kept_verdicts(tmp_path):
    kept = tmp_path / "kept.csv"
    kept.write_text("id,verdict\nRP-01,fails\nRP-08,holds\n")
    assert "papers’ scale" not in html(render(tmp_path, kept=kept), "claims")
    small = {"scale": "shortened", "accounting": "exact"}
    publish_table(tmp_path, "claims", small, small | {"id": "RP-08", "overall": "holds"})
    site = render(tmp_path, kept=kept)
    assert html(site, "claims").count("(papers’ scale: ") == 1
    assert ">all papers, kept results at the papers’ scale</th>" in html(site, "index")
    assert "(papers’ scale: fails)" in html(site, PAPERS[0])


def test_own_protocols_are_marked_unpublished(site):
    marked = re.findall(
        r'<code data-field="protocol">(\w+)</code> <span[^>]*>unpublished', html(site, "choose")
    )
    names = {name for name, identity in identities().items() if not identity.cite}
    assert "jump_counts" in marked and set(marked) <= names


def test_hostile_text_stays_text(papers, tmp_path):
    bad = "<script>alert(1)</script>\"'><img src=x onerror=alert(2)>"
    paper = papers["dump"]
    paper.manifest |= {"title": bad, "citation": bad, "doi": '10.1/"><script>'}
    paper.manifest["run"] |= {"version": bad, "commit": "<b>", "python": bad}
    for entry in paper.manifest["entries"]:
        entry |= {"title": bad, "alt": bad, "note": bad, "infeasible": [bad], "settings": [[bad, bad]]}
        entry |= {"finding": bad}
    paper.files["wide.csv"] = b'<script>,<img src=x>\n<script>alert(1)</script>,"<i>"\n'
    paper.files["fig5.rst"] = f"{bad} ``{bad}``\n".encode()
    paper.publish()
    bad_claim = dict.fromkeys(("claim", "where", "verdict", "why"), bad)
    publish_table(tmp_path, "headlines", {"paper": "dump", "figure": "fig5"} | bad_claim)
    site = render(tmp_path)
    scripts = {
        "index": ["site/site.js"],
        "dump": ["../site/site.js", ""],
    }
    for name in ("index", "dump"):
        page = Page(html(site, name))
        assert [a.get("src", "") for a in page.all("script")] == scripts[name]
        assert not page.all("i")
        assert all("figures/" in i["src"] for i in page.all("img"))
        assert not [a for _, a in page.tags if any(attribute.startswith("on") for attribute in a)]
    assert page.all("img")[0]["alt"] == bad
    assert "<" not in re.findall(r'"label":"(.*?)"', site["site/charts/dump.js"].decode())


@pytest.mark.parametrize(
    "caption, reason",
    [
        ("Unfinished **strong", "start-string without end-string"),
        (":nosuchrole:`x`", "nosuchrole"),
        (".. raw:: html\n\n   <script>alert(1)</script>", "raw"),
        (".. include:: fig5.csv", "include"),
        (".. csv-table::\n   :file: fig5.csv", "file"),
        (".. image:: https://example.org/x.png", "picture"),
        ("`x <javascript:alert(1)>`__", "javascript"),
        ("`x <JavaScript:alert(1)>`__", "allowed"),
        ("`x <data:text/html,y>`__", "allowed"),
        ("A title\n====\n", "underline"),
    ],
)
def test_bad_captions_name_their_file(caption, reason):
    with pytest.raises(pages.CaptionError, match=f"(?s)fig5.rst.*{reason}"):
        to_html(caption, source="fig5.rst", prefix="")


def test_a_bad_caption_stops_the_site(papers, tmp_path):
    papers["dump"].files["fig5.rst"] = b"What one learns.\n\nUnfinished **strong"
    papers["dump"].publish()
    with pytest.raises(pages.CaptionError, match=r"fig5\.rst"):
        render(tmp_path)


@pytest.mark.parametrize("kind", ["changed", "missing"])
def test_damaged_files_name_make_repair(papers, tmp_path, kind):
    for name in ("fig5.png", "fig5.pdf", "fig6.svg", "fig6.csv", "wide.tex", "fig5.rst"):
        path = papers["dump"].path / name
        content = path.read_bytes()
        path.unlink() if kind == "missing" else path.write_bytes(content[:-1])
        with pytest.raises(IntegrityError, match=f"{name}(?s:.*)make repair"):
            render(tmp_path)
        path.write_bytes(content)


def test_manifests_of_another_form_are_refused(papers, tmp_path):
    paper = papers["dump"]
    first = dict(paper.manifest["entries"][0])
    for change, reason in (
        ({"id": "a b"}, "id"),
        ({"kind": "film"}, "kind"),
        ({"caption": "../fig5.rst"}, "caption"),
        ({"files": {"png": "fig5.png", "csv": "/etc/passwd"}}, "files.csv"),
        ({"files": {"csv": "fig5.csv"}}, "png"),
        ({"files": {"png": "fig5.csv", "csv": "fig5.csv"}}, "not a PNG"),
        ({"settings": [["eps"]]}, "settings"),
        ({"title": ""}, "title"),
        ({"alt": ""}, "alt"),
        ({"id": "fig6"}, "twice: fig6"),
        ({"id": "wide", "finding": ""}, "twice: wide"),
        ({"finding": None}, "finding"),
        ({"chart": {"x": "eps"}}, "chart"),
        ({"kind": "table", "files": {"csv": "fig5.png"}}, "UTF-8"),
    ):
        paper.manifest["entries"][0] = first | change
        paper.publish()
        with pytest.raises(pages.ManifestError, match=re.escape(reason)):
            render(tmp_path)


def test_misplaced_or_repeated_papers_are_refused(papers, tmp_path):
    with pytest.raises(ValueError, match=r"twice: pages/dump\.html"):
        pages.render(tmp_path, ["dump", "dump"])
    papers["dump"].path.rename(tmp_path / "figures" / "other")
    with pytest.raises(pages.ManifestError, match="'other'"):
        pages.render(tmp_path, ["other"])


@pytest.mark.usefixtures("papers")
def test_script_replaces_the_whole_site(site, tmp_path):
    pages_script, outputs = (
        script("workflow/scripts/pages.py"),
        [tmp_path / name for name in pages.outputs(PAPERS, PROTOCOLS)],
    )
    pages_script.main(tmp_path, PAPERS, PROTOCOLS, True, {}, None, outputs)
    assert {name: (tmp_path / name).read_bytes() for name in site} == site
    assert set(listed(tmp_path / "site.sha256")) == {tmp_path / name for name in site}
    (tmp_path / "site/old").mkdir()
    (tmp_path / "site/old/thing.js").write_text("old")
    fewer = PAPERS[:1]
    outputs_of_fewer = [tmp_path / name for name in pages.outputs(fewer, PROTOCOLS)]
    pages_script.main(tmp_path, fewer, PROTOCOLS, True, {}, None, outputs_of_fewer)
    left = {path for folder in ("pages", "site") for path in (tmp_path / folder).rglob("*") if path.is_file()}
    assert left | {tmp_path / "index.html"} == set(listed(tmp_path / "site.sha256"))
    assert not (tmp_path / "pages/dump.html").exists()
    assert not (tmp_path / "site/old").exists()
    assert damaged(tmp_path / "site.sha256") == []
    with pytest.raises(ValueError, match="The rule lists other files"):
        pages_script.main(tmp_path, PAPERS, PROTOCOLS, True, {}, None, outputs[1:])


def test_study_is_below_the_papers(papers, tmp_path):
    """The second paper is a study: it has no row among the claims, but a figure and a page like the others."""
    second = papers[PAPERS[1]]
    second.manifest["kind"] = "study"
    second.publish()
    site = render(tmp_path)
    index = html(site, "index")
    assert "No headline claim is recorded" not in index
    assert f'id="{PAPERS[1]}"' not in index
    below = html(site, "papers").partition("Beyond the papers")[2]
    assert f'href="../pages/{PAPERS[1]}.html#' in below
    assert "1 paper on the shuffle model" in index and "1 study beyond them" in index

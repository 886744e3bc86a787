"""Build of a small site from the manifests of the papers: HTML that needs no network, complete or absent.

To add a page, add a `Page` to `pages`, a template that extends ``base.html.j2``, and its place to
`shuffledp.pipeline.site.site_files.outputs`.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from functools import cache
from importlib import resources
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import bokeh
from jinja2 import Environment, PackageLoader, StrictUndefined, pass_context
from markupsafe import Markup

from shuffledp.identities import identities, source_of
from shuffledp.pipeline import manifest
from shuffledp.pipeline.site import audit, claims, errata, ranking, selector, site_files
from shuffledp.pipeline.site.cards import (
    Card,
    Files,
    Picture,
    deck,
    heading,
    name_of_drawing,
)
from shuffledp.pipeline.site.charts import chart_of, script
from shuffledp.pipeline.site.contents import PaperResults, Results
from shuffledp.pipeline.site.csv_tables import DIGITS
from shuffledp.storage import publish as publish_bundle

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from jinja2.runtime import Context

    from shuffledp.pipeline.manifest import DrawnPaper
    from shuffledp.pipeline.site.csv_tables import Row

TITLE = "shuffledp: results"
HOME, CHOSEN, PROTOCOLS, PAPERS, CLAIMED, AUDITED = "Home", "Choose", "Protocols", "Papers", "Claims", "Audit"
#: Labels and pages of the navigation.
NAVIGATION = (
    (HOME, site_files.INDEX),
    (CHOSEN, site_files.SELECTOR),
    (PROTOCOLS, site_files.PROTOCOLS),
    (PAPERS, site_files.PAPERS),
    (CLAIMED, site_files.CLAIMS),
    (AUDITED, site_files.AUDIT),
)
NO_LINKS: Mapping[str, str] = MappingProxyType({})

_TAG = re.compile(r"(<[^>]*>)")
_ABSOLUTE = re.compile(r"/|\w+:")


@dataclass(frozen=True)
class Page:
    """Page of the site: its path, its label in the navigation, its title, its template and the template's values."""

    path: str
    label: str
    title: str
    template: str
    content: Mapping[str, Any] = field(default_factory=dict)


# -- the pages -----------------------------------------------------------------------------------------------------


def pages(results: Results) -> Iterator[Page]:
    """Yield all pages; `results` has everything else that templates read."""
    answer = _leading(results, results.overall, site_files.INDEX)
    studies = (
        [] if results.replicated else [_leading(results, paper, site_files.INDEX) for paper in results.papers]
    )
    setting, offers = next(iter(results.tables.items()))
    choice = {"setting": setting, "board": selector.arrange(setting, offers)}
    yield Page(
        site_files.INDEX,
        HOME,
        TITLE,
        "overview",
        {"answer": answer, "studies": list(filter(None, studies)), **choice},
    )
    fields = {"tasks": selector.TASKS, "accountings": selector.ACCOUNTINGS, "sizes": selector.SIZES}
    yield Page(site_files.SELECTOR, CHOSEN, "Which protocol for your numbers?", "selector", choice | fields)
    yield Page(site_files.PROTOCOLS, PROTOCOLS, "Protocols", "protocols")
    for protocol in results.protocols:
        identity = identities().get(protocol)
        labels = results.ranking.labels(protocol) or ((identity.label,) if identity else ())
        words = {
            "protocol": protocol,
            "labels": labels,
            "identity": identity,
            "source": source_of(identity) if identity else "",
            "usual": results.usual_offer(protocol),
            "columns": ranking.COLUMNS,
        }
        yield Page(site_files.protocol_page(protocol), PROTOCOLS, labels[0], "protocol", words)
    leading = [_leading(results, paper, site_files.PAPERS) for paper in results.papers]
    yield Page(site_files.PAPERS, PAPERS, "Papers", "papers", {"leading": list(filter(None, leading))})
    for paper in (*results.papers, results.overall):
        scripts = (*site_files.LIBRARY, site_files.chart_data(paper.key), site_files.EXPLORE)
        content = {"paper": paper, "deck": paper.deck(results.folder, paper.page), "scripts": scripts}
        yield Page(paper.page, PAPERS, paper.manifest.title, "paper", content)
    yield Page(site_files.CLAIMS, CLAIMED, "Every claim, with its verdict", "claims")
    yield Page(site_files.AUDIT, AUDITED, "The guarantees, audited", "audit")
    yield Page(
        site_files.ERRATA, CLAIMED, "Errata and reading notes", "errata", {"tables": _remark_tables(results)}
    )
    questions = "Open questions, and what is known numerically"
    yield Page(site_files.OPEN_QUESTIONS, CLAIMED, questions, "open_questions")


def _remark_tables(results: Results) -> list[tuple[PaperResults, Card]]:
    """Return the tables of errata and reading notes of all papers, for the page of errata."""
    return [
        (paper, card)
        for paper in results.papers
        for card in deck(results.folder, site_files.ERRATA, paper.remark_tables).cards
    ]


@dataclass(frozen=True)
class Leading:
    """Figure that represents a paper on pages of several papers: its finding, its picture and its card's address."""

    paper: PaperResults
    finding: str
    alt: str
    name: str
    link: str
    picture: Picture


def _leading(results: Results, paper: PaperResults, page: str) -> Leading | None:
    """Return the figure of the headline claim, or otherwise the first figure."""
    figures = {entry.id: entry for entry in paper.manifest.entries if entry.kind == "figure"}
    headline = paper.headline["figure"] if paper.headline else ""
    if headline and headline not in figures:
        raise manifest.ManifestError(
            f"{claims.HEADLINES}: {paper.key} has no figure {headline!r}. Known: {', '.join(figures)}."
        )
    name = headline or next(iter(figures), "")
    if not name:
        return None
    best = figures[name]
    return Leading(
        paper,
        heading(best),
        best.alt,
        name_of_drawing(name),
        f"{paper.page}#{name}",
        Files(results.folder, page).picture(best),
    )


# -- reading -------------------------------------------------------------------------------------------------------


def read(
    folder: Path,
    papers: Sequence[str],
    questions: bool = True,
    links: Mapping[str, str] = NO_LINKS,
    kept: Path | None = None,
) -> Results:
    """Read the results of the site; `kept` has verdicts at the papers' scale, for papers at a smaller one."""
    claimed, judged = claims.headlines(folder), claims.claims(folder, claims.kept_verdicts(kept))
    all_papers = tuple(
        _read_paper(manifest.read(folder / "figures" / key), claimed, judged) for key in papers
    )
    overall_manifest = manifest.read(folder / "figures" / site_files.OVERALL)
    table = next(entry.files["csv"] for entry in overall_manifest.entries if ranking.is_ranking(entry))
    overall = PaperResults(overall_manifest, overall_manifest.title, None, (), {}, ())
    searches = claims.questions(folder) if questions else ()
    tables = selector.kept_tables()
    return Results(
        folder, all_papers, audit.read(folder), searches, overall, ranking.read(table), tables, links
    )


def _read_paper(paper: DrawnPaper, claimed: Mapping[str, Row], judged: Sequence[Row]) -> PaperResults:
    charts = {entry.id: chart for entry in paper.entries if (chart := chart_of(entry)) is not None}
    judgments = tuple(claim for claim in judged if claim["paper"] == paper.key)
    name, remarks = manifest.name_of(paper.key, paper.title), tuple(errata.remarks(paper))
    return PaperResults(paper, name, claimed.get(paper.key), remarks, charts, judgments)


# -- writing -------------------------------------------------------------------------------------------------------


def render(
    folder: Path,
    papers: Sequence[str],
    protocols: Sequence[str] = (),
    questions: bool = True,
    links: Mapping[str, str] = NO_LINKS,
    kept: Path | None = None,
) -> dict[str, bytes]:
    """Return the files of the site by path, with or without the searches for answers to open questions.

    `links` are addresses by label, relative to the first page or absolute. `kept` is a table of verdicts at the papers'
    scale, which a shortened run shows where its own differ.
    """
    expected = site_files.outputs(papers, protocols)
    results = read(folder, papers, questions, links, kept)
    environment = _environment()
    written = {page.path: _html(environment, page, results).encode() for page in pages(results)}
    written |= {
        site_files.chart_data(paper.key): script(paper.key, paper.charts).encode()
        for paper in (*results.papers, results.overall)
    }
    written[site_files.SELECTOR_DATA] = selector.script(
        results.tables, results.protocols, {name: results.unpublished(name) for name in results.protocols}
    ).encode()
    static = resources.files("shuffledp.pipeline.site") / "static"
    for name in (site_files.STYLE, site_files.SCRIPT, site_files.SELECTOR_SCRIPT, site_files.EXPLORE):
        written[name] = (static / name.rpartition("/")[2]).read_bytes()
    bokeh_scripts = Path(bokeh.__file__).parent / "server/static/js"  # each begins with its license
    written |= {name: (bokeh_scripts / Path(name).name).read_bytes() for name in site_files.LIBRARY}
    if set(written) != {*expected} - {site_files.CHECKSUM}:
        raise ValueError(
            f"The site has other files than `outputs` lists: {sorted(set(written) ^ set(expected))}."
        )
    return written


def publish(
    folder: Path,
    papers: Sequence[str],
    protocols: Sequence[str] = (),
    questions: bool = True,
    links: Mapping[str, str] = NO_LINKS,
    kept: Path | None = None,
) -> None:
    """Publish the site with its checksum list, and remove files of the previous site."""
    files = render(folder, papers, protocols, questions, links, kept)
    contents = {folder / name: content for name, content in files.items()}
    publish_bundle(folder / site_files.CHECKSUM, contents)
    for name in site_files.FOLDERS:
        for path in sorted((folder / name).rglob("*"), reverse=True):
            if path.is_file() and path not in contents:
                path.unlink()
            elif path.is_dir() and not any(path.iterdir()):
                path.rmdir()


@cache  # which compiles the templates
def _environment() -> Environment:
    environment = Environment(
        loader=PackageLoader("shuffledp.pipeline.site"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    environment.globals |= {
        "files": site_files,
        "digits": DIGITS,
        "site_title": TITLE,
        "outcomes": claims.OUTCOMES,
        "searched": claims.SEARCHED,
        "questions_table": claims.QUESTIONS,
        "audit": audit,
        "conditions": ranking.conditions(),
        "figure_name": name_of_drawing,
        "identities": identities(),
    }
    environment.filters["linked"] = _linked
    return environment


def _html(environment: Environment, page: Page, results: Results) -> str:
    up = "../" * page.path.count("/")
    links = {
        label: address if _ABSOLUTE.match(address) else up + address
        for label, address in results.links.items()
    }
    navigation = [(label, path) for label, path in NAVIGATION if label != CLAIMED or results.claims]
    names = {"page": page, "navigation": navigation, "links": links, "up": up, "results": results}
    return environment.get_template(f"{page.template}.html.j2").render(**names, **page.content)


@pass_context
def _linked(context: Context, text: Markup | str) -> Markup:
    """Return text with links for the errata, notes, claims and open questions in it, for a template."""
    results: Results = context["results"]
    with_remarks = link_remarks(text, results.remark_ids, context["up"] + site_files.ERRATA)
    with_claims = link_remarks(with_remarks, results.claim_ids, context["up"] + site_files.CLAIMS)
    return link_remarks(with_claims, results.question_ids, context["up"] + site_files.OPEN_QUESTIONS)


def link_remarks(text: Markup | str, ids: frozenset[str], target: str) -> Markup:
    """Return HTML in which the ids of errata and notes are links; existing links stay unchanged."""
    if not ids:
        return Markup.escape(text)
    pattern = re.compile(
        rf"(?<![\w-])({'|'.join(sorted(map(re.escape, ids), key=len, reverse=True))})(?!\w|[.-]\w)"
    )
    inside, parts = 0, _TAG.split(str(Markup.escape(text)))
    for i, part in enumerate(parts):
        if part.startswith("<"):
            inside += part.startswith("<a ") - (part == "</a>")
        elif not inside:
            parts[i] = pattern.sub(lambda m: f'<a href="{target}#{m[1]}">{m[1]}</a>', part)
    return Markup("".join(parts))  # safe: the text was escaped, or is HTML already, and ids are plain

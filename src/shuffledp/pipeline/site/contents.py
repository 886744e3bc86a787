"""Content of the site: each paper with its claims, errata and charts, and all results together."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from shuffledp.identities import identities
from shuffledp.pipeline import manifest
from shuffledp.pipeline.site import claims, errata, origins, selector, site_files
from shuffledp.pipeline.site.cards import Deck, deck
from shuffledp.pipeline.site.origins import DataNote, Origin
from shuffledp.pipeline.site.ranking import Ranking, is_ranking

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from shuffledp.pipeline.manifest import DrawnPaper
    from shuffledp.pipeline.site.csv_tables import Row, Rows
    from shuffledp.pipeline.site.selector import SelectorSetting, Tables

_LONG_HASH = re.compile(r"\b([0-9a-f]{12})[0-9a-f]+\b")


@dataclass(frozen=True)
class PaperResults:
    """Paper or study on the site."""

    manifest: DrawnPaper
    name: str
    headline: Row | None
    remarks: Rows
    charts: Mapping[str, Mapping[str, Any]]
    claims: Rows

    @cached_property
    def drawings(self) -> frozenset[str]:
        """Names of the drawings that exist; a configuration may omit some."""
        return frozenset(entry.id for entry in self.drawings_manifest.entries)

    def figures_on(self, remark: str) -> tuple[str, ...]:
        """Return the drawings of all claims that an erratum or note concerns."""
        figures = dict.fromkeys(claim["figure"] for claim in self.claims_on(remark))
        return tuple(figure for figure in figures if figure in self.drawings)

    def remarks_on(self, drawing: str) -> Rows:
        """Return the errata and notes that concern claims about a drawing."""
        named = {name for claim in self.claims if claim["figure"] == drawing for name in claim["errata"]}
        return tuple(remark for remark in self.remarks if remark["id"] in named)

    def claims_on(self, remark: str) -> Rows:
        """Return the claims that an erratum or note concerns."""
        return tuple(claim for claim in self.claims if remark in claim["errata"])

    @property
    def key(self) -> str:
        """Key of the paper."""
        return self.manifest.key

    @property
    def page(self) -> str:
        """Page of the paper, relative to the results."""
        return site_files.paper_page(self.key)

    @property
    def doi_url(self) -> str:
        """Address of the paper's DOI; empty without one."""
        return f"https://doi.org/{quote(self.manifest.doi, safe='/.;()')}" if self.manifest.doi else ""

    @property
    def commits(self) -> tuple[str, ...]:
        """Abbreviated hashes of the commits of the results, which may be several."""
        names = (commit.strip() for commit in self.manifest.run.commit.split(","))
        return tuple(_LONG_HASH.sub(r"\1", name) for name in names if name)

    @property
    def shortened(self) -> bool:
        """True if the results were computed at a small scale."""
        return self.manifest.run.scale == "shortened"

    @property
    def drawings_manifest(self) -> DrawnPaper:
        """Drawings of the paper without errata, reading notes and the ranking, which have pages of their own."""
        return manifest.without(self.manifest, lambda entry: errata.is_remarks(entry) or is_ranking(entry))

    @property
    def remark_tables(self) -> DrawnPaper:
        """Drawings of the paper that are errata and reading notes."""
        return manifest.without(self.manifest, lambda entry: not errata.is_remarks(entry))

    def deck(self, folder: Path, page: str) -> Deck:
        """Return the cards of the paper for a page."""
        return deck(folder, page, self.drawings_manifest, self.charts)


@dataclass(frozen=True)
class Results:
    """All results of the site."""

    folder: Path
    papers: tuple[PaperResults, ...]
    audited: Rows
    questions: Rows
    overall: PaperResults
    ranking: Ranking
    tables: Tables
    links: Mapping[str, str]

    @cached_property
    def protocols(self) -> tuple[str, ...]:
        """Protocols with a page, sorted."""
        return site_files.with_page(self.ranking.protocols)

    def usual_offer(self, protocol: str) -> tuple[SelectorSetting, Row] | None:
        """Return the first kept setting with a protocol, and the protocol's row there as texts."""
        for setting, offers in self.tables.items():
            if found := [offer for offer in offers if offer.protocol == protocol]:
                return setting, selector.arrange(setting, found).groups[0][1][0]
        return None

    @property
    def replicated(self) -> tuple[PaperResults, ...]:
        """Papers that are replicated."""
        return tuple(paper for paper in self.papers if paper.manifest.kind == "paper")

    @property
    def studies(self) -> tuple[PaperResults, ...]:
        """Studies of this project, which replicate no paper."""
        return tuple(paper for paper in self.papers if paper.manifest.kind == "study")

    @cached_property
    def remarks(self) -> tuple[tuple[PaperResults, Row], ...]:
        """Errata and reading notes with their papers, most important ones first."""
        pairs = ((paper, remark) for paper in self.papers for remark in paper.remarks)
        return tuple(sorted(pairs, key=lambda pair: pair[1]["rank"]))

    @cached_property
    def claims(self) -> tuple[tuple[PaperResults, Row], ...]:
        """Claims with their papers, in the order of the papers."""
        return tuple((paper, claim) for paper in self.papers for claim in paper.claims)

    @property
    def counts(self) -> Mapping[str, int]:
        """Numbers of figures, tables, errata and reading notes on the site."""
        kinds = Counter(entry.kind for paper in self.papers for entry in paper.drawings_manifest.entries)
        return Counter({**kinds, **Counter(remark["kind"] for _, remark in self.remarks)})

    @property
    def origins(self) -> tuple[Origin, ...]:
        """Data of all figures, by kind of data."""
        return origins.origins(paper.manifest for paper in self.papers)

    @property
    def data_notes(self) -> tuple[DataNote, ...]:
        """Notes on the data of all figures."""
        return origins.data_notes(paper.manifest for paper in self.papers)

    @cached_property
    def remark_ids(self) -> frozenset[str]:
        """Ids of all errata and reading notes."""
        return frozenset(remark["id"] for _, remark in self.remarks)

    @cached_property
    def claim_ids(self) -> frozenset[str]:
        """Ids of all claims."""
        return frozenset(claim["id"] for _, claim in self.claims)

    def unpublished(self, protocol: str) -> str:
        """Return a remark on a protocol without a published source; empty for others."""
        identity = identities().get(protocol)
        if identity is None or identity.cite:
            return ""
        audited = any(row["outcome"] != "not audited" for row in self.audits_of(protocol))
        return "unpublished" if audited else "unpublished, not audited in this run"

    @cached_property
    def question_ids(self) -> frozenset[str]:
        """Ids of all open questions."""
        return frozenset(question["id"] for question in self.questions)

    def questions_on(self, remark: str) -> Rows:
        """Return the open questions that mention an erratum or note."""
        return tuple(question for question in self.questions if remark in question["related"])

    def audits_of(self, protocol: str) -> Rows:
        """Return the rows of the audit about a protocol."""
        return tuple(row for row in self.audited if row["protocol"] == protocol)

    def showing(self, protocol: str) -> tuple[tuple[PaperResults, str, str], ...]:
        """Return the drawings that show a protocol: the paper, the drawing's name and its title."""
        return tuple(
            (paper, entry.id, entry.title)
            for paper in self.papers
            for entry in paper.drawings_manifest.entries
            if protocol in entry.protocols
        )

    def claims_about(self, protocol: str) -> Rows:
        """Return the claims about drawings that show a protocol."""
        named = {(paper.key, drawing) for paper, drawing, _ in self.showing(protocol)}
        return tuple(claim for paper, claim in self.claims if (paper.key, claim["figure"]) in named)

    def paper(self, key: str) -> PaperResults | None:
        """Return the paper with this key."""
        return next((paper for paper in self.papers if paper.key == key), None)

    @property
    def count_of_claims(self) -> tuple[tuple[str, Mapping[str, int]], ...]:
        """Numbers of claims by outcome, for each paper, for all papers together and for the orderings."""
        judged = [claim for _, claim in self.claims]
        if not judged:
            return ()
        plain = [claim for claim in judged if claim["kind"] == "claim"]
        parts: list[tuple[str, Sequence[Row]]] = [
            (paper.name, [claim for claim in paper.claims if claim["kind"] == "claim"])
            for paper in self.papers
            if paper.claims
        ]
        kept = [{"overall": claim["kept"]} for claim in plain if claim["kept"]]
        parts += [
            ("all papers", plain),
            *([("all papers, kept results at the papers’ scale", kept)] if kept else []),
            ("orderings that follow from them", [claim for claim in judged if claim["kind"] != "claim"]),
        ]
        return tuple((name, claims.counts(of)) for name, of in parts)

    @property
    def shortened(self) -> str:
        """Part of the results that was computed at a small scale: ``all``, ``some`` or ``none``."""
        count = sum(paper.shortened for paper in self.papers)
        if count in (0, len(self.papers)):
            return "all" if count else "none"
        return "some"

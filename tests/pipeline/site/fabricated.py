"""Two made-up papers with their headlines, in the form of the pipeline's results."""

from __future__ import annotations

import csv
import io
import json
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any

from matplotlib.figure import Figure

from shuffledp.storage import publish

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

FINDING = "Exact accounting cuts the error at every budget."
CAPTION = f"""
{FINDING}

Total variation error over the budget. **Fewer** dummies for more participants:
:math:`k \\ge 14 \\ln(2/\\delta) / \\varepsilon^2`.

.. math:: \\mathrm{{E}}\\,|\\hat f - f|^2 = \\frac{{p(1-p)}}{{n(1-2p)^2}}

- Points are means of 200 repeats.
- See `the paper <https://doi.org/10.1000/182>`__.
"""
RATES = ("0.05", "0.1", "0.2", "0.5")
BUDGETS = (0.001, 0.01, 0.1, 0.5)
CHART: dict[str, Any] = {
    "x": "eps",
    "y": "tve",
    "x_label": "central privacy budget eps (nats)",
    "y_label": "total variation error",
    "x_scale": "log",
    "y_scale": "log",
    "panels": "rate",
    "panel_label": "participation rate {:g}",
    "curves": [
        {"id": "local", "label": "LOCAL", "color": "#0072B2", "marker": "o", "dash": "-"},
        {"id": "amplified", "label": "AMPLIFIED", "color": "#D55E00", "marker": "s", "dash": [0, [5, 2]]},
        {"id": "adaptive", "label": "ADAPTIVE", "color": "#009E73", "marker": "^", "dash": "--"},
    ],
}
ERRATA = {
    "id": "RP-E16",
    "place": "Table II",
    "quote": "n at least this many users",
    "effect": "unsafe",
    "printed form": "sqrt(n log(1/delta))",
    "corrected form": "sqrt(2 n log(1/delta))",
    "explanation": "A factor is lost on the way, see RP-N2.",
    "quantity": "delta at the printed bound",
    "printed value": "5e-06",
    "correct value": "0.000166995123",
    "shown": "True",
    "note": "",
}
NOTES = {
    "id": "RP-N2",
    "formerly": "",
    "place": "Theorem 5",
    "as read": "k counts all dummies",
    "as used": "k counts the dummies of one value",
    "why a note": "Nothing in the text decides.",
    "consequence": "more noise",
    "quantity": "error",
    "value as read": "1.5",
    "value as used": "3",
    "shown": "True",
    "note": "",
}


@cache
def picture(panels: int) -> dict[str, bytes]:
    figure = Figure(figsize=(max(2.9 * panels + 0.7, 5.2), 3.8), layout="constrained")
    for i, ax in enumerate(figure.subplots(1, panels, squeeze=False).flat):
        for curve in range(4):
            ax.plot(
                [0.001, 0.01, 0.1, 0.5], [5 - curve - i, 3 - curve, 1 - curve, -curve], marker="os^D"[curve]
            )
        ax.set_xscale("log")
        ax.set_title(f"participation rate {0.05 * 2**i:g}", fontsize=9)
        ax.tick_params(labelsize=8)
    sink = io.BytesIO()
    figure.savefig(sink, format="png", dpi=80)
    return {"png": sink.getvalue(), "pdf": b"%PDF-1.4\n", "svg": b"<svg/>\n"}


def numbers() -> list[dict[str, Any]]:
    """Return a level, a curve in closed form with its simulation, and a curve without one point."""
    rows: list[dict[str, Any]] = []
    for rate in RATES:
        rows.append(
            {"curve": "local", "rate": rate, "eps": "", "kind": "expected", "tve": 5.0, "standard_error": ""}
        )
        for eps in BUDGETS:
            common = {"rate": rate, "eps": eps}
            value = float(rate) / eps
            rows += [
                {"curve": "amplified", **common, "kind": "expected", "tve": value, "standard_error": ""},
                {"curve": "amplified", **common, "kind": "simulated", "tve": 1.1 * value}
                | {"standard_error": 0.1 * value},
            ]
            if eps != 0.01:
                rows.append(
                    {
                        "curve": "adaptive",
                        **common,
                        "kind": "computed",
                        "tve": 2 * value,
                        "standard_error": "",
                    }
                )
    return [
        {"method": row["curve"], "accounting": "exact", **row, "count": 200, "data_source": "mirror"}
        for row in rows
    ]


def as_csv(rows: Sequence[dict[str, Any]]) -> bytes:
    sink = io.StringIO()
    writer = csv.DictWriter(sink, list(rows[0]), lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    return sink.getvalue().encode()


@dataclass
class Folder:
    """Folder of a paper as a drawing job writes it; change `manifest` or `files`, then call `publish` again."""

    path: Path
    manifest: dict[str, Any]
    files: dict[str, bytes]

    def publish(self) -> None:
        contents = {**self.files, "manifest.json": json.dumps(self.manifest).encode()}
        publish(self.path / "figures.sha256", {self.path / name: data for name, data in contents.items()})

    def figure(self, name: str, panels: int, **changes: Any) -> None:
        forms = picture(panels)
        self.files |= {f"{name}.{form}": data for form, data in forms.items()}
        self.files[f"{name}.csv"] = as_csv(numbers())
        self._entry(
            name, "figure", {form: f"{name}.{form}" for form in (*forms, "csv")}, {"chart": CHART} | changes
        )

    def table(self, name: str, content: str, **changes: Any) -> None:
        self.files |= {f"{name}.csv": content.encode(), f"{name}.md": b"| a |\n", f"{name}.tex": b"\\hline\n"}
        self._entry(name, "table", {form: f"{name}.{form}" for form in ("csv", "md", "tex")}, changes)

    def _entry(self, name: str, kind: str, files: dict[str, str], changes: dict[str, Any]) -> None:
        self.files[f"{name}.rst"] = CAPTION.encode()
        drawing, _, variant = name.partition("_") if kind == "figure" else (name, "", "")
        settings = [
            ["data", "adult, sex (source: mirror)"],
            ["participants", "binomial, 48841 trials, rate 0.05, 0.1, 0.2, 0.5"],
            ["eps", "0.001 to 0.5 (11 values)"],
            ["delta", "1e-05"],
            ["repeats", "200"],
            ["accounting", variant or "printed"],
        ]
        title = "Total variation error on Adult, binomial participation"
        self.manifest["entries"].append(
            {
                "id": name,
                "drawing": drawing,
                "variant": variant,
                "by": "accounting" if variant else "",
                "finding": FINDING,
                "chart": None,
                "kind": kind,
                "title": f"{title} (accounting: {variant})" if variant else title,
                "alt": f"Error falls as the budget grows{f', {variant}' if variant else ''}.",
                "caption": f"{name}.rst",
                "files": files,
                "settings": settings,
                "note": "",
                "infeasible": [],
            }
            | changes
        )


def folder(results: Path, key: str, title: str, **run: Any) -> Folder:
    paper = {
        "key": key,
        "title": title,
        "citation": "Authors. Venue 2023",
        "kind": "paper",
        "doi": "10.1109/TPDS.2023.3247541",
    }
    run = {
        "version": "0.1.0",
        "commit": "0123456789abcdef",
        "python": "3.11.7",
        "seed": 1,
        "scale": "paper",
    } | run
    return Folder(results / "figures" / key, paper | {"run": run, "entries": []}, {})


PAPERS = ("random_population", "dump")
PROTOCOLS = ("central_laplace", "new_one", "pure_dump")
RANKED = {
    "task": "histogram",
    "users": "100000",
    "values": "50",
    "eps": "1",
    "delta": "1e-06",
    "trust": "shuffler permutes",
    "rank": "1",
    "front": "yes",
    "label": "pureDUMP",
    "protocol": "pure_dump",
    "error": "61.4123",
    "over_curator": "7.84",
    "printed": "264.9",
    "printed_over_curator": "33.8",
    "messages": "1.0432",
    "bits": "9.38",
    "accounting": "exact",
    "guarantee": "exact",
    "why_in_doubt": "",
    "reason": "",
    "parameters": '{"total": 4321}',
}


def ranked_rows() -> list[dict[str, str]]:
    """Return rows of the ranking: two settings of one task, one of another, a doubtful and an infeasible method."""
    curator = {
        "trust": "curator",
        "label": "curator",
        "protocol": "central_laplace",
        "error": "7.84",
        "printed": "",
    }
    doubtful = {
        "label": "new",
        "protocol": "new_one",
        "rank": "",
        "front": "",
        "error": "9",
        "guarantee": "unproven",
    }
    gap = dict.fromkeys(
        ("rank", "front", "error", "printed", "messages", "bits", "guarantee", "parameters"), ""
    )
    return [
        RANKED,
        RANKED | doubtful | {"why_in_doubt": "the pair is open, see RP-N2"},
        RANKED | gap | {"label": "pureDUMP, other", "reason": "too few users"},
        RANKED | curator,
        RANKED | {"eps": "0.5", "error": "120"},
        RANKED | {"task": "sum of bits", "values": "", "error": "0.00012"},
    ]


def publish_headlines(results: Path, *rows: dict[str, Any]) -> None:
    """Publish headline claims, by default the first paper's."""
    headline = {
        "paper": PAPERS[0],
        "claim_id": "RP-01",
        "where": "abstract",
        "claim": "The bounds reduce the error by more than 60 %.",
        "figure": "fig4",
        "paper_value": "more than 60 %",
        "printed": "48.1 %",
        "exact": "71.9 %",
        "verdict": "in part",
        "why": "Holds with exact accounting only, see RP-E16.",
        "scale": "paper",
    }
    changed = [headline | row for row in rows] or [headline]
    path = results / "claims/headlines.csv"
    publish(path.with_suffix(".sha256"), {path: as_csv(changed)})


def claim_rows(*judgments: tuple[str, str, str], **changes: str) -> list[dict[str, str]]:
    """Return the rows of one claim: accounting, measured value and verdict."""
    claim = {
        "id": "RP-01",
        "kind": "claim",
        "paper": PAPERS[0],
        "where": "abstract",
        "claim": "The bounds reduce the error by more than 60 %.",
        "stated": "more than 60 %",
        "target": "-",
        "uncertainty": "0",
        "why": "The mean over the grid decides, see RP-E16.",
        "overall": "in part",
        "expected": "holds",
        "difference": "our expectation: it looked at one accounting.",
        "figure": "fig4",
        "errata": "RP-E16 RP-N2",
        "headline": "yes",
        "scale": "paper",
    }
    return [
        claim | {"accounting": accounting, "measured": measured, "verdict": verdict} | changes
        for accounting, measured, verdict in judgments
    ]


def publish_claims(results: Path, rows: Sequence[dict[str, str]] = ()) -> None:
    """Publish the table of claims, by default two claims of the first paper and an ordering."""
    usual = [
        *claim_rows(("printed", "48.1 %", "fails"), ("exact", "71.9 %", "holds")),
        *claim_rows(
            ("-", "400 of 400", "holds"),
            id="RP-08",
            claim="The bound is valid.",
            overall="holds",
            difference="",
            figure="",
            errata="",
            headline="",
            uncertainty="400 random settings",
        ),
        *claim_rows(
            ("exact", "", "untestable"),
            id="O-15",
            kind="ordering",
            paper=PAPERS[1],
            overall="untestable",
            expected="in part",
            difference="",
            figure="fig5",
            errata="",
            headline="",
        ),
    ]
    path = results / "claims/claims.csv"
    publish(path.with_suffix(".sha256"), {path: as_csv(rows or usual)})


def question_row(**changes: str) -> dict[str, str]:
    """Return an open question in the form of the pipeline."""
    return {
        "id": "OQ-1",
        "paper": PAPERS[0],
        "question": "Is the pair the worst?",
        "statement": "No pair has a larger divergence, see RP-N2.",
        "searched": "200 random pairs",
        "method": "integrals",
        "seed": "open questions, OQ-1",
        "settings": "200",
        "measure": "divergence over that of the pair",
        "extreme": "0.9912345",
        "where": "sigma 2",
        "violations": "0",
        "verdict": "no violation found",
        "proof": "For two users: a curve lies below its chord.",
        "related": "RP-E16",
        "effort": "full",
    } | changes


def publish_questions(results: Path, *rows: dict[str, str]) -> None:
    """Publish open questions, by default two, the second of them about a study that this run omits."""
    other = question_row(
        id="OQ-2", paper="elsewhere", seed="-", extreme="1.25", violations="3", verdict="violated", related=""
    )
    path = results / "claims/open_questions.csv"
    publish(path.with_suffix(".sha256"), {path: as_csv(rows or (question_row(), other))})


AUDIT: dict[str, str] = {
    "protocol": "pure_dump",
    "task": "frequency",
    "accounting": "exact",
    "part": "grid",
    "setting": "dump.domains.pure_dump: k = 50",
    "eps": "0.2",
    "label": "exact",
    "claimed_delta": "1e-06",
    "found_delta": "9.9e-07",
    "error": "1e-18",
    "side": "exact",
    "method": "two counts",
    "confidence": "1",
    "slack": "1.0101",
    "status": "holds",
    "note": "",
}


def publish_audit(results: Path, rows: Sequence[dict[str, str]] = ()) -> None:
    """Publish the audit, by default of a protocol whose claims hold, one with an erratum and one without an audit."""
    listed = {"protocol": "flexible_pure_dump", "accounting": "printed", "label": "violated"}
    nothing = dict.fromkeys(
        ("claimed_delta", "found_delta", "error", "side", "method", "confidence", "slack"), ""
    )
    usual = [
        AUDIT,
        AUDIT | {"part": "enumerated", "slack": "1.0002", "setting": "nine users"},
        AUDIT
        | {
            "accounting": "printed",
            "found_delta": "9.99e-07",
            "error": "2e-09",
            "slack": "1.001",
            "status": "undecided",
        },
        AUDIT | listed | {"found_delta": "2e-06", "slack": "0.5", "status": "listed erratum"},
        AUDIT | nothing | {"protocol": "new_one", "status": "not audited", "note": "not written down"},
    ]
    path = results / "claims/audit.csv"
    publish(path.with_suffix(".sha256"), {path: as_csv(rows or usual)})


def fabricate(results: Path) -> dict[str, Folder]:
    """Publish two papers in a results folder: seven figures in four drawings, two tables, an erratum and a note."""
    first = folder(results, PAPERS[0], "Shuffle differential private data aggregation for random population")
    first.figure(
        "fig4_printed", 4, infeasible=["adaptive at rate 0.05, eps 0.001: too few users", "local: no"]
    )
    note = "This is a summary of Adult that ships with the project."
    first.figure("fig4_exact", 4, note=note, finding="Exactly, dummies cost more than they bring.")
    first.figure("fig4_both", 4, note=note)
    first.figure("fig5_printed", 1, title="Error on two values (accounting: printed)")
    first.figure("fig5_exact", 1, title="Error on two values (accounting: exact)")
    rows = "".join(f"0.{i:02d},local,{i / 7!r},{48841 + i}\n" for i in range(40))
    first.table("budgets", f"rate,method,eps_local,participants\n{rows}", title="Local budgets on Adult")
    first.table("errata", as_csv([ERRATA]).decode(), title="Errata", finding="One erratum.")
    first.table("reading_notes", as_csv([NOTES]).decode(), title="Reading notes", finding="One note.")
    second = folder(results, PAPERS[1], "DUMP: a dummy-point-based framework", scale="shortened", commit="")
    second.manifest["doi"] = None
    second.figure("fig5", 1, title="Mean squared error over the central budget")
    second.figure("fig6", 2, title="Extra messages per user")
    columns = [f"a_long_column_name_{i}" for i in range(12)]
    second.table(
        "wide", ",".join(columns) + "\n" + ",".join("1.5" for _ in columns) + "\n", title="A wide table"
    )
    overall = folder(results, "overall", "All protocols and claims together")
    overall.manifest |= {"kind": "study", "doi": None}
    overall.figure("dumbbells", 1, title="Printed and exact error", finding="Noise is nearest to a curator.")
    overall.table("ranking", as_csv(ranked_rows()).decode(), title="All protocols at every setting")
    for each in (first, second, overall):
        each.publish()
    publish_headlines(results)
    publish_claims(results)
    publish_questions(results)
    publish_audit(results)
    return {PAPERS[0]: first, PAPERS[1]: second}

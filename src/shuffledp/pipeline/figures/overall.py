"""Pictures and tables over all papers and studies: the ranking, the verdicts on claims, and the effect of accountings.

To add a picture, add its title to `shuffledp.pipeline.figures.overall_jobs.TITLES`, its table to `publish_overall`, its
drawing and the names of its caption to `_DRAWN`, and the caption to ``papers/overall/captions/``. A line above the
picture has its title and the setting that its rows share.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pandas as pd
from matplotlib.figure import Figure

from shuffledp.identities import identities
from shuffledp.pipeline.experiments.bundle import FAKES
from shuffledp.pipeline.experiments.results import read_methods
from shuffledp.pipeline.figures.best_protocols import GROUPS, best_protocols, draw_best, facts_of_best
from shuffledp.pipeline.figures.captions import finding, render
from shuffledp.pipeline.figures.drawing_jobs import PAIR, figure_folder
from shuffledp.pipeline.figures.files import as_csv, table_of_texts
from shuffledp.pipeline.figures.names import TRUST
from shuffledp.pipeline.figures.overall_jobs import (
    CAPTIONS,
    KEY,
    RANKING,
    SAMPLED,
    TITLE,
    TITLES,
    OverallJob,
    bundles,
)
from shuffledp.pipeline.figures.panels import write_title
from shuffledp.pipeline.figures.privacy_profiles import draw_profiles, facts_of_profiles, profiles
from shuffledp.pipeline.figures.protocols_by_year import by_year, facts_of_years
from shuffledp.pipeline.figures.ranking import (
    ROBUST,
    SETTING,
    at_first_setting,
    common_setting,
    ranking,
    records,
    setting_words,
    year_of,
)
from shuffledp.pipeline.figures.rows import (
    ABSENT_SHARE,
    VERDICTS,
    draw_errors,
    draw_gaps,
    draw_robustness,
    draw_verdicts,
    draw_years,
)
from shuffledp.pipeline.figures.selected_rows import by_cell
from shuffledp.pipeline.figures.style import figure_style, rendered
from shuffledp.pipeline.formatters import listed
from shuffledp.pipeline.jobs import source
from shuffledp.pipeline.manifest import CHECKSUMS, MANIFEST, DrawnPaper, ManifestEntry, run_of
from shuffledp.storage import publish
from shuffledp.tasks import METRICS, WORST_METRIC

#: Mark of a picture whose numbers are not of this run.
MARK = "papers' scale, kept results"
_NOT_OF_THIS_RUN = "All numbers are kept results at the papers' scale, not results of this run.\n"
#: Number of protocols of a task under one trust model in the dumbbells, best first.
MOST_ROWS = 6
#: Words for the compared quantities; a quantity without an entry keeps its name.
QUANTITIES = {
    **{name: metric.quantity for name, metric in METRICS.items()},
    WORST_METRIC: "squared error",
    **dict.fromkeys(("eps_central", "eps_shuffler"), "eps"),
}


# -- numbers -------------------------------------------------------------------------------------------------------


def dumbbells(rows: pd.DataFrame) -> pd.DataFrame:
    """Return the first task's protocols whose shuffler only permutes, and the local model, at the first setting.

    Errors are in units of the curator's. The table is empty if no such protocol has exact accounting and a curator
    beside it.
    """
    first = at_first_setting(rows).dropna(subset=["over_curator"])
    order = first.assign(year=[year_of(str(name)) for name in first["protocol"]])
    shuffled = order[(order["trust"] == TRUST["shuffler"]) & (order["accounting"] == "exact")]
    columns = [
        *SETTING,
        "trust",
        "label",
        "year",
        "printed_over_curator",
        "over_curator",
        "printed_bits",
        "bits",
    ]
    table = pd.concat([shuffled, order[order["trust"] == TRUST["local"]]], ignore_index=True)[columns]
    return table if len(shuffled) else table.head(0)


def robustness(rows: pd.DataFrame) -> pd.DataFrame:
    """Return eps with absent users, and fake users' gain over the root mean squared error.

    The rows are at most `MOST_ROWS` protocols under each trust, at the first setting of each task with a curator there.
    Protocols without these numbers are left out.
    """
    best = [rows.head(0)]
    for _, rows_of_task in rows.groupby("task", sort=False):
        order = at_first_setting(rows_of_task).dropna(subset=["over_curator"])
        best += [order[order["trust"] == trust].head(MOST_ROWS) for trust in GROUPS]
    table = pd.concat(best, ignore_index=True).dropna(subset=["eps_dropped"])
    table["gain_over_error"] = table["poisoning_gain"] / table["error"] ** 0.5
    return table[[*SETTING, "trust", "label", "guarantee", *ROBUST, "gain_over_error"]]


def verdicts(claims: pd.DataFrame, names: Mapping[str, str]) -> pd.DataFrame:
    """Return the number of each paper's claims by verdict."""
    of_papers = claims[claims["kind"] == "claim"].drop_duplicates("id")
    rows = pd.MultiIndex.from_product([of_papers["paper"].unique(), VERDICTS], names=["paper", "verdict"])
    counts = of_papers.groupby(["paper", "overall"]).size().reindex(rows, fill_value=0)
    return counts.rename("claims").reset_index().replace({"paper": dict(names)})


def printed_over_exact(job: OverallJob) -> pd.DataFrame:
    """Return each method's least, median and greatest ratio of printed to exact numbers, over common points.

    The numbers are of the quantity that most methods have.
    """
    key = ["paper", "method", "quantity"]
    parts = [pd.DataFrame({**dict.fromkeys(key, ""), "ratio": []})]
    for gap_job in job["gaps"]:
        quantities, paper = gap_job["methods"], gap_job["paper"]
        results = read_methods(Path(job["results"]), paper, gap_job["experiment"], quantities)
        summary, computed = results.summary(), results.cells[results.cells["status"] == "ok"]
        for method, cells in computed.groupby("method", sort=False):
            quantity = quantities[str(method)]
            numbers = cells.assign(number=cells["cell"].map(by_cell(cells, summary, quantity)))
            points = numbers.pivot(index="point", columns="accounting", values="number")
            pairs = points.reindex(columns=PAIR).astype(float)
            ratios = (pairs["printed"] / pairs["exact"]).to_numpy()
            label = gap_job["labels"].get(str(method)) or cells["label"].iloc[0]
            names = job["names"][paper], label, QUANTITIES.get(quantity, quantity)
            parts.append(pd.DataFrame({**dict(zip(key, names, strict=True)), "ratio": ratios}))
    all_ratios = pd.concat(parts)
    all_ratios = all_ratios[all_ratios["ratio"].between(0, math.inf, inclusive="neither")]
    usual = all_ratios.drop_duplicates(key)["quantity"].mode()  # one axis has one quantity
    of_methods = all_ratios[all_ratios["quantity"].isin(usual[:1])].groupby(key, sort=False)["ratio"]
    return of_methods.agg(least="min", median="median", greatest="max", points="count").reset_index()


# -- captions ------------------------------------------------------------------------------------------------------


def _of_dumbbells(table: pd.DataFrame) -> dict[str, Any]:
    shuffled = table[table["trust"] == TRUST["shuffler"]]
    reconstructed = {identity.label for identity in identities().values() if identity.reconstructed}
    ratios = shuffled["printed_over_curator"] / shuffled["over_curator"]
    bounds = ratios[~shuffled["label"].isin(reconstructed)].dropna()
    best = records(shuffled)[0]
    bits = best["printed_bits"] / best["bits"]
    return {
        "best": best,
        "share": best["over_curator"] - 1,
        "chosen": best["label"] == identities()["correlated_noise"].label,
        "bounds": len(bounds),
        "median": float(bounds.median()) if len(bounds) else None,
        "reconstructed": listed([label for label in shuffled["label"] if label in reconstructed]),
        "bits": bits if bits > 1.05 else None,
        "setting": setting_words(best),
    }


def _of_robustness(table: pd.DataFrame) -> dict[str, Any]:
    lost, colluding = table["eps_colluding"] == math.inf, table["eps_colluding"] / table["eps"]
    finite = records(table[table["gain_over_error"] < math.inf])
    return {
        "absent": ABSENT_SHARE,
        "fakes": FAKES,
        "protocols": len(table),
        "lost": int(lost.sum()),
        "dropped": float((table["eps_dropped"] / table["eps"]).max()),
        "grown": max(records(table[~lost].assign(times=colluding)), key=lambda row: row["times"]),
        "gain": max(finite, key=lambda row: row["gain_over_error"], default=None),
    }


def _of_verdicts(table: pd.DataFrame) -> dict[str, Any]:
    counts = table.groupby("verdict")["claims"].sum()
    return {"every": counts.sum(), "found": counts.to_dict()}


def _of_gaps(table: pd.DataFrame) -> dict[str, Any]:
    return {
        "methods": len(table),
        "looser": int((table["median"] > 1.01).sum()),
        "weak": int((table["median"] < 0.99).sum()),
        "widest": max(records(table), key=lambda row: row["median"]),
    }


def _of_ranking(table: pd.DataFrame) -> dict[str, Any]:
    best = table.loc[(table["rank"] == 1) & (table["trust"] == TRUST["shuffler"]), "label"]
    return {
        "protocols": table["protocol"].nunique(),
        "settings": len(table[list(SETTING)].drop_duplicates()),
        "ranked": len(best),
        "best": list(best.value_counts().items()),
    }


# -- files ---------------------------------------------------------------------------------------------------------

_Table = Callable[[pd.DataFrame], dict[str, Any]]
#: Drawing function of each table, or None, and the names in its caption.
_DRAWN: Mapping[str, tuple[Callable[[pd.DataFrame], Figure] | None, _Table]] = {
    "dumbbells": (draw_errors, _of_dumbbells),
    "best_protocols": (draw_best, facts_of_best),
    "by_year": (draw_years, facts_of_years),
    "profiles": (draw_profiles, facts_of_profiles),
    "robustness": (draw_robustness, _of_robustness),
    "verdicts": (draw_verdicts, _of_verdicts),
    "gaps": (draw_gaps, _of_gaps),
    RANKING: (None, _of_ranking),
}
#: Drawings whose title is the first sentence of their captions, and whose axis has the setting.
_WITH_FINDING = (draw_errors, draw_gaps, draw_years)


def publish_overall(job: OverallJob) -> None:
    """Write the ranking and the pictures, with their numbers, captions, manifest and checksums."""
    results = Path(job["results"])
    rows = ranking(job["ranked"])
    tables = {
        RANKING: rows,
        "dumbbells": dumbbells(rows),
        "best_protocols": best_protocols(rows),
        "by_year": by_year(rows),
        "profiles": profiles(job["ranked"], rows),
        "robustness": robustness(rows),
        "verdicts": verdicts(table_of_texts(results / "claims/claims.csv"), job["names"]),
        "gaps": printed_over_exact(job),
    }
    folder = figure_folder(results, KEY)
    made = [_made(job, name, table) for name, table in tables.items()]
    contents = {folder / name: content for _, files in made for name, content in files.items()}
    commits = {json.loads(b.provenance.read_text(encoding="utf-8"))["commit"] for b in bundles(job)}
    run = run_of(commits, job["run"])
    entries = tuple(entry for entry, _ in made)
    paper = DrawnPaper(key=KEY, kind="study", title=TITLE, citation="", doi=None, run=run, entries=entries)
    contents[folder / MANIFEST] = paper.to_json()
    publish(folder / CHECKSUMS, contents, folders=2)


def read_kept(folder: Path, name: str) -> pd.DataFrame:
    """Return the table of a picture from the run at the papers' scale that the project keeps."""
    table = pd.read_csv(folder / f"{name}.csv")
    texts = table.select_dtypes(exclude="number").columns
    return table.fillna(dict.fromkeys(texts, ""))


def _made(job: OverallJob, name: str, computed: pd.DataFrame) -> tuple[ManifestEntry, dict[str, bytes]]:
    draw, facts = _DRAWN[name]
    shortened = job["run"]["scale"] != "paper"
    from_kept = draw is not None and (computed.empty or (shortened and name in SAMPLED))
    table = read_kept(source(job["kept"]), name) if from_kept else computed
    marks = [MARK] if from_kept else []
    title = ", ".join([TITLES[name], *marks])
    prose = render(CAPTIONS / f"{name}.rst", facts(table)) + ("\n" + _NOT_OF_THIS_RUN if from_kept else "")
    files = {f"{name}.csv": as_csv(table), f"{name}.rst": prose.encode()}
    formats = job["formats"] if draw else []
    if draw:
        with figure_style():
            by_rows = draw in _WITH_FINDING
            words = [finding(prose), *(f"({mark})" for mark in marks)]
            heading = " ".join(words) if by_rows else ": ".join(filter(None, (title, common_setting(table))))
            figure = draw(table)
            write_title(figure, heading)
            files |= {f"{name}.{end}": rendered(figure, end) for end in formats}
    entry = ManifestEntry(
        id=name,
        finding=prose.partition("\n\n")[0],
        kind="figure" if draw else "table",
        title=title,
        alt=title,
        caption=Path(f"{name}.rst"),
        files={end: Path(f"{name}.{end}") for end in [*formats, "csv"]},
    )
    return entry, files

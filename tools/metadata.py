"""Writer of metadata from pyproject.toml and CITATION.cff: ``make -C tools metadata`` and ``make -C tools crate``.

Without options it writes codemeta.json, .zenodo.json, ro-crate-metadata.json and the BibTeX entry of README.md; a test
compares the files with its output. ``--graph`` also draws docs/images/rulegraph.svg with Graphviz. ``--run
results/quick`` writes the Workflow Run RO-Crate of a finished run into its folder, together with the rules and the
configuration.
"""

from __future__ import annotations

import argparse
import base64
import json
import mimetypes
import re
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Iterable
from datetime import UTC, datetime
from hashlib import sha256
from importlib.metadata import version
from pathlib import Path
from typing import Any

import yaml

ROOT = Path(__file__).resolve().parent.parent
GRAPH = "docs/images/rulegraph.svg"
CRATE = "ro-crate-metadata.json"
SPDX = "https://spdx.org/licenses/MIT"
WORKFLOW = "workflow/Snakefile"
PARTS = (
    "README.md",
    "LICENSE",
    "CITATION.cff",
    "CHANGELOG.md",
    "environment.yml",
    "Dockerfile",
    "locks/run.txt",
    GRAPH,
)
PROFILE = "https://w3id.org/workflowhub/workflow-ro-crate/1.0"
RUN_PROFILES = ("https://w3id.org/ro/wfrun/process/0.5", "https://w3id.org/ro/wfrun/workflow/0.5")


def citation() -> dict[str, Any]:
    """Return CITATION.cff."""
    content: dict[str, Any] = yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf-8"))
    return content


def project() -> dict[str, Any]:
    """Return the project's table in pyproject.toml."""
    table: dict[str, Any] = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    return table


def _papers(cff: dict[str, Any]) -> list[dict[str, Any]]:
    return [
        {
            "@id": f"https://doi.org/{paper['doi']}",
            "@type": "ScholarlyArticle",
            "name": paper["title"],
            "author": "; ".join(", ".join(who.values()) for who in paper["authors"]),
            "datePublished": str(paper["year"]),
        }
        for paper in cff["references"]
    ]


def codemeta() -> dict[str, Any]:
    """Return codemeta.json."""
    cff, about = citation(), project()
    return {
        "@context": "https://w3id.org/codemeta/3.0",
        "type": "SoftwareSourceCode",
        "name": about["name"],
        "description": cff["abstract"],
        "version": cff["version"],
        "datePublished": cff["date-released"],
        "license": SPDX,
        "author": [{"type": "Organization", "name": who["name"]} for who in cff["authors"]],
        "keywords": cff["keywords"],
        "programmingLanguage": "Python",
        "runtimePlatform": f"Python {about['requires-python']}",
        "softwareRequirements": about["dependencies"],
        "referencePublication": [
            {"type": one["@type"], "id": one["@id"], "name": one["name"]} for one in _papers(cff)
        ],
    }


def zenodo() -> dict[str, Any]:
    """Return .zenodo.json."""
    cff = citation()
    return {
        "title": cff["title"],
        "upload_type": "software",
        "description": cff["abstract"],
        "version": cff["version"],
        "publication_date": cff["date-released"],
        "creators": cff["authors"],
        "license": cff["license"],
        "keywords": cff["keywords"],
        "related_identifiers": [
            {"identifier": paper["doi"], "relation": "references", "scheme": "doi"}
            for paper in cff["references"]
        ],
    }


def bibtex() -> str:
    """Return the BibTeX entry of this version."""
    cff = citation()
    return (
        f"@software{{shuffledp,\n  title = {{{cff['title']}}},\n  author = {{{{{cff['authors'][0]['name']}}}}},\n"
        f"  version = {{{cff['version']}}},\n  year = {{{cff['date-released'][:4]}}},\n"
        "  url = {address of this repository}\n}\n"
    )


def readme() -> str:
    """Return README.md with the BibTeX entry of this version."""
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    return re.sub(r"(?<=```bibtex\n).*?(?=```)", lambda _: bibtex(), text, flags=re.DOTALL)


def _snakemake() -> dict[str, Any]:
    return {
        "@id": "https://w3id.org/workflowhub/workflow-ro-crate#snakemake",
        "@type": "ComputerLanguage",
        "name": "Snakemake",
        "url": {"@id": "https://snakemake.readthedocs.io"},
        "version": version("snakemake"),
    }


def _crate(
    root: dict[str, Any], parts: list[dict[str, Any]], profiles: Iterable[str], root_profiles: Iterable[str]
) -> dict[str, Any]:
    """Return an RO-Crate whose main entity is the workflow."""
    cff = citation()
    author = {"@id": "#authors", "@type": "Organization", "name": cff["authors"][0]["name"]}
    papers = _papers(cff)
    workflow = {
        "@id": WORKFLOW,
        "@type": ["File", "SoftwareSourceCode", "ComputationalWorkflow"],
        "name": cff["title"],
        "version": cff["version"],
        "license": {"@id": SPDX},
        "author": {"@id": "#authors"},
        "programmingLanguage": {"@id": _snakemake()["@id"]},
        "citation": [{"@id": one["@id"]} for one in papers],
    }
    if any(part["@id"] == GRAPH for part in parts):
        workflow["image"] = {"@id": GRAPH}
    about = {
        "@id": CRATE,
        "@type": "CreativeWork",
        "about": {"@id": "./"},
        "conformsTo": [{"@id": one} for one in ("https://w3id.org/ro/crate/1.1", *profiles)],
    }
    dataset = {
        "@id": "./",
        "@type": "Dataset",
        "license": {"@id": SPDX},
        "author": {"@id": "#authors"},
        "mainEntity": {"@id": WORKFLOW},
        "conformsTo": [{"@id": one} for one in root_profiles],
        **root,
        "hasPart": [{"@id": WORKFLOW}, *({"@id": one["@id"]} for one in parts if "File" in one["@type"])],
    }
    graph = [
        about,
        dataset,
        workflow,
        _snakemake(),
        author,
        {"@id": SPDX, "@type": "CreativeWork", "name": "MIT License"},
        *papers,
        *({"@id": one, "@type": "CreativeWork", "name": one} for one in root_profiles),
        *parts,
    ]
    return {
        "@context": [
            "https://w3id.org/ro/crate/1.1/context",
            "https://w3id.org/ro/terms/workflow-run/context",
        ],
        "@graph": graph,
    }


def workflow_crate() -> dict[str, Any]:
    """Return the repository's ro-crate-metadata.json."""
    cff = citation()
    root = {
        "name": cff["title"],
        "description": cff["abstract"],
        "datePublished": cff["date-released"],
        "keywords": ", ".join(cff["keywords"]),
    }
    return _crate(
        root, [{"@id": name, "@type": "File", "name": Path(name).name} for name in PARTS], [PROFILE], []
    )


def _file(folder: Path, path: Path) -> dict[str, Any]:
    kind = {"encodingFormat": guess} if (guess := mimetypes.guess_type(path.name)[0]) else {}
    content = path.read_bytes()
    return {
        "@id": path.relative_to(folder).as_posix(),
        "@type": "File",
        "name": path.name,
        **kind,
        "contentSize": str(len(content)),
        "sha256": sha256(content).hexdigest(),
    }


def _times(results: str, records: Path) -> tuple[str, str]:
    """Return begin and end of the jobs with output in a folder, from Snakemake's records."""
    jobs = []
    for record in records.rglob("*"):
        if record.is_file():
            name = base64.urlsafe_b64decode("".join(record.relative_to(records).parts).replace("@", ""))
            if name.decode("utf-8", "replace").startswith(f"{results}/"):
                jobs.append(json.loads(record.read_text(encoding="utf-8")))
    moments = min(job["starttime"] for job in jobs), max(job["endtime"] for job in jobs)
    begin, end = (datetime.fromtimestamp(moment, UTC).isoformat() for moment in moments)
    return begin, end


def write_run_crate(results: str, configuration: list[str], folder: Path = ROOT) -> Path:
    """Write the Workflow Run RO-Crate of a finished run into its folder of results."""
    place = folder / results
    shutil.copytree(
        ROOT / "workflow",
        place / "workflow",
        dirs_exist_ok=True,
        ignore=shutil.ignore_patterns("__pycache__"),
    )
    (place / "inputs").mkdir(exist_ok=True)
    for name in (*configuration, *sorted(str(path) for path in (folder / "data/prepared").glob("*.json"))):
        shutil.copy(folder / name, place / "inputs")
    begin, end = _times(results, folder / ".snakemake/metadata")
    described = [
        _file(place, path)
        for path in sorted(place.rglob("*"))
        if path.is_file() and path.name != CRATE and path != place / WORKFLOW
    ]
    names = [one["@id"] for one in described]
    inputs = [{"@id": name} for name in names if name.startswith("inputs/")]
    outputs = [{"@id": name} for name in names if not name.startswith(("inputs/", "workflow/"))]
    action = {
        "@id": "#run",
        "@type": "CreateAction",
        "name": "Run of shuffledp",
        "instrument": {"@id": WORKFLOW},
        "agent": {"@id": "#authors"},
        "startTime": begin,
        "endTime": end,
        "actionStatus": "http://schema.org/CompletedActionStatus",
        "object": inputs,
        "result": outputs,
    }
    root = {
        "name": f"A run of {citation()['title']}",
        "description": citation()["abstract"],
        "datePublished": end,
        "mentions": {"@id": "#run"},
    }
    crate = _crate(root, [*described, action], [PROFILE], [*RUN_PROFILES, PROFILE])
    (place / CRATE).write_text(_json(crate), encoding="utf-8")
    return place / CRATE


def rule_graph() -> str:
    """Return the graph of rules in Graphviz's language, with one node for similar rules."""
    command = [
        Path(sys.executable).with_name("snakemake"),
        "--rulegraph",
        "mermaid-js",
        "--configfile",
        "config/quick.yaml",
        "--config",
        "learning=require",
    ]
    text = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout
    text = text.replace("[default]", "[all]")  # the same files
    names = {
        key: re.sub(r"^(dataset|experiment|claims|draw)_.+", r"\1_<name>", name)
        for key, name in re.findall(r"^\s*(id\d+)\[(\w+)\]", text, re.MULTILINE)
    }
    edges = {(names[a], names[b]) for a, b in re.findall(r"^\s*(id\d+) --> (id\d+)", text, re.MULTILINE)}
    lines = [f'  "{a}" -> "{b}";' for a, b in sorted(edges)]
    return "digraph rules {\n  node [shape=box, style=rounded, fontname=sans];\n" + "\n".join(lines) + "\n}\n"


def _json(content: dict[str, Any]) -> str:
    return json.dumps(content, indent=1, ensure_ascii=False) + "\n"


def texts() -> dict[str, str]:
    """Return the generated files by name."""
    crate = {"codemeta.json": codemeta(), ".zenodo.json": zenodo(), CRATE: workflow_crate()}
    return {"README.md": readme(), **{name: _json(content) for name, content in crate.items()}}


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--graph", action="store_true")
    parser.add_argument("--run", metavar="RESULTS")
    parser.add_argument("--configuration", nargs="+", default=["config/config.yaml"])
    options = parser.parse_args()
    if options.run:
        print(write_run_crate(options.run.rstrip("/"), options.configuration))
    else:
        for file, text in texts().items():
            (ROOT / file).write_text(text, encoding="utf-8")
    if options.graph:
        drawn = subprocess.run(
            ["dot", "-Tsvg"], input=rule_graph(), capture_output=True, text=True, check=True
        ).stdout
        (ROOT / GRAPH).write_text(drawn, encoding="utf-8")

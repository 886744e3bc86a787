"""Workflow Run RO-Crate of a finished run, and the graph of the rules.

    python tools/metadata.py results/quick config/config.yaml config/quick.yaml    # the crate, into its folder
    python tools/metadata.py                                                      # docs/images/rulegraph.svg

The crate of a run has the entities of ro-crate-metadata.json, the files of the run, the rules and the configuration.
"""

from __future__ import annotations

import base64
import json
import mimetypes
import re
import shutil
import subprocess
import sys
from datetime import UTC, datetime
from hashlib import sha256
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
GRAPH = "docs/images/rulegraph.svg"
CRATE = "ro-crate-metadata.json"
WORKFLOW = "workflow/Snakefile"
RUN_PROFILES = ("https://w3id.org/ro/wfrun/process/0.5", "https://w3id.org/ro/wfrun/workflow/0.5")


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
    crate = json.loads((ROOT / CRATE).read_text(encoding="utf-8"))
    entities = {one["@id"]: one for one in crate["@graph"]}
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
    for part in entities["./"]["hasPart"]:
        if part["@id"] != WORKFLOW:  # a file of the repository
            del entities[part["@id"]]
    del entities[WORKFLOW]["image"]
    profiles = [*RUN_PROFILES, *(one["@id"] for one in entities[CRATE]["conformsTo"][1:])]
    entities["./"] |= {
        "name": f"A run of {entities['./']['name']}",
        "datePublished": end,
        "mentions": {"@id": "#run"},
        "conformsTo": [{"@id": one} for one in profiles],
        "hasPart": [{"@id": name} for name in (WORKFLOW, *names)],
    }
    named = [{"@id": one, "@type": "CreativeWork", "name": one} for one in profiles]
    crate["@graph"] = [*entities.values(), *named, *described, action]
    (place / CRATE).write_text(json.dumps(crate, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
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


if __name__ == "__main__":
    if len(sys.argv) > 1:
        print(write_run_crate(sys.argv[1].rstrip("/"), sys.argv[2:]))
    else:
        drawn = subprocess.run(
            ["dot", "-Tsvg"], input=rule_graph(), capture_output=True, text=True, check=True
        )
        (ROOT / GRAPH).write_text(drawn.stdout, encoding="utf-8")

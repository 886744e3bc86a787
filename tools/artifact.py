"""The artifact for evaluation; ``make artifact`` packs it, ``make -C tools test-artifact`` tests it.

The archive has the committed files, the wheels of locks/run.txt and checksums. The test unpacks the archive into an
empty folder without a network, and runs the commands in ARTIFACT-APPENDIX.md.
"""

from __future__ import annotations

import csv
import os
import re
import resource
import subprocess
import sys
import tarfile
import tempfile
from hashlib import sha256
from pathlib import Path

import yaml

from shuffledp.pipeline.claims.stated_claims import claims
from shuffledp.pipeline.jobs import cost_of_job

ROOT = Path(__file__).resolve().parent.parent
PAGE = ROOT / "ARTIFACT-APPENDIX.md"
CLAIMS = ROOT / "docs/measured/claims.md"
EXPERIMENTS = ROOT / "docs/measured/experiments.csv"
#: Tolerance of main claims, which closed forms decide: the column `expected` of docs/reference.md.
TOLERANCE = "relative 1e-07"
RESULTS, OPTIONS = "results/quick", "--cores 1 --configfile config/quick.yaml"
#: Packages that build the one locked package without a wheel.
BUILD = ("setuptools==84.2.1", "wheel==0.48.0")


def name() -> str:
    """Return the name of the archive without its suffix."""
    version = re.search(
        r'^version = "(.*)"$', (ROOT / "pyproject.toml").read_text(encoding="utf-8"), re.MULTILINE
    )
    assert version is not None
    return f"shuffledp-{version[1]}-artifact"


def pack() -> Path:
    """Write dist/<name>.tar from the last commit."""
    target = ROOT / f"dist/{name()}.tar"
    target.parent.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place) / name()
        (folder / "wheels").mkdir(parents=True)
        sources = subprocess.run(["git", "archive", "HEAD"], cwd=ROOT, capture_output=True, check=True).stdout
        subprocess.run(["tar", "-x"], cwd=folder, input=sources, check=True)
        for wanted in (
            ("--require-hashes", "--requirement", "locks/run.txt"),
            ("--require-hashes", "--requirement", "locks/uv.txt"),
            ("--no-deps", *BUILD),
        ):
            command = (sys.executable, "-m", "pip", "download", "--quiet", "--dest", "wheels", *wanted)
            subprocess.run(command, cwd=folder, check=True)
        files = [path for path in sorted(folder.rglob("*")) if path.is_file()]
        lines = [f"{sha256(path.read_bytes()).hexdigest()}  {path.relative_to(folder)}\n" for path in files]
        (folder / "SHA256SUMS").write_text("".join(lines), encoding="utf-8")
        with tarfile.open(target, "w") as archive:
            archive.add(folder, name())
    return target


def commands() -> str:
    """Return the commands in the appendix."""
    blocks = re.findall(r"^```sh\n(.*?)^```", PAGE.read_text(encoding="utf-8"), re.DOTALL | re.MULTILINE)
    return str(blocks[0])


def compare(folder: Path) -> list[str]:
    """Return the main claims' numbers in a run. Raise ValueError if the table of claims has other numbers."""
    lines = CLAIMS.read_text(encoding="utf-8").splitlines()
    first: dict[tuple[str, str], str] = {}  # further rows have other targets of the error
    for path in sorted(folder.glob(f"{RESULTS}/claims/*/verdicts.csv")):
        for row in csv.DictReader(path.read_text(encoding="utf-8").splitlines()):
            if row["headline"] and row["accounting"] in ("printed", "exact"):
                first.setdefault((row["id"], row["accounting"]), row["measured"])
    for (claim, accounting), number in first.items():
        (stated,) = (line for line in lines if line.startswith(f"| {claim}: "))
        if f" | {number} | " not in stated:
            raise ValueError(f"{claim}, {accounting}: {number} is not in docs/measured/claims.md.")
    return [
        f"{claim}, {how}: {number}, as in docs/measured/claims.md" for (claim, how), number in first.items()
    ]


def attempt(archive: Path) -> list[str]:
    """Run the appendix's commands in an empty folder without a network; return the numbers that they give."""
    with tempfile.TemporaryDirectory() as place:
        subprocess.run(["tar", "-xf", archive], cwd=place, check=True)
        kept = {key: os.environ[key] for key in ("PATH", "LANG") if key in os.environ} | {"HOME": place}
        # A shell of root takes no PS4 from its environment.
        script = f"PS4='+ after $SECONDS s: '\nset -x\n{commands()}"
        alone = ["unshare", "--net", "--map-root-user", "bash", "-euc", script]
        subprocess.run(alone, cwd=Path(place) / name(), env=kept, check=True)
        return compare(Path(place) / name())


def missing_rows() -> list[str]:
    """Return the main claims of the papers of a quick run that the table lacks."""
    rows = CLAIMS.read_text(encoding="utf-8")
    papers = yaml.safe_load((ROOT / "config/quick.yaml").read_text(encoding="utf-8"))["papers"]
    main = [claim.id for paper in papers for claim in claims(paper) if claim.headline]
    return [claim for claim in main if f"| {claim}: " not in rows]


def _cost(paper: str) -> tuple[float, float, float, float]:
    """Return minutes, CPU s, MB of memory and MB of disk for the jobs that decide a paper's claims."""
    logs = ROOT / "logs" / RESULTS
    jobs = [path for path in (logs / paper).rglob("*.log") if path.name != "figures.log"]
    jobs += (logs / "training" / paper).glob("*.log")
    costs = [cost_of_job(path.read_text(encoding="utf-8")) for path in jobs]
    files = [path for part in ("runs", "claims") for path in (ROOT / RESULTS / part / paper).rglob("*")]
    return (
        sum(seconds for seconds, _, _ in costs) / 60,
        sum(cpu for _, cpu, _ in costs),
        max(memory for _, _, memory in costs),
        sum(path.stat().st_size for path in files) / 1e6,
    )


def experiments() -> str:
    """Return the CPU seconds of every experiment in a finished `make quick`, as CSV."""
    lines = ["paper,experiment,cpu_s"]
    for log in sorted((ROOT / "logs" / RESULTS).glob("*/*.log")):
        paper, experiment = log.parent.name, log.stem
        if (ROOT / RESULTS / "runs" / paper / experiment).is_dir():
            lines.append(f"{paper},{experiment},{cost_of_job(log.read_text(encoding='utf-8'))[1]:.1f}")
    return "\n".join(lines)


def table() -> str:
    """Return the table of claims from a finished `make quick`."""
    head = "paper, claim|place|stated|printed bound|exact accounting|verdict|tolerance|command"
    head += "|minutes|CPU s|memory, MB|disk, MB"
    lines = [f"| {head.replace('|', ' | ')} |", "|" + " --- |" * (head.count("|") + 1)]
    with (ROOT / RESULTS / "claims/headlines.csv").open(encoding="utf-8") as file:
        for row in csv.DictReader(file):
            paper = row["paper"]
            command = f"`.venv/bin/snakemake {RESULTS}/claims/{paper}/verdicts.csv {OPTIONS}`"
            minutes, cpu, memory, disk = _cost(paper)
            texts = [
                f"{row['claim_id']}: {row['claim']}",
                row["where"],
                row["paper_value"],
                row["printed"],
                row["exact"],
            ]
            numbers = [f"{minutes:.1f}", f"{cpu:.0f}", f"{memory:.0f}", f"{max(disk, 0.1):.1f}"]
            cells = [
                text.replace("|", "\\|") for text in (*texts, row["verdict"], TOLERANCE, command, *numbers)
            ]
            lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines)


if __name__ == "__main__":
    if sys.argv[1:] == ["pack"]:
        made = pack()
        print(f"Done: {made.relative_to(ROOT)}, {made.stat().st_size / 1e6:.0f} MB")
    elif sys.argv[1:] == ["try"]:
        print(*attempt(ROOT / f"dist/{name()}.tar"), sep="\n")
        used = resource.getrusage(resource.RUSAGE_CHILDREN)
        load = ", ".join(f"{value:.1f}" for value in os.getloadavg())
        print(f"Done: {used.ru_utime + used.ru_stime:.0f} CPU s; load of {os.cpu_count()} cores: {load}")
    elif sys.argv[1:] == ["check"]:
        if missing := missing_rows():
            sys.exit(f"The appendix lacks {', '.join(missing)}: make quick, then make -C tools appendix.")
    else:
        CLAIMS.write_text(f"{table()}\n", encoding="utf-8")
        EXPERIMENTS.write_text(f"{experiments()}\n", encoding="utf-8")

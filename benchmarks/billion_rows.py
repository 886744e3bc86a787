"""Time and memory to count 10^9 rows in 100 Parquet files: by one query, by 100 jobs, from S3, and without shuffledp.

``python benchmarks/billion_rows.py [--rows N] [--folder FOLDER] [--page]``

Writes the files into a temporary folder, runs each method in separate processes, compares all counts with the
generator's counts, and removes the folder. --page writes the table into docs/benchmarks.md.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.dataset as ds
import pyarrow.parquet as pq

from shuffledp.pipeline.doc_blocks import write_block
from shuffledp.userdata.files import s3

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "tests"))

PAGE = ROOT / "docs/benchmarks.md"
ROWS, SHARDS = 1_000_000_000, 100
#: Number of files that S3 and pandas count.
FEW = 10
#: Bytes of the disk that remain free.
RESERVE = 2 << 30
#: Number of uniform numbers: each determines a color with a share proportional to 1/rank, and an exponential number of
#: minutes.
DRAWS = 1 << 16
NAMES = tuple(f"color{i:02d}" for i in range(100))
_WEIGHTS = 1 / np.arange(1, len(NAMES) + 1)
COLOR = np.searchsorted(np.cumsum(_WEIGHTS) / _WEIGHTS.sum(), (np.arange(DRAWS) + 0.5) / DRAWS).astype(
    np.int8
)
MINUTES = np.rint(-20 * np.log((np.arange(DRAWS) + 0.5) / DRAWS)).astype(np.int16)
MOST = 120
COLORS = ("--column", "color", "--values", ",".join(NAMES))
SUM = ("--column", "minutes", "--max-value", str(MOST))
#: Program without modules that starts the command, because the measured memory of a process includes its parent's
#: memory.
LAUNCHER = """
import json, resource, subprocess, sys
subprocess.run(sys.argv[1:], stdout=sys.stderr, check=True)
used = resource.getrusage(resource.RUSAGE_CHILDREN)
print(json.dumps([used.ru_utime + used.ru_stime, used.ru_maxrss]))
"""


@dataclass(frozen=True)
class Measured:
    """Counted rows, wall and CPU seconds, and peak memory of the largest process in bytes."""

    rows: int
    wall: float
    cpu: float
    memory: int


def write(folder: Path, rows: int, shards: int) -> list[Counter[str]]:
    """Write files of random rows until the disk is full; return each file's counts of colors."""
    counts = []
    for shard in range(shards):
        if shutil.disk_usage(folder).free < RESERVE:
            break
        draws = np.random.default_rng((1, shard)).integers(0, DRAWS, (2, rows // shards), np.uint16)
        colors = COLOR[draws[0]]
        columns = [pa.DictionaryArray.from_arrays(colors, pa.array(NAMES)), pa.array(MINUTES[draws[1]])]
        pq.write_table(pa.table(columns, names=["color", "minutes"]), folder / f"part-{shard:03d}.parquet")
        found = np.bincount(colors, minlength=len(NAMES)).tolist()
        counts.append(Counter(dict(zip(NAMES, found, strict=True))))
    if not counts:
        raise SystemExit(f"{folder} has no room: give another --folder.")
    return counts


def run(command: Sequence[str], folder: Path, rows: int) -> Measured:
    """Run a command in a folder; its child processes are measured, too."""
    paths = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    begin = time.perf_counter()
    done = subprocess.run(
        [sys.executable, "-c", LAUNCHER, *command],
        cwd=folder,
        env=os.environ | {"PATH": paths},
        capture_output=True,
        text=True,
    )
    wall = time.perf_counter() - begin
    if done.returncode:
        raise SystemExit(done.stderr)
    cpu, memory = json.loads(done.stdout)
    return Measured(rows, wall, cpu, memory << 10)


def plain(library: str, files: Sequence[str]) -> Counter[str]:
    """Count the colors with a few lines of pandas or pyarrow."""
    found: Counter[str] = Counter()
    if library == "pandas":
        import pandas as pd

        for file in files:
            found.update(pd.read_parquet(file, columns=["color"])["color"].value_counts().to_dict())
    else:
        for batch in ds.dataset(list(files)).to_batches(columns=["color"]):
            found.update(
                {one["values"]: one["counts"] for one in pc.value_counts(batch["color"]).to_pylist()}
            )
    return found


def measured(folder: Path, counts: Sequence[Counter[str]]) -> Iterator[tuple[str, Measured]]:
    """Yield each method with its measurement. Raise SystemExit if its counts are wrong."""
    from s3_server import BUCKET, s3 as server

    data = folder / "data"
    files = [str(path) for path in sorted(data.iterdir())]
    whole, few = sum(counts, Counter()), sum(counts[:FEW], Counter())
    rows, rows_of_few = whole.total(), few.total()

    def checked(result: str, expected: Mapping[str, int]) -> None:
        content = json.loads((folder / result).read_text())
        if dict(zip(content["values"], content["counts"], strict=True)) != expected:
            raise SystemExit(f"{result} has other counts than the generator.")

    jobs = ["snakemake", "--snakefile", str(ROOT / "docs/guides/count_parts.smk"), "--cores", "all"]
    yield (
        "`shuffledp count`, one query",
        run(["shuffledp", "count", str(data), *COLORS, "-o", "query.json"], folder, rows),
    )
    checked("query.json", whole)
    yield (
        "`shuffledp count --max-value`, one query",
        run(["shuffledp", "count", str(data), *SUM, "-o", "sum.json"], folder, rows),
    )
    yield (
        f"{len(files)} jobs of Snakemake and `shuffledp merge`",
        run([*jobs, "--config", f"data={data}", f"options={' '.join(COLORS)}"], folder, rows),
    )
    checked("all.json", whole)
    for library, some, expected in (("pyarrow", files, whole), ("pandas", files[:FEW], few)):
        command = [sys.executable, __file__, "--plain", library, "plain.json", *some]
        yield f"plain {library}", run(command, folder, expected.total())
        checked("plain.json", expected)
    keys = dict.fromkeys(("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"), "none")
    with server(folder / "server.log") as address:
        os.environ |= keys | {"AWS_ENDPOINT_URL": address, "no_proxy": "127.0.0.1"}
        for file in files[:FEW]:
            s3().put_file(file, f"s3://{BUCKET}/data/{Path(file).name}")
        command = ["shuffledp", "count", f"s3://{BUCKET}/data", *COLORS, "-o", "remote.json"]
        yield "`shuffledp count`, one query, from S3 (moto)", run(command, folder, rows_of_few)
    checked("remote.json", few)


def table(found: Mapping[str, Measured]) -> list[str]:
    """Return the rows of the page."""
    return [
        "| way | rows | wall time | rows per second | CPU s per 10^9 rows | memory of the largest process |",
        "|---|---:|---:|---:|---:|---:|",
        *(
            f"| {way} | {one.rows:,} | {one.wall:.1f} s | {one.rows / one.wall:.1e} | "
            f"{one.cpu / one.rows * 1e9:.0f} | {one.memory / (1 << 20):.0f} MiB |"
            for way, one in found.items()
        ),
    ]


def main() -> None:
    """Measure and print, and write the page with --page."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, default=ROWS)
    parser.add_argument("--shards", type=int, default=SHARDS)
    parser.add_argument("--folder", type=Path, help="folder in which a temporary one is made")
    parser.add_argument("--page", action="store_true", help="write docs/benchmarks.md")
    parser.add_argument("--plain", nargs="+", help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.plain:
        library, out, *files = given.plain
        found = plain(library, files)
        Path(out).write_text(json.dumps({"values": list(found), "counts": list(found.values())}))
        return
    load = os.getloadavg()[1]
    with tempfile.TemporaryDirectory(dir=given.folder, prefix="billion-") as name:
        folder, begin = Path(name), time.process_time()
        (folder / "data").mkdir()
        counts = write(folder / "data", given.rows, given.shards)
        cpu = time.process_time() - begin
        size = sum(path.stat().st_size for path in (folder / "data").iterdir())
        lines = table(dict(measured(folder, counts)))
    rows = sum(one.total() for one in counts)
    reached = "" if len(counts) == given.shards else f" (of {given.rows:,}: the disk was full)"
    text = (
        f"The run wrote {rows:,} rows{reached} into {len(counts)} Parquet files of {size / len(counts) / 1e6:.1f} MB "
        f"in {cpu:.0f} CPU s. The machine had {os.cpu_count()} processors, and a load of {load:.1f} before and "
        f"{os.getloadavg()[1]:.1f} after the run."
    )
    text = "\n".join([text, "", *lines])
    print(text)
    if given.page:
        write_block(PAGE, "billion rows", text)


if __name__ == "__main__":
    main()

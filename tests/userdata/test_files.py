"""Data on S3, from a server on this machine: the same counts and bad rows as from local files."""

import gzip
import json
import sys
from pathlib import Path
from urllib.request import Request

import pandas as pd
import pytest

from command_line import invoked
from s3_server import BUCKET, opened, s3
from shuffledp.optional_dependencies import MissingExtra
from shuffledp.pipeline.experiments import user_files
from shuffledp.pipeline.experiments.sources.user_file import load
from shuffledp.userdata.counting import count_column
from shuffledp.userdata.files import address, files_of, s3 as file_system, state_of
from shuffledp.userdata.sets import collect_sets

TOP = f"s3://{BUCKET}/top"
ROWS = "v;w\n1;a\n2;b\n3\n;c\n" + "1;d\n" * 50


@pytest.fixture(scope="module")
def local(tmp_path_factory):
    """Return a folder of data in every format."""
    folder = tmp_path_factory.mktemp("data")
    for day in ("mon day", "tue"):
        (folder / f"days/day={day}").mkdir(parents=True)
        (folder / f"days/day={day}/part.csv").write_text(ROWS.replace(";", "|" if day == "tue" else ";"))
    (folder / "days/_notes.csv").write_text("not read")
    (folder / "packed.csv.gz").write_bytes(gzip.compress(ROWS.encode(), mtime=0))
    (folder / "odd [1] #?.csv").write_text(ROWS)
    (folder / "lines.jsonl").write_text('{"v": 1, "w": "a"}\n{"v": "2"}\n{broken\n' * 40)
    pd.DataFrame({"v": [1.0, 2.0, None] * 999, "w": range(2997)}).to_parquet(folder / "table.parquet")
    return folder


@pytest.fixture(scope="module")
def server(local, tmp_path_factory):
    """Start a server with these files."""
    environment = pytest.MonkeyPatch()
    with s3(tmp_path_factory.mktemp("server") / "log") as address:
        for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
            environment.setenv(name, "test")
        environment.setenv("AWS_ENDPOINT_URL", address)
        environment.setenv("AWS_EC2_METADATA_DISABLED", "true")
        environment.setenv("no_proxy", "127.0.0.1")
        files = file_system()
        for path in local.rglob("*.*"):
            if path.is_file():
                with files.open(f"{TOP}/{path.relative_to(local)}", "wb") as copy:
                    copy.write(path.read_bytes())
        yield address
    environment.undo()


@pytest.mark.parametrize(
    "name, column",
    [
        ("days", "v"),
        ("days/*/part.csv", "day"),
        ("days/day=t?e/part.csv", "w"),
        ("packed.csv.gz", "v"),
        ("odd [1] #?.csv", "v"),
        ("lines.jsonl", "v"),
        ("table.parquet", "v"),
    ],
)
def test_counts_equal_those_of_local_files(server, local, tmp_path, name, column):
    for place, out in ((str(local), "here"), (TOP, "there")):
        words = ("count", f"{place}/{name}", "--column", column, "-o", str(tmp_path / out))
        done = invoked(*words)
        assert done.exit_code == 0, done.output
    here, there = (json.loads((tmp_path / out).read_text()) for out in ("here", "there"))
    for about in (*here["files"], *there["files"]):
        del about["place"]
    assert here == there
    assert here["users"] > 1
    remote = count_column(f"{TOP}/{name}", column)
    assert [fault.replace(TOP, str(local)) for fault in remote.faults] == list(
        count_column(local / name, column).faults
    )


def test_grouped_users_and_sets_equal_local(server, local):
    here, there = (
        count_column(f"{top}/table.parquet", "v", user="w", per_user="first") for top in (local, TOP)
    )
    assert (here.counts.tolist(), here.dropped) == (there.counts.tolist(), there.dropped)
    here, there = (collect_sets(f"{top}/days", user="w", item="v") for top in (local, TOP))
    assert here.shares(1).tolist() == there.shares(1).tolist()


def test_an_experiment_counts_data_of_s3(server, tmp_path):
    asked = {"kind": "frequency", "path": f"{TOP}/days", "column": "v", "domain_size": None, "values": None}
    user_files.check(asked, tmp_path)
    user_files.prepare(asked, tmp_path, tmp_path)
    assert load(asked, tmp_path).arrays["counts"].tolist() == [102, 2]
    assert "than the header (days/day=mon day/part.csv, line 4)" in load(asked, tmp_path).about["note"]
    (part, _) = files_of(Path(TOP) / "days")
    before = state_of(part)
    with file_system().open(address(part), "wb") as changed:
        changed.write(ROWS.encode() + b"2;z\n")
    assert state_of(part) != before


def test_errors_are_one_line(server, monkeypatch):
    def error(path):
        with pytest.raises(ValueError) as caught:
            count_column(path, "v")
        assert "\n" not in str(caught.value)
        return str(caught.value)

    assert error("s3://nobody/a.csv") == "There is no bucket 'nobody' for s3://nobody/a.csv."
    assert error(f"{TOP}/none.csv") == f"There is no file {TOP}/none.csv."
    assert error(f"{TOP}/none/*.csv") == f"There is no file {TOP}/none/*.csv."
    assert error(TOP).startswith(f"{TOP} has files of several formats")
    for unchecked in (b"0", b"inf"):  # requests that the server answers before it checks keys
        request = Request(f"{server}/moto-api/reset-auth", unchecked, {"Content-Type": "text/plain"})
        opened(request).close()
        if unchecked == b"0":
            assert "set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY" in error(f"{TOP}/days")
    monkeypatch.setenv("AWS_ENDPOINT_URL", "http://127.0.0.1:1")
    assert error(f"{TOP}/days").startswith(f"{TOP}/days cannot be read: Failed to connect to 127.0.0.1")
    monkeypatch.setitem(sys.modules, "fsspec.implementations.arrow", None)
    with pytest.raises(MissingExtra, match="package fsspec of the extra s3"):
        count_column(f"{TOP}/days", "v")

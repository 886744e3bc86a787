"""Files that commands write and read back: outputs at any path, and files of counts."""

from __future__ import annotations

import json
import os
import stat
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from command_line import printed, refused, typed
from shuffledp.cli import main
from shuffledp.userdata import counting
from shuffledp.userdata.counts import read
from shuffledp.userdata.files import unchanged

SETTING = typed("--eps 1 --delta 1e-6 --protocols local")
WRITERS = {
    "count": typed("count in.csv --column v -o"),
    "merge": typed("merge part.json -o"),
    "compare": (*typed("compare --users 900 --domain-size 4"), *SETTING, "--csv-out"),
    "plot": (*typed("compare --users 900 --domain-size 4"), *SETTING, "--plot"),
}


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("in.csv").write_text("v\n0\n1\n1\n")
    printed("count in.csv --column v -o part.json")
    return tmp_path


@pytest.mark.parametrize("name", WRITERS)
def test_commands_write_to_pipes_and_links(folder, name):
    words, suffix = WRITERS[name], ".svg" if name == "plot" else ".out"
    pipe, link = f"pipe{suffix}", f"link{suffix}"
    os.mkfifo(pipe)
    assert "no process reads this pipe" in refused(*words, pipe)
    reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    os.set_blocking(reader, False)
    printed(*words, pipe)
    assert len(os.read(reader, 1 << 16)) > 50
    os.close(reader)
    assert stat.S_ISFIFO(Path(pipe).stat().st_mode)
    Path("there").mkdir()
    Path(link).symlink_to(f"there/real{suffix}")
    printed(*words, link)
    assert Path(link).is_symlink() and Path(f"there/real{suffix}").stat().st_size > 50
    if name != "plot":
        printed(*words, "/dev/null")
        assert stat.S_ISCHR(Path("/dev/null").stat().st_mode)
    assert "There is no folder no for no/out" in refused(*words, f"no/out{suffix}")
    assert not Path("no").exists()


def test_a_dash_is_standard_output(folder, capfd):
    for words in (WRITERS["count"], WRITERS["merge"]):
        main([*words, "-"], standalone_mode=False)
        assert json.loads(capfd.readouterr().out)["counts"] == [1, 2]
    main([*WRITERS["compare"], "-"], standalone_mode=False)
    header, *rows = capfd.readouterr().out.splitlines()
    assert header.startswith("protocol,") and len(rows) == 1
    assert not Path("-").exists()


def test_client_follows_link_without_parents(folder):
    """The client makes no folder above its own."""
    words = typed("client grr_blanket --users 9000 --domain-size 4 --eps 1 --delta 1e-6 -o")
    Path("link").symlink_to("real")
    printed(*words, "link")
    assert Path("link").is_symlink() and Path("real/client.py").is_file()
    assert "There is no folder no" in refused(*words, "no/out")
    os.mkfifo("pipe")
    assert "pipe exists and is not an empty folder" in refused(*words, "pipe")


# -- files of counts --------------------------------------------------------------------------------------------------

SUM = {
    "kind": "summation",
    "values": [0.0, 1.0, 2.0],
    "counts": [1, 2, 3],
    "step": 1.0,
    "rows": 6,
    "left_out": 0,
    "users": 6,
}
TEXTS = {"kind": "frequency", "values": ["a", "b"], "counts": [1, 2], "rows": 3, "left_out": 0, "users": 3}
DAMAGED: list[Any] = [
    *(SUM | {"counts": counts} for counts in (None, "abc", [[1], [2], [3]], [1, 2, True], [-1, 4, 3])),
    *(SUM | {"counts": counts} for counts in ([6], [1.0, 2, 3], [2**63, 0, 0])),
    *(SUM | {"values": values} for values in (None, [5, 1], [0, 7, 9], "abc", ["0", "1", "2"], [0, 1, None])),
    *(SUM | {"step": step} for step in ("1", 0, float("nan"), None, 10**400, 2.0)),
    *(SUM | {key: -5} for key in ("left_out", "dropped", "clipped", "rows")),
    *(SUM | {"files": content} for content in (None, [{"name": "a"}], [1])),
    *(SUM | {"kind": []}, SUM | {"kind": "sets"}, SUM | {"per_user": "x"}, SUM | {"found": 1}, SUM | {"rows": 7}),
    *(TEXTS | {"values": values} for values in (["a", "a"], [1, 1.0], ["a"], [["a"], ["b"]])),
    *({key: value for key, value in TEXTS.items() if key != name} for name in TEXTS),
    *("[" * 100_000, "", "[]", "3", "\udcff", '{"counts": 1e999}'),
]  # fmt: skip


@pytest.mark.parametrize("content", DAMAGED, ids=range(len(DAMAGED)))
def test_damaged_counts_are_one_line(tmp_path, content):
    path = tmp_path / "c.json"
    text = content if isinstance(content, str) else json.dumps(content)
    path.write_bytes(text.encode(errors="surrogateescape"))
    with pytest.raises(ValueError, match=rf"^{path}[ :][^\n]+\.$"):
        read(path)


def test_whole_files_of_counts_are_read(tmp_path):
    for content in (
        SUM,
        TEXTS,
        TEXTS | {"values": [1, "b"]},
        SUM | {"files": [{"name": "a", "sha256": "b"}]},
    ):
        (tmp_path / "c.json").write_text(json.dumps(content))
        assert read(tmp_path / "c.json").counts == content["counts"]


def test_overflowing_totals_are_refused(folder):
    large = TEXTS | {"counts": [2**62, 0], "rows": 2**62, "users": 2**62}
    for name in "xy":
        Path(name).write_text(json.dumps(large))
    assert "The parts have more than 9223372036854775807 rows" in refused("merge x y -o o")
    assert not Path("o").exists()


def test_part_is_content_and_place(folder):
    for name in ("p/0.csv", "p/1.csv", "q/0.csv"):
        Path(name).parent.mkdir(exist_ok=True)
        Path(name).write_text("v\n" if name.startswith("p") else "v\n0\n1\n")
    Path("p/2.csv").write_text("v\n0\n1\n")
    for name in "pq":
        printed("count", name, *typed("--column v --domain-size 2 -o"), f"{name}.json")
    printed("merge p.json q.json -o all.json")
    assert read(Path("all.json")).users == 4
    Path("more").mkdir()
    for name in ("r", "more/r"):
        Path(f"{name}.csv").write_text("v\n")
        Path(f"{name}_.csv").write_text("v\n1\n")
        printed("count", f"{name}*.csv", *typed("--column v --domain-size 2 -o"), f"{name}.json")
    printed("merge r.json more/r.json -o all.json")
    Path("link.csv").symlink_to("r_.csv")
    printed("count link.csv --column v --domain-size 2 -o again.json")
    assert "both count" in refused("merge r.json again.json -o o.json")


def test_renamed_duplicate_part_is_refused(folder):
    Path("sql.json").write_text(json.dumps(TEXTS))
    Path("link.json").symlink_to("sql.json")
    os.link("sql.json", "hard.json")
    Path("x").mkdir()
    for other in ("link.json", "hard.json", "x/../sql.json", "./x/../link.json"):
        assert "are the same part" in refused("merge sql.json", other, "-o", "o.json")
    assert "A part is given twice" in refused("merge sql.json sql.json -o o.json")


def test_changing_data_get_no_checksum(folder, monkeypatch):
    count = counting.count_column

    def meanwhile(*arguments, **options):
        result = count(*arguments, **options)
        with Path("in.csv").open("a") as more:
            more.write("1\n")
        return result

    monkeypatch.setattr(counting, "count_column", meanwhile)
    assert "in.csv changed while it was read. Run again." in refused("count in.csv --column v -o o.json")
    assert not Path("o.json").exists()
    with pytest.raises(ValueError, match="changed while it was read"), unchanged(folder / "in.csv"):
        Path("in.csv").unlink()
        Path("in.csv").write_text("v\n0\n1\n1\n1\n")


def test_pipes_are_no_files_of_counts(folder):
    os.mkfifo("pipe")
    for path in ("pipe", "/dev/zero"):
        assert f"{path} is no regular file" in refused("merge", path, "-o", "o.json")
        assert f"{path} is no regular file" in refused("compare --counts", path, *SETTING)


@pytest.mark.parametrize(
    "words",
    [
        typed("account --eps-local 1 --users 100 --delta 1e-6"),
        (*typed("compare --users 900 --domain-size 4"), *SETTING),
        typed("count in.csv --column v -o -"),
    ],
    ids=lambda words: words[0],
)
def test_full_disk_is_one_line(folder, words):
    with Path("/dev/full").open("w") as full:
        command = [sys.executable, "-m", "shuffledp", *words]
        done = subprocess.run(command, stdout=full, stderr=subprocess.PIPE, text=True, check=False)
    assert done.returncode == 1
    assert done.stderr.splitlines()[-1].startswith("Error: ") and "No space left on device" in done.stderr
    assert "Traceback" not in done.stderr


def test_misplaced_keys_are_refused(folder):
    part = json.loads(Path("part.json").read_text())
    Path("x.json").write_text(json.dumps(part | {"values": [0, 1], "found": True}))
    assert "x.json is no file of counts: values that were found must be texts" in refused(
        "compare --counts x.json", *SETTING
    )
    Path("x.json").write_text(json.dumps(part | {"step": 2.0}))
    assert "x.json is no file of counts: step must be 1 for frequencies" in refused(
        "compare --counts x.json", *SETTING
    )

"""Every way to count very many rows, tested with few rows."""

from __future__ import annotations

import pytest

from scripts_by_file import script

billion = script("benchmarks/billion_rows.py")


def test_every_way_gives_the_counts_of_the_generator(tmp_path, monkeypatch):
    monkeypatch.setattr(billion, "FEW", 2)
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_ENDPOINT_URL", "no_proxy"):
        monkeypatch.setenv(name, "")  # restored at the end
    (tmp_path / "data").mkdir()
    counts = billion.write(tmp_path / "data", 90_000, 3)
    shares = [counts[0][name] / 30_000 for name in ("color00", "color01")]
    assert shares[0] == pytest.approx(2 * shares[1], rel=0.1)
    found = dict(billion.measured(tmp_path, counts))
    assert [one.rows for one in found.values()] == [90_000, 90_000, 90_000, 90_000, 60_000, 60_000]
    assert all(one.cpu > 0 and one.memory > 1 << 20 for one in found.values())
    assert len(billion.table(found)) == 8
    counts[0]["color00"] += 1
    with pytest.raises(SystemExit, match=r"query.json has other counts"):
        dict(billion.measured(tmp_path, counts))


def test_rows_are_written_as_far_as_the_disk_goes(tmp_path, monkeypatch):
    room = iter([billion.RESERVE, billion.RESERVE, 0])
    monkeypatch.setattr(billion.shutil, "disk_usage", lambda _: type("Usage", (), {"free": next(room)}))
    assert [one.total() for one in billion.write(tmp_path, 300, 3)] == [100, 100]

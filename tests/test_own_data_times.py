"""Counting a file of very many rows, with few."""

from __future__ import annotations

import json
import sys

from scripts_by_file import script

own_data = script("benchmarks/own_data.py")


def test_every_user_is_counted_and_stands_in_the_table(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(own_data, "TOGETHER", 8)
    path = tmp_path / "users.csv"
    own_data.write(path, 27)
    rows = path.read_text().splitlines()
    assert rows[0] == "color,minutes" and len(rows) == 28
    found = {column: own_data.count(path, column) for column in own_data.ASKED}
    assert [one.users for one in found.values()] == [27, 27]
    assert all(one.cpu > 0 and one.memory > 1 << 20 for one in found.values())
    told = own_data.table(found, path.stat().st_size)
    assert [line.split(" | ")[1] for line in told[2:]] == ["27", "27"]
    monkeypatch.setattr(sys, "argv", ["own_data.py", "--count", str(path), "color"])
    own_data.main()
    assert json.loads(capsys.readouterr().out)["users"] == 27

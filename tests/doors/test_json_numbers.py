"""JSON, CSV and Python state the same: an infinite number, an unknown one, and a field that does not apply."""

import csv
import io
import json
import math

import pytest

import shuffledp
from command_line import invoked, typed

SETTING = typed("--users 2000 --domain-size 4 --eps 1 --delta 1e-6")
NAMES = "central_laplace,pure_dump,correlated_noise,grr_blanket,sageo,silent_users"
ROBUST = typed("--poisoned 10 --colluding 0.1")


def written(*options):
    done = invoked("compare", *SETTING, "--protocols", NAMES, *options)
    assert done.exit_code == 0, done.output
    return json.loads(done.stdout)["rows"]


@pytest.mark.parametrize("options", [[], ROBUST], ids=["plain", "robust"])
def test_null_means_not_applicable(options):
    arguments = {"poisoned": 10, "colluding": 0.1} if options else {}
    rows = shuffledp.compare(
        2000, domain_size=4, eps=1.0, delta=1e-6, protocols=NAMES.split(","), **arguments
    )
    for row, record in zip(rows, written("--json", *options), strict=True):
        for name, text in record.items():
            value = getattr(row, name)
            assert (text is None) == (value is None), (row.protocol, name)
            if isinstance(value, float) and not math.isfinite(value):
                assert text == ("unknown" if math.isnan(value) else "inf"), (row.protocol, name)


def test_clear_values_have_infinite_budget():
    """Values in the clear have an infinite local budget, and a curator has none."""
    local = {row["protocol"]: row["eps_local"] for row in written("--json")}
    assert local["pure_dump"] == "inf"
    assert local["central_laplace"] is None
    assert local["grr_blanket"] > 0


def test_csv_has_texts_of_json(tmp_path):
    target = tmp_path / "rows.csv"
    records = {row["protocol"]: row for row in written("--json", *ROBUST, "--csv-out", str(target))}
    for line in csv.DictReader(io.StringIO(target.read_text())):
        for name in ("eps_local", "poisoning_gain", "eps_colluding", "mse", "half_width"):
            value = records[line["protocol"]][name]
            assert line[name] == ("" if value is None else value if isinstance(value, str) else repr(value))

"""Bins of numbers: exact edges, rows left out by reason, and equal counts from files and from memory."""

import numpy as np
import pytest

from shuffledp.protocols.client.randomizers import bin_of
from shuffledp.userdata.bins import Bins
from shuffledp.userdata.counting import count_column


def test_edges_belong_to_the_bin_above():
    """0.3 / 0.1 is below 3 as a float, and 0.7 / 0.1 below 7."""
    bins = Bins.parse("0:1:0.1")
    content = {"inputs": bins.number, "domain": {"first": str(bins.first), "width": str(bins.width)}}
    for place in range(10):
        for text in (f"0.{place}", f"{place}e-1"):
            assert bins.place(text) == bin_of(content, text) == place
    assert bins.values == (0, *(place / 10 for place in range(1, 10)))
    for text in ("1", "1.0", "-0.0001", "nan", "text", "", "1e400"):
        assert bins.place(text) == -1


def test_omitted_rows_have_reasons(tmp_path):
    rows = ["12", "99.5", "100", "-1", "old", "", "true", "5e1"]
    file = tmp_path / "ages.csv"
    file.write_text("age,x\n" + "".join(f"{row},1\n" for row in rows))
    found = count_column(file, "age", bins="0:100:10")
    assert found.counts.tolist() == [1, 1, 0, 0, 0, 1, 0, 0, 0, 1] and found.bad_rows == 4
    reasons = " ".join(found.faults)
    assert "2 outside the bins from 0 up to 100" in reasons and "1 not a finite number" in reasons
    same = count_column(np.array(rows, object), bins="0:100:10")
    assert same.counts.tolist() == found.counts.tolist() and same.bad_rows == 4


@pytest.mark.parametrize(
    "text", ["", "0:100", "0:9:0", "9:0:1", "0:100:3", "0:inf:1", "a:b:c", "0:1:1", "0:1:1e-9"]
)
def test_other_texts_are_refused(text):
    with pytest.raises(ValueError, match="bins must"):
        Bins.parse(text)

"""Messages as bytes and files, and the dummies of a shuffler, without the exported programs."""

import json
from collections import Counter

import numpy as np
import pytest
from scipy.stats import chisquare

from exact_laws import SeededBits
from shuffledp.protocols.client import files, shuffling

FIELDS = {
    "message": [{"name": "value", "bytes": 1, "values": 10}, {"name": "seed", "bytes": 2, "values": 300}]
}


def test_bytes_of_a_message_are_its_fields_and_others_are_refused_by_line(tmp_path):
    messages = [(0, 0), (9, 299), (3, 256)]
    lines = [files.encoded(FIELDS, message).hex() for message in messages]
    assert lines[1] == "09012b"
    path = tmp_path / "messages.txt"
    path.write_text("\n".join(lines) + "\n")
    assert files.read_messages(FIELDS, str(path)) == messages
    for line, said in (
        ("0901", "has 3 bytes, got 2"),
        ("0a0000", r"value must be in 0\.\.9, got 10"),
        ("09012c", r"seed must be in 0\.\.299, got 300"),
        ("xy", "hexadecimal"),
    ):
        path.write_text("\n".join([*lines, line]))
        with pytest.raises(ValueError, match=f"messages.txt, line 4: .*{said}"):
            files.read_messages(FIELDS, str(path))


def test_changed_parameters_are_refused(tmp_path):
    path = tmp_path / "parameters.json"
    parameters = FIELDS | {"checksum": files.checksum(FIELDS)}
    path.write_text(json.dumps(parameters))
    assert files.read_parameters(path) == parameters
    path.write_text(json.dumps(parameters | {"more": 1}))
    with pytest.raises(ValueError, match="checksum"):
        files.read_parameters(path)


def drawn(part, values, repeats):
    """Return how often a value has 0, 1, .. dummies."""
    source = SeededBits(7)
    numbers = Counter()
    for _ in range(repeats):
        sent = shuffling.shuffled_messages({"shuffler": [part]}, [(0,)] * 3, source)
        numbers.update(np.bincount([value for (value,) in sent], minlength=values)[1:].tolist())
    return np.array([numbers[i] for i in range(max(numbers) + 1)])


def test_dummies_have_their_law():
    part = {"part": "with_geometric", "values": 9, "left": "1/2", "right": "2/3", "turn": 3}
    found = drawn(part, 9, 500)
    z = np.arange(len(found) + 40) - 3
    law = np.where(z < 0, 0.5 ** np.abs(z), (2 / 3) ** np.maximum(z, 0))
    law /= law.sum()
    # A right law is rejected with probability 1e-6.
    assert chisquare([*found[:9], found[9:].sum()], 4000 * np.array([*law[:9], law[9:].sum()])).pvalue > 1e-6
    coins = drawn({"part": "with_binomial", "values": 9, "coins": 4}, 9, 500)
    assert chisquare(coins, 4000 * np.array([1, 4, 6, 4, 1]) / 16).pvalue > 1e-6
    kept = len(shuffling.sampled({"rate": "1/4"}, [(0,)] * 4000, SeededBits(7)))
    assert abs(kept - 1000) < 5 * np.sqrt(4000 * 3 / 16)

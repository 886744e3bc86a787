"""Committed test vectors of clients, a file per protocol; ``python tests/client_vectors.py`` writes them anew."""

from __future__ import annotations

import json
import tempfile
from pathlib import Path
from typing import Any

from shuffledp.populations import Fixed
from shuffledp.protocols.base import ProtocolBase
from shuffledp.protocols.registry import available, get
from shuffledp.tasks import TASK_KINDS, Budget, Frequency, Summation

FOLDER = Path(__file__).parent / "protocols/client/vectors"
#: Settings of the vectors, small enough for few messages.
USERS, EPS, DELTA, SIZE = 500, 2.0, 1e-3, 3


def exported(kind: str, name: str) -> dict[str, Any]:
    """Return the parameters and the test vectors of an exported client."""
    real = name == "real_sum"
    task = Frequency(SIZE) if kind == "frequency" else Summation(SIZE, real=real)
    options = {"levels": 2} if real else {}
    eps = 1.0 if name == "coarse_correlated_sum" else EPS  # designs are shipped for 1
    delta = 1e-6 if name == "coarse_correlated_sum" else DELTA
    protocol = get(kind, name).calibrate(Budget(eps, delta), Fixed(USERS - 1), task, **options)
    with tempfile.TemporaryDirectory() as near:
        folder = Path(near) / name
        protocol.export_client(folder, eps=eps, delta=delta)
        parts = ("parameters", "test_vectors")
        return {part: json.loads((folder / f"{part}.json").read_text()) for part in parts}


def text_of(content: dict[str, Any]) -> str:
    """Return the text of a file, with a line per entry."""
    lines = []
    for part, entries in content.items():
        inner = ",\n".join(f"  {json.dumps(name)}: {json.dumps(entry)}" for name, entry in entries.items())
        lines.append(f" {json.dumps(part)}: {{\n{inner}\n }}")
    return "{\n" + ",\n".join(lines) + "\n}\n"


if __name__ == "__main__":
    FOLDER.mkdir(exist_ok=True)
    for kind in TASK_KINDS:
        for name in available(kind):
            if get(kind, name).client is not ProtocolBase.client and name != "sparse_sum":
                (FOLDER / f"{name}.json").write_text(text_of(exported(kind, name)))

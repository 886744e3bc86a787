"""Random streams by name: results depend on a job's data, not on order, cores or other methods."""

from __future__ import annotations

import hashlib
import json
from typing import Any

import numpy as np


def canonical_json(value: Any) -> str:
    """Return unique text of a value: sorted keys, no spaces, ``repr`` of floats. Raise ValueError for nan and inf."""
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False)


def digest(value: Any) -> str:
    """Return the hex sha256 of the canonical JSON of a value."""
    return hashlib.sha256(canonical_json(value).encode()).hexdigest()


def generator(*key: Any) -> np.random.Generator:
    """Return the random generator of a key; equal keys give equal streams on every machine."""
    return np.random.Generator(np.random.PCG64(np.random.SeedSequence(int(digest(list(key)), 16))))

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from fabricated import Folder

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))  # for `browser`, which other folders use too

from fabricated import fabricate


@pytest.fixture
def papers(tmp_path: Path) -> dict[str, Folder]:
    """Publish two papers with errata and headlines in `tmp_path`."""
    return fabricate(tmp_path)

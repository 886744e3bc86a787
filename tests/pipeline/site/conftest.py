import pytest
from fabricated import fabricate


@pytest.fixture
def papers(tmp_path):
    """Publish two papers with errata and headlines in `tmp_path`."""
    return fabricate(tmp_path)

"""Faulty data files are counted correctly, or rejected in one line that names them; see `data_files`."""

from pathlib import Path

import data_files
import pytest
from hypothesis import HealthCheck, Phase, given, settings

pytestmark = pytest.mark.filterwarnings("ignore:Generating overly large repr")


@given(bad=data_files.bad_data_files())
@settings(
    max_examples=40,
    derandomize=True,
    deadline=None,
    database=None,
    phases=[Phase.generate],
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture],
)
def test_bad_file_is_counted_or_refused(tmp_path_factory, bad):
    found = data_files.trial(bad, _folder(tmp_path_factory))
    assert found.kind != "fault", f"{bad.name}, {bad.how}, {dict(bad.options)}: {found.text}"


def _folder(factory):
    folder = Path(factory.getbasetemp()) / "data_files"
    folder.mkdir(exist_ok=True)
    return folder

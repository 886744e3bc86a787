"""Faulty configurations give a plan, or one line that names file and place; see `configurations`."""

import configurations
import pytest
from hypothesis import HealthCheck, Phase, given, settings

pytestmark = pytest.mark.filterwarnings("ignore:Generating overly large repr")


@pytest.fixture(scope="module")
def project(tmp_path_factory):
    root = tmp_path_factory.mktemp("configurations")
    configurations.make_project(root)
    return root


@given(bad=configurations.bad_configurations())
@settings(
    max_examples=25,
    derandomize=True,
    deadline=None,
    database=None,
    phases=[Phase.generate],
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture],
)
def test_bad_configuration_is_refused_or_planned(project, bad):
    found = configurations.trial(bad, project)
    assert found.kind != "fault", f"{bad.file}, {bad.what} at {bad.places}: {found.text}"

"""Faulty configurations give a plan, or one line that names file and place; see `configurations`."""

import configurations
import judged
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
def test_a_bad_configuration_is_one_line_or_plans(project, bad):
    found = configurations.trial(bad, project)
    assert found.kind != "fault", f"{bad.file}, {bad.what} at {bad.places}: {found.text}"


def test_what_takes_too_long_is_ended():
    with pytest.raises(judged.TooLong), judged.limited(0.05):
        while True:
            pass


def test_messages_of_several_lines_or_without_the_place_are_faults():
    assert judged.refused("a.yaml: x: wrong", ("a.yaml",), ("x",)).kind == "refused"
    assert judged.refused("a.yaml: x:\nwrong").kind == "fault"
    assert judged.refused("x: wrong", ("a.yaml",)).kind == "fault"
    assert judged.refused("x" * 5000).kind == "fault"

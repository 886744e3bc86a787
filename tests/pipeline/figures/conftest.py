from dataclasses import replace

import pytest
from demo_paper import Drawn

from shuffledp.pipeline.figures import paper


@pytest.fixture(scope="session")
def project(tmp_path_factory):
    return Drawn(tmp_path_factory.mktemp("figures"))


@pytest.fixture(scope="session")
def drawn(project):
    """Return every file, and the Matplotlib figures by the drawing's id."""
    seen, rendered = {}, paper._rendered

    def spy(job, made):
        return rendered(job, replace(made, draw=lambda: seen.setdefault(job["id"], made.draw())))

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(paper, "_rendered", spy)
        return project.draw(), seen


@pytest.fixture
def files(drawn):
    return drawn[0]


@pytest.fixture
def pictures(drawn):
    return drawn[1]

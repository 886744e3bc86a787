from dataclasses import replace

import pytest
from demo_paper import Drawn
from matplotlib.figure import Figure

from shuffledp.pipeline.figures import paper
from shuffledp.pipeline.figures.drawing_jobs import DrawingJob
from shuffledp.pipeline.figures.picture import Made


@pytest.fixture(scope="session")
def project(tmp_path_factory: pytest.TempPathFactory) -> Drawn:
    return Drawn(tmp_path_factory.mktemp("figures"))


@pytest.fixture(scope="session")
def drawn(project: Drawn) -> tuple[dict[str, bytes], dict[str, Figure]]:
    """Return every file, and the Matplotlib figures by the drawing's id."""
    seen: dict[str, Figure] = {}
    rendered = paper._rendered

    def spy(job: DrawingJob, made: Made) -> dict[str, bytes]:
        return rendered(job, replace(made, draw=lambda: seen.setdefault(job["id"], made.draw())))

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(paper, "_rendered", spy)
        return project.draw(), seen


@pytest.fixture
def files(drawn: tuple[dict[str, bytes], dict[str, Figure]]) -> dict[str, bytes]:
    return drawn[0]


@pytest.fixture
def pictures(drawn: tuple[dict[str, bytes], dict[str, Figure]]) -> dict[str, Figure]:
    return drawn[1]

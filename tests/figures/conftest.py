import pytest
from demo_paper import Drawn
from matplotlib.figure import Figure

from shuffledp.figures import paper
from shuffledp.figures.picture import Picture
from shuffledp.figures.plotter import draw


@pytest.fixture(scope="session")
def project(tmp_path_factory: pytest.TempPathFactory) -> Drawn:
    return Drawn(tmp_path_factory.mktemp("figures"))


@pytest.fixture(scope="session")
def drawn(project: Drawn) -> tuple[dict[str, bytes], dict[str, Figure]]:
    """Every file, and the matplotlib figures by the drawing's id."""
    seen: dict[str, Figure] = {}
    rendered = paper._rendered

    def spy(job: paper.Job, picture: Picture) -> dict[str, bytes]:
        with pytest.MonkeyPatch.context() as inner:
            inner.setattr(paper, "draw", lambda what: seen.setdefault(job["id"], draw(what)))
            return rendered(job, picture)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(paper, "_rendered", spy)
        return project.draw(), seen


@pytest.fixture
def files(drawn: tuple[dict[str, bytes], dict[str, Figure]]) -> dict[str, bytes]:
    return drawn[0]


@pytest.fixture
def pictures(drawn: tuple[dict[str, bytes], dict[str, Figure]]) -> dict[str, Figure]:
    return drawn[1]

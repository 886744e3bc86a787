import pytest
from demo_paper import Drawn
from matplotlib.figure import Figure

from shuffledp.figures import paper
from shuffledp.figures.plotter import Picture, draw


@pytest.fixture(scope="session")
def project(tmp_path_factory: pytest.TempPathFactory) -> Drawn:
    return Drawn(tmp_path_factory.mktemp("figures"))


@pytest.fixture(scope="session")
def drawn(project: Drawn) -> tuple[dict[str, bytes], dict[str, Figure]]:
    """Every file, and the matplotlib figures by title."""
    seen: dict[str, Figure] = {}

    def spy(picture: Picture) -> Figure:
        seen[picture.title] = draw(picture)
        return seen[picture.title]

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(paper, "draw", spy)
        return project.draw(), seen


@pytest.fixture
def files(drawn: tuple[dict[str, bytes], dict[str, Figure]]) -> dict[str, bytes]:
    return drawn[0]


@pytest.fixture
def pictures(drawn: tuple[dict[str, bytes], dict[str, Figure]]) -> dict[str, Figure]:
    return drawn[1]

"""Legibility of pictures."""

import io

from matplotlib.figure import Figure
from matplotlib.image import imread
from matplotlib.text import Text

from shuffledp.pipeline.figures.panels import SMALL
from shuffledp.pipeline.figures.style import figure_style, rendered


def texts(figure: Figure) -> list[Text]:
    """Return the visible texts of a picture."""
    return [text for text in figure.findobj(Text) if text.get_text().strip() and text.get_visible()]


def assert_legible(figure: Figure) -> None:
    """Check that borders are white, and letters large enough."""
    with figure_style():
        pixels = imread(io.BytesIO(rendered(figure, "png")))[..., :3]
    for side in (pixels[:2], pixels[-2:], pixels[:, :2], pixels[:, -2:]):
        assert (side == 1).all()
    assert min(text.get_fontsize() for text in texts(figure)) >= SMALL

import io

import pytest
from matplotlib.backends.backend_pdf import FigureCanvasPdf
from matplotlib.figure import Figure

from shuffledp.pipeline.figures.style import figure_style, rendered

WITHOUT_DATE = {"CreationDate": None, "Producer": None, "Creator": None}


def written(*texts):
    figure = Figure(figsize=(4, 1))
    for place, text in enumerate(texts):
        figure.text(0.1, 0.2 + 0.3 * place, text, weight=600 if place else 400)
    return figure


@pytest.mark.parametrize(
    "texts",
    [
        ("fi delta = $10^{-6}$, \u03b5 \u2264 1", "AVA: bold, office"),
        ("beyond the usual characters: \u0416", "bold"),
    ],
)
def test_pdf_has_bytes_of_matplotlib(texts):
    with figure_style():
        found, sink = rendered(written(*texts), "pdf"), io.BytesIO()
        FigureCanvasPdf(written(*texts)).print_pdf(sink, metadata=WITHOUT_DATE)
    assert found == sink.getvalue()

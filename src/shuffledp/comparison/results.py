"""Result of a comparison: its rows, the recommendation, and their table, data frame and picture."""

from __future__ import annotations

from typing import TYPE_CHECKING

from shuffledp.comparison.recommendation import Recommendation, recommended, sentences
from shuffledp.comparison.rows import Compared, table
from shuffledp.optional_dependencies import needed

if TYPE_CHECKING:
    from matplotlib.figure import Figure
    from pandas import DataFrame


class Comparison(tuple[Compared, ...]):
    """Rows of a comparison, a tuple of `Compared` that prints as a table."""

    __slots__ = ()

    @property
    def recommendation(self) -> Recommendation | None:
        """Recommended protocol, see `shuffledp.comparison.recommended`."""
        return recommended(self)

    def __str__(self) -> str:
        best = self.recommendation
        return "\n\n".join([*([] if best is None else [sentences(best)]), table(self)])

    def to_frame(self) -> DataFrame:
        """Return a data frame of pandas, a row per protocol; raise MissingExtra without pandas."""
        with needed():
            import pandas as pd
        return pd.DataFrame([vars(row) for row in self])

    def _repr_html_(self) -> str:
        """Return the recommendation and the table of a notebook."""
        best = self.recommendation
        columns = [
            "trust",
            "mse",
            "half_width",
            "messages_per_user",
            "most_messages",
            "bits_per_user",
            "guarantee",
        ]
        good = self.to_frame().query("status == 'ok'").set_index("protocol")[columns]
        words = "" if best is None else f"<pre>{sentences(best)}</pre>"
        return words + str(good.to_html(float_format="{:.3g}".format))

    def plot(self) -> Figure:
        """Return a Matplotlib figure of error against bits per user.

        Raises ValueError if no row has an error, MissingExtra without Matplotlib.
        """
        from shuffledp.comparison.drawing import grouped, picture

        with needed():
            return picture(grouped(self), "")

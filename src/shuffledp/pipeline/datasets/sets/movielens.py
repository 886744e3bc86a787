"""MovieLens 20M: ratings per movie."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from shuffledp.pipeline.datasets.registry import (
    Contents,
    Description,
    Prepared,
    PublishedDataset,
    Substitute,
    to_csv,
)

if TYPE_CHECKING:
    pass

_MOVIES = 26_744
_RATINGS = 20_000_263
_ROWS_AT_ONCE = 1_000_000
_SEED = 19_990_928
_SAMPLE_SEED = 2009_13738
SAMPLED_MOVIES = 2_000
SAMPLED_RATINGS = 494_352


def sample_ratings(counts: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return a fixed sample of ratings, with the DUMP paper's numbers of ratings and movies.

    The paper does not name the ratings that it took from MovieLens. Here 2,000 movies are drawn uniformly, then 494,352
    of their ratings, both without replacement. The draw has its own seed, so that the sample is the same in every run.
    """
    if counts.size < SAMPLED_MOVIES:
        raise ValueError(f"Sampling needs at least {SAMPLED_MOVIES} movies, got {counts.size}.")
    rng = np.random.Generator(np.random.PCG64(np.random.SeedSequence(_SAMPLE_SEED)))
    chosen = counts[np.sort(rng.choice(counts.size, SAMPLED_MOVIES, replace=False))]
    if chosen.sum() < SAMPLED_RATINGS:
        raise ValueError(
            f"Sampling needs at least {SAMPLED_RATINGS} ratings of the chosen movies, got {int(chosen.sum())}."
        )
    return rng.multivariate_hypergeometric(chosen, SAMPLED_RATINGS, method="marginals").astype(np.int64)


class MovieLens(PublishedDataset):
    """Ratings of movies. The ratings themselves must not be kept."""

    title = "MovieLens 20M"
    citation = (
        "Harper, F. M. and Konstan, J. A. (2015). The MovieLens Datasets: History and Context. "
        "ACM TiiS 5(4), article 19. doi:10.1145/2827872"
    )
    description = Description(
        content="MovieLens 20M",
        records=f"{_RATINGS:,} ratings",
        used="ratings per movie (26,744 movies); a fixed sample of them",
        transfer="199 MB",
        prepared="`movie` (MovieLens' number)",
        substituted="synthetic Zipf-Mandelbrot law with a fixed seed",
        exact="the numbers of movies and ratings",
        lost="the distribution of ratings",
    )
    columns = ("movie", "sampled_movie")

    def derive(self, published: Any) -> bytes:
        """Return the ratings per movie from a stream of ``ratings.csv``, without a copy of the ratings."""
        import pandas as pd

        chunks = pd.read_csv(published, usecols=["movieId"], chunksize=_ROWS_AT_ONCE)
        counts = pd.concat([chunk["movieId"].value_counts() for chunk in chunks]).groupby(level=0).sum()
        return to_csv(pd.DataFrame({"movieId": counts.index, "numRatings": counts.to_numpy()}))

    def parse(self, files: Mapping[str, Path]) -> Contents:
        """Return the ratings per movie."""
        import pandas as pd

        table = pd.read_csv(files["ml-20m-rating-counts.csv"]).set_axis(["movie", "count"], axis=1)
        return Contents(table, _RATINGS)

    def counts(self, data: Prepared, column: str) -> NDArray[np.int64]:
        """Return the ratings per movie, by rank of the movie number, of all ratings or of the sample."""
        ratings = data.cells("count").astype(np.int64)
        counts: dict[str, Callable[[], NDArray[np.int64]]] = {
            "movie": lambda: ratings,
            "sampled_movie": lambda: sample_ratings(ratings),
        }
        return counts[column]()

    def substitute(self, folder: Path) -> Substitute:
        """Return a Zipf-Mandelbrot law with MovieLens' numbers of movies and ratings."""
        import pandas as pd

        rng = np.random.Generator(np.random.PCG64(_SEED))
        weights = (np.arange(1, _MOVIES + 1) + 150.0) ** -1.5
        counts = 1 + rng.multinomial(_RATINGS - _MOVIES, weights / weights.sum())
        table = pd.DataFrame({"movie": np.arange(1, _MOVIES + 1), "count": rng.permutation(counts)})
        return Substitute(
            Contents(table, _RATINGS),
            "stand_in",
            "generated: Zipf-Mandelbrot law, exponent 1.5, shift 150, fixed seed",
            "Not MovieLens: synthetic power law with as many movies and ratings.",
        )


DATASET = MovieLens()

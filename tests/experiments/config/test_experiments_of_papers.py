"""What the files of config/experiments select, where more than their grammar can be wrong."""

from functools import cache
from pathlib import Path

import pytest

from shuffledp.accounting.segmented.plan_search import segmented_plan
from shuffledp.experiments.config.files import merged, read_yaml
from shuffledp.figures.selection import load_settings

ROOT = Path(__file__).resolve().parents[3]


@cache
def papers(scale="config"):
    """All papers as `config.yaml` runs them, or as `quick.yaml` does."""
    config = read_yaml(ROOT / "config/config.yaml")
    return load_settings(merged(config, read_yaml(ROOT / f"config/{scale}.yaml")), ROOT).papers


@pytest.mark.parametrize("scale", ["config", "quick"])
@pytest.mark.parametrize("figure", ["fig4", "fig7", "fig9"])
def test_the_panels_of_the_random_population_reach_from_the_least_to_the_largest_rate_of_the_captions(
    figure, scale
):
    paper = papers(scale)["random_population"]
    entry = paper.figures[figure]
    rates = paper.experiments[entry["experiment"]].grid[entry["panels"]]
    assert (min(rates), max(rates)) == (0.01, 0.5)


@pytest.mark.parametrize(
    "experiment, items, held, n, shares, accounting",
    [
        ("msnbc", 17, 4, 50_000, (25, 50, 25), "exact"),  # Fig. 2: next to a jump
        ("msnbc", 17, 4, 50_000, (50, 25, 25), "printed"),  # Fig. 4a
        ("uniform", 128, 4, 5_000, (25, 25, 50), "corrected"),  # Fig. 6a
        ("uniform", 128, 8, 5_000, (25, 50, 25), "printed"),  # Fig. 3b: beyond 10
    ],
)
def test_a_curve_over_blanket_messages_has_a_point_at_its_minimum(
    experiment, items, held, n, shares, accounting
):
    """The error at the best point of the grid is within 1 % of the least of all."""
    sizes, spread = [n * share // 100 for share in shares], held * (1 - held / items)
    setting = (sizes, (0.5, 1, 2), 0.01 / n, items, held)
    grid = papers()["segmented"].experiments[experiment].grid["m"]
    errors = [
        segmented_plan(*setting, accounting=accounting, blankets=m).expected_sse(spread) for m in grid
    ]
    least = segmented_plan(*setting, accounting=accounting, spread=spread).expected_sse(spread)
    assert min(errors) < 1.01 * least
    assert errors.index(min(errors)) not in (0, len(grid) - 1)  # both sides of the minimum are seen

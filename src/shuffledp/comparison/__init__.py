"""Comparison of all protocols of a task, for one setting and the user's own data.

`shuffledp.compare` calibrates every protocol for the same users, budget and task. Each protocol gets a row with the
expected error, the communication, the eps that its profile spends, and the guarantee. The row of an excluded protocol
has the reason.
"""

from typing import TYPE_CHECKING

from shuffledp.lazy_api import door

if TYPE_CHECKING:
    from shuffledp.comparison.comparing import compare as compare
    from shuffledp.comparison.count_trees import CountTree as CountTree
    from shuffledp.comparison.local_errors import local_report_error as local_report_error
    from shuffledp.comparison.prefix_errors import best_levels as best_levels, prefix_error as prefix_error
    from shuffledp.comparison.prefix_trees import PrefixTree as PrefixTree
    from shuffledp.comparison.recommendation import (
        Comparison as Comparison,
        Recommendation as Recommendation,
        recommended as recommended,
    )
    from shuffledp.comparison.rows import (
        Compared as Compared,
        as_csv as as_csv,
        front as front,
        table as table,
    )
    from shuffledp.comparison.simulated_ranges import SimulatedRanges as SimulatedRanges
    from shuffledp.comparison.simulating import Simulated as Simulated, simulate as simulate
    from shuffledp.comparison.simulating_ranges import simulate_ranges as simulate_ranges
    from shuffledp.comparison.tree_errors import tree_error as tree_error
    from shuffledp.userdata.counting import Counted as Counted, count_column as count_column
else:
    __getattr__, __dir__ = door(__name__)

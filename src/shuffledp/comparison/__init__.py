"""All protocols of a task beside each other, for one setting and one's own data.

`shuffledp.compare` calibrates every protocol for the same users, budget and task and returns a row for each:
expected error, communication, the eps that is really spent, and what stands behind the claim; or why there is none.
"""

from typing import TYPE_CHECKING

from shuffledp.lazy_api import door

if TYPE_CHECKING:
    from shuffledp.comparison.comparing import compare
    from shuffledp.comparison.recommendation import Recommendation, recommended
    from shuffledp.comparison.rows import Compared, as_csv, front, table
    from shuffledp.userdata.counting import Counted, count_column
else:
    __getattr__, __dir__ = door(__name__)

__all__ = [
    "Compared",
    "Counted",
    "Recommendation",
    "as_csv",
    "compare",
    "count_column",
    "front",
    "recommended",
    "table",
]

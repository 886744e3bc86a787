"""Parts of the golden table: one file each, and the function that computes its rows."""

from collections.abc import Callable, Mapping
from functools import partial
from importlib import import_module
from pathlib import Path

from golden.values import Rows
from small_tasks import BUILT_INS


def _answers(module: str, function: str, *given: str) -> Rows:
    found: Rows = getattr(import_module(f"golden.{module}"), function)(*given)
    return found


ROOT = Path(__file__).resolve().parents[2]
EXPERIMENTS = sorted(path.stem for path in (ROOT / "config/experiments").glob("*.yaml"))


def _papers_with(pattern: str) -> list[str]:
    folders = ROOT / "src/shuffledp/pipeline/papers"
    return [paper for paper in EXPERIMENTS if any((folders / paper).glob(pattern))]


#: Function that computes each part. Parts that need the pipeline import it when they are computed.
PARTS: Mapping[str, Callable[[], Rows]] = {
    **{
        f"protocols/{kind}.{name}": partial(_answers, "protocol_answers", "answers", kind, name)
        for kind, name in BUILT_INS
    },
    **{
        f"accounting/{which}": partial(_answers, "accountant_answers", which)
        for which in ("functions", "methods", "shipped")
    },
    "comparison": partial(_answers, "comparison_answers", "answers"),
    **{
        f"experiments/{paper}": partial(_answers, "experiment_answers", "answers", paper)
        for paper in EXPERIMENTS
    },
    **{
        f"{which}/{paper}": partial(_answers, "claim_answers", which, paper)
        for which in ("claims", "errata")
        for paper in _papers_with(f"{which}.yaml")
    },
}

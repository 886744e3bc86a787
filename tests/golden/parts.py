"""Parts of the golden table: one file each, and the function that computes its rows."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path

from golden.values import Rows
from shuffledp.protocols import available
from shuffledp.tasks import TASK_KINDS


def _protocol(kind: str, name: str) -> Rows:
    from golden.protocol_answers import answers

    return answers(kind, name)


def _accounting(which: str) -> Rows:
    from golden import accountant_answers

    found: Rows = getattr(accountant_answers, which)()
    return found


def _comparison() -> Rows:
    from golden.comparison_answers import answers

    return answers()


def _experiments(paper: str) -> Rows:
    from golden.experiment_answers import answers

    with tempfile.TemporaryDirectory() as folder:
        return answers(paper, Path(folder))


def _claims(paper: str) -> Rows:
    from golden.claim_answers import claims

    return claims(paper)


def _errata(paper: str) -> Rows:
    from golden.claim_answers import errata

    return errata(paper)


ROOT = Path(__file__).resolve().parents[2]
EXPERIMENTS = sorted(path.stem for path in (ROOT / "config/experiments").glob("*.yaml"))


def _papers_with(pattern: str) -> list[str]:
    folders = ROOT / "src/shuffledp/pipeline/papers"
    return [paper for paper in EXPERIMENTS if any((folders / paper).glob(pattern))]


#: Function that computes each part. Parts that need the pipeline import it when they are computed.
PARTS: Mapping[str, Callable[[], Rows]] = {
    **{f"protocols/{k}.{name}": partial(_protocol, k, name) for k in TASK_KINDS for name in available(k)},
    **{f"accounting/{which}": partial(_accounting, which) for which in ("functions", "methods", "shipped")},
    "comparison": _comparison,
    **{f"experiments/{paper}": partial(_experiments, paper) for paper in EXPERIMENTS},
    **{f"claims/{paper}": partial(_claims, paper) for paper in _papers_with("claims.yaml")},
    **{f"errata/{paper}": partial(_errata, paper) for paper in _papers_with("errata.yaml")},
}

"""Where in a user's own file an error comes from, in one line. Light, since every job of the pipeline imports it."""

from __future__ import annotations

import traceback
from pathlib import Path


def said(error: BaseException, file: str) -> str:
    """An error in one line; with the line of the user's file in which it was raised, where it was."""
    text = " ".join(str(error).split())
    if isinstance(error, AssertionError) and not raised_in(error, file):
        return text
    where = raised_in(error, file)
    return f"{where}{type(error).__name__}{f': {text}' if text else ''}"


def raised_in(error: BaseException, file: str) -> str:
    """``file, line 7, in encode: `` for the innermost step that is in this file; empty if none is."""
    if not file:
        return ""
    path, steps = str(Path(file).resolve()), []
    cause: BaseException | None = error
    while cause is not None:  # a guard may have raised an error of its own in place of the class's
        steps += [step for step in traceback.extract_tb(cause.__traceback__) if step.filename == path]
        cause = cause.__cause__
    return f"{file}, line {steps[-1].lineno}, in {steps[-1].name}: " if steps else ""


class OwnClassError(RuntimeError):
    """An error in a class of the user's own, in a job of the pipeline."""


def in_job(error: BaseException, protocol: str, root: Path) -> OwnClassError:
    """An error of a job of ``path/to/file.py:Class`` in one sentence, which names that file and no other.

    Parameters
    ----------
    error : BaseException
        As it was raised.
    protocol : str
        How the configuration names the class.
    root : Path
        Folder that its path starts from.
    """
    file = str(root / protocol.rpartition(":")[0])
    place = "" if raised_in(error, file) else f"{protocol}: "
    return OwnClassError(f"{place}{said(error, file)}. `shuffledp check-baseline {protocol}` says more.")

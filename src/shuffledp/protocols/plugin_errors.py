"""Location of an error in a user's file, in one line. Every job of the pipeline imports this module."""

import traceback
from pathlib import Path


def format_error(error: BaseException, file: str) -> str:
    """Return the text of an error in one line, preceded by the line of the user's file that raised it, if any."""
    text = " ".join(str(error).split())
    if isinstance(error, AssertionError) and not raised_in(error, file):
        return text
    where = raised_in(error, file)
    return f"{where}{type(error).__name__}{f': {text}' if text else ''}"


def raised_in(error: BaseException, file: str) -> str:
    """Return ``file, line 7, in encode: `` for the innermost call in this file; empty if no call is in it."""
    if not file:
        return ""
    path, steps = str(Path(file).resolve()), []
    cause: BaseException | None = error
    while cause is not None:  # a guard may have raised an error of its own in place of the class's
        steps += [step for step in traceback.extract_tb(cause.__traceback__) if step.filename == path]
        cause = cause.__cause__
    return f"{file}, line {steps[-1].lineno}, in {steps[-1].name}: " if steps else ""


class OwnClassError(RuntimeError):
    """Error that a user's class raised in a job of the pipeline."""


def in_job(error: BaseException, protocol: str, root: Path) -> OwnClassError:
    """Return the error of a job of `protocol` in one sentence; `root` is the folder of the user's file."""
    file = str(root / protocol.rpartition(":")[0])
    place = "" if raised_in(error, file) else f"{protocol}: "
    return OwnClassError(
        f"{place}{format_error(error, file)}. For details run `shuffledp check-baseline {protocol}`."
    )

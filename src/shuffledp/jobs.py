"""What every job of the workflow does first: write a log, and stop when the workflow is gone.

A workflow that is killed leaves its running scripts behind. Such an orphan would burn time and, with newer code
already running, could publish an older result; it therefore ends itself within a second.
"""

from __future__ import annotations

import atexit
import gc
import logging
import os
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

_POLL_SECONDS = 0.5


@contextmanager
def job(log_file: str) -> Iterator[logging.Logger]:
    """Logging to a file and to the terminal; the traceback of a failure goes into the file.

    Parameters
    ----------
    log_file : str
        The rule's ``log:`` file.
    """
    _end_with_parent()
    # A process that ends searches all it has imported for garbage, which takes a quarter of a short job's time.
    atexit.register(gc.freeze)
    Path(log_file).parent.mkdir(parents=True, exist_ok=True)
    logger = logging.getLogger("shuffledp")
    logger.setLevel(logging.INFO)
    handlers: list[logging.Handler] = [
        logging.FileHandler(log_file, mode="w"),
        logging.StreamHandler(sys.stderr),
    ]
    for handler in handlers:
        handler.setFormatter(logging.Formatter("%(message)s"))
        logger.addHandler(handler)
    logging.captureWarnings(True)
    logging.getLogger("py.warnings").addHandler(handlers[0])
    try:
        yield logger
    except Exception as error:
        handlers[0].handle(
            logger.makeRecord(logger.name, logging.ERROR, "", 0, str(error), (), sys.exc_info())
        )
        sys.stderr.write(f"{type(error).__name__}: {error}\n")
        sys.exit(1)
    finally:
        logging.captureWarnings(False)
        logging.getLogger("py.warnings").removeHandler(handlers[0])
        for handler in handlers:
            logger.removeHandler(handler)
            handler.close()


def _end_with_parent() -> None:
    parent = os.getppid()

    def watch() -> None:
        pause = threading.Event()
        while os.getppid() == parent:
            pause.wait(_POLL_SECONDS)
        os._exit(1)  # nothing is half-written: results are renamed into place only when complete

    threading.Thread(target=watch, daemon=True, name="end-with-parent").start()

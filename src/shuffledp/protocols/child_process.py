"""Calls in a child process with limits, so that a user's code that hangs, exits or is killed ends only the child.

The child is a new interpreter and no fork, as threads of the parent, for example of JAX, do not survive a fork. It ends
with its parent.
"""

import contextlib
import functools
import math
import os
import pickle
import resource
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from multiprocessing.connection import Connection, Pipe
from types import FunctionType
from typing import Any

SECONDS = 60.0
"""Seconds that a call of a method, an import, or a protocol of a comparison may take."""
_TICK = 0.1
_LENGTH = 256
#: File in which a child notes its running method; None in every other process.
_note: int | None = None
_noted, _changes = "", 0

Send = Callable[[Any], None]


class Ended(RuntimeError):  # noqa: N818  (names what happened, as Infeasible does)
    """Error: a child process ended without a result, in ``method`` (empty if unknown); ``late`` after the limit."""

    def __init__(self, method: str, how: str, *, late: bool = False) -> None:
        super().__init__(f"{method or 'the process'} {how}")
        self.method, self.how, self.late = method, how, late


def machine_memory() -> int:
    """Return the bytes of memory of this machine, the memory limit of a child."""
    return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")


# -- in the parent -------------------------------------------------------------------------------------------------


def results(
    function: Callable[..., None],
    *arguments: Any,
    seconds: float = SECONDS,
    per_call: bool = False,
    waiting: Callable[[str, float], None] | None = None,
) -> Iterator[Any]:
    """Yield the objects that a function in a child process sends by its first argument, a callable.

    `seconds` limits the time until the next object, or, with `per_call`, the time of each call of a method given to
    `name_methods`. `waiting` is called several times per second with the running method and the seconds so far. Raises
    `Ended` if the child does not send in time, exits, is killed, or raises an exception that is no `Exception`; other
    exceptions of the function are raised again.
    """
    here, there = Pipe()
    with tempfile.TemporaryFile() as note, here:
        code = (
            f"from shuffledp.protocols.child_process import _serve; _serve({there.fileno()}, {note.fileno()})"
        )
        child = subprocess.Popen(
            [sys.executable, "-P", "-c", code],
            pass_fds=(there.fileno(), note.fileno()),
            stdout=2,  # standard output is for results
            start_new_session=True,
        )
        there.close()
        try:
            with contextlib.suppress(ConnectionError):  # the end is noticed below
                here.send((function, arguments))
            yield from _received(here, child, note.fileno(), seconds, per_call, waiting)
        finally:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(child.pid, signal.SIGKILL)  # and what it started
            child.wait()


def _received(
    here: Connection,
    child: subprocess.Popen[bytes],
    note: int,
    seconds: float,
    per_call: bool,
    waiting: Callable[[str, float], None] | None,
) -> Iterator[Any]:
    since, seen = math.inf, b""  # until the child has started
    while True:
        gone = child.poll() is not None  # looked at before the last thing that it sent
        if here.poll(0 if gone else _TICK):
            try:
                kind, value = here.recv()
            except (EOFError, ConnectionError):
                raise Ended(_method(note), _ending(child.wait())) from None
            except Exception as error:  # an object of a class that is known in the child alone
                raise Ended(_method(note), f"gives what cannot be read here: {error}") from None
            if kind == "end":
                return
            if kind == "raised":
                raise value
            if kind == "ended":
                raise Ended(_method(note), value)
            if kind == "sent":
                yield value
            since = time.monotonic()
        elif gone:
            raise Ended(_method(note), _ending(child.returncode))
        noted = os.pread(note, _LENGTH, 0)
        if noted != seen and per_call and since < math.inf:
            since, seen = time.monotonic(), noted
        taken = time.monotonic() - since
        if taken > seconds and (_method(note) or not per_call):
            raise Ended(_method(note), f"does not return within {seconds:g} s", late=True)
        if waiting is not None:
            waiting(_method(note), taken)


def _method(note: int) -> str:
    return os.pread(note, _LENGTH, 0)[16:].rstrip(b"\0").decode(errors="replace")


def _ending(status: int) -> str:
    if status >= 0:
        return f"ends the process with exit status {status}"
    name = signal.Signals(-status).name
    return f"is killed ({name}{', as where memory runs out' if name == 'SIGKILL' else ''})"


# -- in the child --------------------------------------------------------------------------------------------------


def _serve(channel_file: int, note_file: int) -> None:
    """Read one request of the parent, run it and exit."""
    global _note
    _note = note_file
    memory = machine_memory()
    with contextlib.suppress(ValueError, OSError):  # macOS has no such limit
        resource.setrlimit(resource.RLIMIT_AS, (memory, resource.getrlimit(resource.RLIMIT_AS)[1]))
    channel = Connection(channel_file)
    function, arguments = channel.recv()
    threading.Thread(target=_end_with_parent, args=(channel,), daemon=True).start()
    channel.send(("ready", None))
    try:
        function(lambda value: channel.send(("sent", value)), *arguments)
        channel.send(("end", None))
    except Exception as error:
        channel.send(("raised", _portable(error)))
    except BaseException as error:
        channel.send(("ended", f"raises {type(error).__name__}{f': {error}' if str(error) else ''}"))


def _end_with_parent(channel: Connection) -> None:
    channel.poll(None)  # the parent sends nothing more: what comes is the end of its file
    os._exit(1)


def _portable(error: Exception) -> Exception:
    """Return the error if it can be pickled and the parent has its class, otherwise a RuntimeError with its text."""
    with contextlib.suppress(Exception):
        if type(error).__module__.partition(".")[0] in ("builtins", "click", "shuffledp"):
            pickle.loads(pickle.dumps(error))
            return error
    return RuntimeError(f"{type(error).__name__}: {error}")


def _noting(what: str) -> str:
    """Write the name of the running method for the parent, and return the previous name."""
    global _noted, _changes
    before, _noted, _changes = _noted, what, _changes + 1
    if _note is not None:
        os.pwrite(_note, f"{_changes:016d}{what}".encode()[:_LENGTH].ljust(_LENGTH, b"\0"), 0)
    return before


@contextlib.contextmanager
def at_work(what: str) -> Iterator[None]:
    """Write the name of the running method for the parent, if this process is a child."""
    before = _noting(what)
    yield
    _noting(before)


def name_methods(found: type) -> None:
    """Make the methods of a class, and of its bases in the same file, write their names for the parent of this process.

    Without a parent, nothing is written. The name remains if a method ends the process or raises no `Exception`.
    """
    if _note is None:
        return
    for base in found.__mro__:
        for name, value in list(vars(base).items()) if base.__module__ == found.__module__ else ():
            if name.startswith("__"):
                continue
            if isinstance(value, FunctionType):
                setattr(base, name, _named(name, value))
            elif isinstance(value, classmethod | staticmethod):
                setattr(base, name, type(value)(_named(name, value.__func__)))
            elif isinstance(value, property) and value.fget is not None:
                setattr(base, name, value.getter(_named(name, value.fget)))


def _named(name: str, method: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(method)
    def call(*arguments: Any, **options: Any) -> Any:
        before = _noting(name)
        try:
            result = method(*arguments, **options)
        except Exception:
            _noting(before)
            raise
        _noting(before)
        return result

    return call

"""Bad and extreme arguments for every public function of the accounting: a number in range, or one clear error.

Into a valid call of each function and class (tests/accounting/valid_calls.py) goes one bad argument after the other,
then two at a time. A call must end within seconds with numbers of which none is nan, and a delta in [0, 1]; or with
Infeasible, or with a ValueError or TypeError that names an argument. All else is reported, a line each.

    python tools/bad_arguments.py                    # all; exits with 1 if something is off
    python tools/bad_arguments.py --only clone_rate --pairs 0
"""

from __future__ import annotations

import argparse
import dataclasses
import inspect
import itertools
import math
import multiprocessing
import re
import resource
import signal
import sys
import time
import warnings
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests/accounting"))
from valid_calls import SKIPPED as SKIPPED
from valid_calls import valid_calls

from shuffledp.accounting import Infeasible
from shuffledp.numerics.kinds import shown

#: CPU seconds that a call may take, memory that it may reserve, and what a process is given beyond before it is ended.
SECONDS, BYTES, GRACE = 5, 4 * 2**30, 20

NUMBERS: tuple[Any, ...] = (
    math.nan,
    math.inf,
    -math.inf,
    -1,
    0,
    1,
    0.5,
    2.5,
    1e-320,
    1e-16,
    1e-5,
    40.0,
    800.0,
    1e308,
    10**5,
    10**9,
    10**15,
    2**53,
    10**400,
)
NO_NUMBERS: tuple[Any, ...] = ("no", None, True, False, [], [1, "a"], [[1.0, 2.0], [3.0]], {}, 1j, object)
ARRAYS: tuple[Any, ...] = ([math.nan], [-1.0, 2.0], [math.inf, 2.0], [0.0, 1e308], [10**15, 2.0], ["no"])
POOL = (*NUMBERS, *NO_NUMBERS, *ARRAYS)
#: What stands for a number of several values, or for nothing, in the annotations.
_SEVERAL = ("ArrayLike", "NDArray", "Sequence", "tuple", "Slots", "Mapping")


class Hangs(BaseException):
    """A call took too long; no Exception, so that nothing in the library catches it."""


def _numbers(value: Any) -> Iterator[float]:
    """All numbers of a result."""
    if isinstance(value, (bool, str, type(None))):
        return
    if isinstance(value, (int, float, np.integer, np.floating)):
        yield float(value) if abs(value) < 10**300 else math.inf
    elif isinstance(value, np.ndarray) and value.dtype.kind in "fiu":
        yield from value.ravel()[:1000].tolist()
    elif dataclasses.is_dataclass(value) and not isinstance(value, type):
        yield from _numbers([getattr(value, field.name) for field in dataclasses.fields(value)])
    elif isinstance(value, Mapping):
        yield from _numbers(list(value.values()))
    elif isinstance(value, (list, tuple)):
        yield from itertools.chain.from_iterable(map(_numbers, value))


def _fits(annotation: str, value: Any) -> bool:
    """Whether an argument has the kind that its annotation asks for, as far as acceptance would be a mistake."""
    if value is None:
        return "None" in annotation or "Any" in annotation
    if isinstance(value, bool):
        return "bool" in annotation or "Any" in annotation
    if "bool" in annotation:
        return False
    if isinstance(value, (list, dict)):
        return any(word in annotation for word in _SEVERAL)
    if isinstance(value, (str, complex, type)):
        return "str" in annotation and isinstance(value, str)
    return isinstance(value, int) or not math.isnan(value)


def judge(
    call: Callable[..., Any], valid: Mapping[str, Any], bad: Mapping[str, Any], seconds: float = SECONDS
) -> str:
    """What is wrong with the answer to bad arguments, "" if nothing is.

    Parameters
    ----------
    call : callable
        A function or a class.
    valid, bad : mapping
        Keywords that work, and what replaces some of them.
    seconds : float
        CPU time that the call may take.
    """

    def late(*_: object) -> None:
        raise Hangs

    kept = signal.signal(signal.SIGVTALRM, late)
    signal.setitimer(signal.ITIMER_VIRTUAL, seconds)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # a number is judged by itself
            found = call(**{**valid, **bad})
            return _judge_result(call, bad, found)
    except Infeasible as reason:
        return "" if str(reason) else "Infeasible without a reason"
    except (ValueError, TypeError) as error:
        text = str(error)
        named = any(re.search(rf"\b{name}\b", text) for name in valid)
        return "" if named and "\n" not in text else f"{type(error).__name__} names no argument: {text[:150]}"
    except Hangs:
        return f"longer than {seconds} s"
    except Exception as error:  # any other kind is what is looked for
        return f"{type(error).__name__}: {str(error)[:150]}"
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        signal.signal(signal.SIGVTALRM, kept)


def _judge_result(call: Callable[..., Any], bad: Mapping[str, Any], found: Any) -> str:
    parameters = inspect.signature(call).parameters
    for name, value in bad.items():
        if not _fits(str(parameters[name].annotation), value):
            return f"accepts {name} = {shown(value)} and returns {str(found)[:60]}"
    numbers = list(_numbers(found))
    if any(math.isnan(x) for x in numbers):
        return f"returns nan: {str(found)[:100]}"
    name = getattr(call, "__name__", "")
    if isinstance(found, tuple):  # a design and a number
        found = found[0]
    if name.endswith("_delta") and not all(0 <= x <= 1 for x in numbers) and not name.startswith("log_"):
        return f"returns a delta outside of [0, 1]: {str(found)[:100]}"
    if (
        not dataclasses.is_dataclass(found)
        and any(x < 0 for x in numbers)
        and not name.startswith(("log_", "atom_", "used_"))
    ):
        return f"returns a negative number: {str(found)[:100]}"
    return ""


def cases(valid: Mapping[str, Any], pairs: int, rng: np.random.Generator) -> Iterator[dict[str, Any]]:
    """Every bad value for every argument alone, then `pairs` pairs of arguments at random."""
    for name in valid:
        for value in POOL:
            yield {name: value}
    if len(valid) > 1:
        for _ in range(pairs):
            first, second = rng.choice(list(valid), 2, replace=False)
            yield {
                str(first): NUMBERS[rng.integers(len(NUMBERS))],
                str(second): NUMBERS[rng.integers(len(NUMBERS))],
            }


def _said(bad: Mapping[str, Any]) -> str:
    return ", ".join(f"{name}={shown(value)}" for name, value in bad.items())


def _child(pipe: Connection, name: str, pairs: int, start: int) -> None:
    resource.setrlimit(resource.RLIMIT_AS, (BYTES, BYTES))
    call, valid = valid_calls()[name]
    rng = np.random.default_rng(sum(map(ord, name)))
    for index, bad in enumerate(cases(valid, pairs, rng)):
        if index >= start:
            pipe.send((index, _said(bad), None))
            pipe.send((index, _said(bad), judge(call, valid, bad)))
    pipe.close()


def outcomes(name: str, pairs: int) -> Iterator[tuple[str, str]]:
    """Bad arguments and what is wrong with the answer, for one function; a child that dies is replaced."""
    fork, start, running = multiprocessing.get_context("fork"), 0, True
    while running:
        here, there = fork.Pipe(duplex=False)
        child = fork.Process(target=_child, args=(there, name, pairs, start))
        child.start()
        there.close()
        running, shown, since = False, "", time.monotonic()
        while True:
            if here.poll(1.0):
                try:
                    start, shown, verdict = here.recv()
                except EOFError:
                    break
                since = time.monotonic()
                if verdict is not None:
                    yield shown, verdict
                    shown = ""
            elif time.monotonic() - since > 6 * GRACE:
                child.kill()
        child.join()
        if shown:  # it died in the middle of a call
            yield shown, f"ended the process ({child.exitcode})"
            start, running = start + 1, True


def main() -> int:
    """Print what is wrong, and the counts."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--only", nargs="*", help="names of functions")
    parser.add_argument("--pairs", type=int, default=20, help="calls with two bad arguments, per function")
    options = parser.parse_args()
    counts: Counter[bool] = Counter()
    for name in options.only or valid_calls():
        for bad, verdict in outcomes(name, options.pairs):
            counts[bool(verdict)] += 1
            if verdict:
                print(f"{name} {bad}: {verdict}", flush=True)
    print(f"{counts.total():,} calls, {counts[True]:,} with a wrong answer.")
    return 1 if counts[True] else 0


if __name__ == "__main__":
    sys.exit(main())

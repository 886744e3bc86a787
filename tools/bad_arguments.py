"""Bad and extreme arguments for every public function and class: a number in range, or one clear error.

The valid calls are of each function and class of the accounting (tests/accounting/valid_calls.py), of each method of
these classes (valid_methods.py) and of every protocol's calibration (tests/protocols/valid_calibrations.py). In each
call one or two arguments are replaced by values that hypothesis draws: nan, infinities, negative, huge and tiny
numbers, other types, other shapes. A call must return numbers without nan, with delta in [0, 1], or raise Infeasible or
a ValueError of one line that names an argument. Every other outcome is reported in one line. Calls that exceed a time
limit are counted separately.

    python tools/bad_arguments.py                    # all; exits with 1 if an outcome is wrong
    python tools/bad_arguments.py --only clone_rate --examples 500
    python tools/bad_arguments.py --page             # also writes the counts into docs/measured/
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
from functools import cache
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

import numpy as np
from hypothesis import HealthCheck, Phase, given, seed, settings, strategies as st

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests/accounting"))
sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests/protocols"))
from valid_calibrations import valid_calibrations
from valid_calls import SKIPPED as SKIPPED, Calls, valid_calls
from valid_methods import valid_methods

from shuffledp.accounting import Infeasible
from shuffledp.numerics.argument_ranges import format_value
from shuffledp.protocols import ProtocolBase

ROOT = Path(__file__).resolve().parents[1]
PAGE = ROOT / "docs/measured/bad_arguments.md"
#: CPU seconds and memory of a call, and the additional seconds after which its process is ended.
SECONDS, BYTES, GRACE = 2, 4 * 2**30, 20

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
#: Beginning of the line about a call that takes too long.
LONG = "longer than"
#: Words in annotations for several numbers, or for None.
_SEVERAL = ("ArrayLike", "RealArray", "EpsArray", "NDArray", "Sequence", "tuple", "Slots", "Mapping")


@cache  # before processes are forked: building them takes longer than most calls
def every_call() -> Calls:
    """Return valid calls of public functions and classes, of methods, and of protocols' calibrations."""
    return valid_calls() | valid_methods() | valid_calibrations()


def bad_values() -> st.SearchStrategy[Any]:
    """Return a strategy for invalid arguments, and for arguments at or beyond the ends of their ranges."""
    return st.one_of(
        st.sampled_from(NUMBERS),
        st.floats(),
        st.integers(-(2**70), 2**70),
        st.sampled_from(NO_NUMBERS),
        st.sampled_from(ARRAYS),
    )


def replacements(valid: Mapping[str, Any]) -> st.SearchStrategy[dict[str, Any]]:
    """Return a strategy for other values of one or two arguments of a valid call."""
    names = st.lists(st.sampled_from(list(valid)), min_size=1, max_size=min(2, len(valid)), unique=True)
    return names.flatmap(lambda chosen: st.fixed_dictionaries({name: bad_values() for name in chosen}))


def drawn(valid: Mapping[str, Any], examples: int) -> list[dict[str, Any]]:
    """Return `examples` replacements, which are the same at each call."""
    found: list[dict[str, Any]] = []

    @seed(1)
    @settings(
        max_examples=examples,
        database=None,
        deadline=None,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    @given(replacements(valid))
    def collect(bad: dict[str, Any]) -> None:
        found.append(bad)

    collect()
    return found


class Hangs(BaseException):
    """Error of a call that exceeds the time limit; not an Exception, so that the library does not catch it."""


def _numbers(value: Any) -> Iterator[float]:
    """Yield all numbers of a result."""
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
    """Return whether an argument has the annotated type, or a type that does no harm."""
    if value is None:
        return any(word in annotation for word in ("None", "Optional", "Any"))
    if isinstance(value, bool):
        return "bool" in annotation or "Any" in annotation
    if "bool" in annotation:
        return False
    if isinstance(value, (list, dict)):
        return any(word in annotation for word in _SEVERAL)
    if isinstance(value, type):
        return "Callable" in annotation
    if isinstance(value, (str, complex)):
        return "str" in annotation and isinstance(value, str)
    if annotation in ("int", "int | None"):
        return float(value).is_integer() if isinstance(value, float) else True
    return isinstance(value, int) or not math.isnan(value)


def judge(
    call: Callable[..., Any], valid: Mapping[str, Any], bad: Mapping[str, Any], seconds: float = SECONDS
) -> str:
    """Return the error in the outcome of a call with bad arguments, within CPU seconds; empty without an error.

    `valid` has keywords of a valid call, and `bad` the replacements of some of them.
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
    except ValueError as error:
        text = str(error)
        if "\n" in text:
            return f"more than one line: {text[:150]!r}"
        named = any(re.search(rf"\b{name}\b", text) for name in valid)
        return "" if named else f"names no argument: {text[:150]}"
    except Hangs:
        return f"{LONG} {seconds} s"
    except Exception as error:  # any other kind is what is looked for
        return f"{type(error).__name__}: {str(error)[:150]}"
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        signal.signal(signal.SIGVTALRM, kept)


def _judge_result(call: Callable[..., Any], bad: Mapping[str, Any], found: Any) -> str:
    parameters = {**inspect.signature(call).parameters}
    if isinstance(protocol := getattr(call, "__self__", None), type) and issubclass(protocol, ProtocolBase):
        parameters |= protocol.options()
    for name, value in bad.items():
        if not _fits(str(parameters[name].annotation), value):
            return f"accepts {name} = {format_value(value)} and returns {str(found)[:60]}"
    numbers = list(_numbers(found))
    if any(math.isnan(x) for x in numbers):
        return f"returns nan: {str(found)[:100]}"
    name = getattr(call, "__name__", "")
    if isinstance(found, tuple):  # a design and a number
        found = found[0]
    if name.endswith("delta") and not all(0 <= x <= 1 for x in numbers) and not name.startswith("log_"):
        return f"returns a delta outside of [0, 1]: {str(found)[:100]}"
    if (
        not dataclasses.is_dataclass(found)
        and any(x < 0 for x in numbers)
        and not name.startswith(("log_", "atom_", "used_"))
    ):
        return f"returns a negative number: {str(found)[:100]}"
    return ""


def _said(bad: Mapping[str, Any]) -> str:
    return ", ".join(f"{name}={format_value(value)}" for name, value in bad.items())


def _child(pipe: Connection, name: str, examples: int, start: int) -> None:
    resource.setrlimit(resource.RLIMIT_AS, (BYTES, BYTES))
    call, valid = every_call()[name]
    for index, bad in enumerate(drawn(valid, examples)):
        if index >= start:
            pipe.send((index, _said(bad), None))
            pipe.send((index, _said(bad), judge(call, valid, bad)))
    pipe.close()


def outcomes(name: str, examples: int) -> Iterator[tuple[str, str]]:
    """Yield bad arguments for one function, with the errors of their outcomes; a dead child process is replaced."""
    fork, start, running = multiprocessing.get_context("fork"), 0, True
    while running:
        here, there = fork.Pipe(duplex=False)
        child = fork.Process(target=_child, args=(there, name, examples, start))
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


def report(counts: Mapping[str, int], functions: int) -> str:
    """Return the counts as text for the page."""
    return (
        f"The run made {sum(counts.values()):,} calls of {functions} public functions, classes, methods and "
        f"calibrations of protocols. Of these calls, {counts['wrong']:,} gave a wrong answer or an unclear error. "
        f"{counts['slow']:,} exceeded the time limit of {SECONDS} CPU seconds."
    )


def main() -> int:
    """Test all calls, and print the errors and the counts."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--only", nargs="*", help="names of functions")
    parser.add_argument("--examples", type=int, default=20, help="calls per function")
    parser.add_argument("--page", action="store_true", help="write the counts into docs/measured/")
    options = parser.parse_args()
    if options.page and options.only:
        parser.error("--page is about all functions: leave out --only")
    names = options.only or list(every_call())
    counts: Counter[str] = Counter()
    for name in names:
        for bad, verdict in outcomes(name, options.examples):
            kind = "slow" if verdict.startswith(LONG) else "wrong" if verdict else "right"
            counts[kind] += 1
            if verdict:
                print(f"{name} {bad}: {verdict}", flush=True)
    text = report(counts, len(names))
    print(text)
    if options.page:
        PAGE.write_text(text + "\n", encoding="utf-8")
    return 1 if counts["wrong"] else 0


if __name__ == "__main__":
    sys.exit(main())

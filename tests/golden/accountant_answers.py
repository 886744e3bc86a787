"""Results of the accountant: every public function and method, at a valid call and with one changed argument."""

import inspect
import sys
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from golden.values import Row, Rows, answer
from shuffledp import accountant, accounting, designs, populations

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "accounting"))
from valid_calls import valid_calls
from valid_methods import SKIPPED_METHODS, methods_of, objects, valid_methods

#: Texts that replace an argument in turn; a function rejects unknown texts.
CHOICES: Mapping[str, tuple[str, ...]] = {
    "accounting": ("printed", "simplified", "corrected", "exact"),
    "atoms": ("halving", "star", "hub", "best"),
    "blanket_law": ("binomial", "poisson"),
    "bound": ("upper", "lower"),
    "calibration": ("variation_ratio", "numeric", "analytic", "classical", "sound", "worst_case"),
    "composition": ("printed", "corrected"),
    "constant": ("theorem", "lemma"),
    "constants": ("corrected", "conference"),
    "convention": ("variance_proxy",),
    "direction": ("both", "add", "remove"),
    "estimator": ("plain", "centred"),
    "form": ("convex", "exact", "any_n", "printed", "balle"),
    "kind": ("upper", "lower", "exact"),
    "method": ("rdp", "pld"),
    "neighbours": ("replace_one", "add_remove"),
    "objective": ("randomized_response", "unary", "error"),
    "order": ("safe", "printed"),
    "randomizer": ("grr", "binary", "laplace", "gaussian", "subset_selection"),
    "reduction": ("clones", "stronger", "blanket"),
    "search": ("printed", "exact"),
    "selection": ("error", "published_code"),
    "side": ("upper", "lower"),
    "truth": ("empirical", "population"),
    "view": ("analyzer", "sums", "shuffler"),
    "weights": ("equal", "optimal"),
}
#: Functions called only once: each further call would take more than some hundredths of a second.
SLOW = {
    "all_counts_delta",
    "allocation_noise",
    "best_modular_design",
    "central_gaussian_epsilon",
    "central_replacement_epsilon",
    "certified_design",
    "checkin_generic_epsilon",
    "correlated_noise_delta",
    "curves",
    "deployed_users",
    "family_design",
    "finished_design",
    "flexible_dummies",
    "flexible_dummies_needed",
    "flexible_dummy_delta",
    "grr_blanket_delta",
    "jump_counters",
    "one_sided_noise",
    "profile_rdp",
    "public_coin_rate",
    "quick_design",
    "rows_delta",
    "search_coarse",
    "search_design",
    "shuffled_batches_delta",
    "shuffled_batches_epsilon",
    "BlanketProfile.to_renyi",
    "BlanketProfile.to_pld",
    "ClonesProfile.to_renyi",
    "ClonesProfile.to_pld",
}
#: Arguments that are not changed: several rounds take seconds.
SLOW_ARGUMENTS = {("amplification", "rounds"), ("budget", "rounds"), ("smallest_batch", "rounds")}
PROFILE_EPS = (0.1, 0.5, 2.0)


def functions() -> Rows:
    """Return the rows of all public functions and classes."""
    rows: Rows = {}
    for name, (call, valid) in valid_calls().items():
        rows |= dict(_calls(name, call, valid))
        if "raises" in rows[name]:
            told = rows[name]["raises"]
            raise ValueError(
                f"{told} Write arguments of {name} into `own` of tests/accounting/valid_calls.py."
            )
        rows[name] = {"signature": _signature(call), **rows[name]}
    return rows


def methods() -> Rows:
    """Return the rows of all public methods."""
    rows: Rows = {}
    for name, (call, valid) in valid_methods().items():
        rows |= dict(_calls(name, partial(_unshared, call), valid))
    for name, one in objects().items():
        for method in methods_of(type(one)):
            if method in SKIPPED_METHODS and method != "to_opendp":
                rows[f"{name}.{method}"] = answer(getattr(one, method))
    return rows


def _unshared(call: Callable[..., Any], **arguments: Any) -> Any:
    """Return a call with new random generators, because other tests draw from the generators in the table of calls."""
    return call(
        **{
            name: np.random.default_rng(1) if isinstance(value, np.random.Generator) else value
            for name, value in arguments.items()
        }
    )


def _signature(call: Callable[..., Any]) -> str:
    """Return names and kinds of the parameters in order; defaults and types may change."""
    marks = {"KEYWORD_ONLY": "=", "VAR_POSITIONAL": "*", "VAR_KEYWORD": "**"}
    parameters = inspect.signature(call).parameters.values()
    return " ".join(p.name + marks.get(p.kind.name, "") for p in parameters)


def _calls(name: str, call: Callable[..., Any], valid: Mapping[str, Any]) -> Iterator[tuple[str, Row]]:
    """Yield a function's results for a valid call, and for calls with one changed argument."""
    yield name, answer(lambda: _with_deltas(call(**valid)))
    if name in SLOW:
        return
    for argument, value in valid.items():
        if (name, argument) in SLOW_ARGUMENTS:
            continue
        for other in _others(argument, value):
            told = f"{other:g}" if isinstance(other, float) else repr(other)
            yield f"{name}({argument}={told})", answer(lambda: call(**{**valid, argument: other}))  # noqa: B023


def _with_deltas(result: Any) -> Any:
    """Add some deltas to the result if it is a privacy profile."""
    if not (hasattr(result, "delta") and callable(result.delta) and hasattr(result, "neighbours")):
        return result
    return {"is": result, "deltas": [float(result.delta(eps)) for eps in PROFILE_EPS]}


def _others(argument: str, value: Any) -> Iterator[Any]:
    """Yield other values of an argument: a larger one, one out of most ranges, and other choices."""
    if isinstance(value, bool):
        yield not value
    elif isinstance(value, int):
        yield from (3 * value, -1)
    elif isinstance(value, float):
        yield from (1.5 * value, -1.0)
    elif isinstance(value, str):
        yield from (one for one in (*CHOICES.get(argument, ()), "no such") if one != value)
    elif isinstance(value, populations.Fixed):
        yield from (populations.Fixed(40), populations.Poisson(500.0))


def shipped() -> Rows:
    """Return what the library ships: constants, deployments and noise designs."""
    rows: Rows = {
        name: answer(lambda: getattr(accounting, name))  # noqa: B023
        for name in accounting.__all__
        if not callable(getattr(accounting, name))
    }
    for shipped_list in (
        accountant.deployments,
        accounting.shipped_designs,
        designs.shipped_coarse_designs,
    ):
        name = shipped_list.__name__
        rows |= {f"{name}[{i}]": answer(lambda: one) for i, one in enumerate(shipped_list())}  # noqa: B023
    return rows

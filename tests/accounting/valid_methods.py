"""A valid call of every public method of the public classes: an object and keywords.

Bad arguments replace valid ones as for functions (`valid_calls.py`). The method's name determines the keywords, unless
a class needs others.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from valid_calls import Calls, valid_calls

from shuffledp import accounting as a
from shuffledp.designs import shipped_coarse_designs

#: Valid arguments by the name of the method.
KEYWORDS: dict[str, dict[str, Any]] = {
    "after": {"others": np.array([3, 4])},
    "clones": {"rate": 0.5, "tail": 1e-12},
    "comparisons": {"side": "upper", "tail": 1e-9},
    "count_at": {"tail": 1e-12},
    "delta": {"eps": 0.5},
    "epsilon": {"delta": 1e-3},
    "expected_sse": {"spread": 0.1, "truth": "empirical"},
    "lower_bound": {"failure": 1e-6},
    "noise_variance": {"n": np.array([1000.0])},
    "own_delta": {"others": 10, "eps": 0.5, "side": "upper", "target": None, "gap": 0.0},
    "quantile": {"level": 0.5},
    "rate": {"eps_local": 1.0},
    "sample": {"rng": np.random.default_rng(1), "size": 3},
    "thinned": {"rate": 0.5},
    "to_pld": {"step": 0.1, "negligible": 1e-6},
    "to_renyi": {"orders": [2.0, 3.0]},
    "window": {"tail": 1e-12},
}
#: Valid arguments for classes whose method needs other arguments.
OF_CLASS: dict[str, dict[str, Any]] = {
    "CoarseDesign.moved": {"rate": 0.1, "center": 0.1},
    "CoarseDesign.with_noise": {"rates": (2.0, 4.0), "centers": (1.0, 1.6)},
    "Empirical.of": {"counts": [10, 11, 11]},
    "NoiseDesign.moved": {"shape": 0.1, "scale": 0.1},
    "SubsetExponential.expected_sse": {"n": 100, "spread": 0.1, "truth": "empirical"},
}
#: Names of public methods without a valid call, with the reasons.
SKIPPED_METHODS = {
    "as_dict": "no arguments",
    "loss_parts": "laws of losses, which compositions read",
    "blanket_sse": "no arguments",
    "lines": "no arguments",
    "reports": "no arguments",
    "error_bound": "no arguments",
    "plot": "no numbers",
    "to_dict": "no arguments",
    "to_frame": "no arguments",
    "to_opendp": "needs a library that is no dependency",
}


def objects() -> dict[str, Any]:
    """Return an object of every public class with methods, by class name."""
    calls = valid_calls()
    found = {name: call(**given) for name, (call, given) in calls.items() if inspect.isclass(call)}
    found["DiscreteGaussianPlan"] = a.multi_expected_plan(**calls["multi_expected_plan"][1])
    found["PolyaPlan"] = a.multi_exact_plan(**calls["multi_exact_plan"][1])
    found["SeparatePlan"] = a.sep_mm_plan(**calls["sep_mm_plan"][1])
    found["ShippedCoarse"] = next(iter(shipped_coarse_designs()))
    return found


def methods_of(kind: type) -> Iterator[str]:
    """Return the names of a class's public methods that this library defines."""
    own = [base for base in kind.__mro__ if base.__module__.startswith("shuffledp")]
    names = dict.fromkeys(name for base in own for name in vars(base) if not name.startswith("_"))
    for name in names:
        if inspect.isroutine(inspect.getattr_static(kind, name)):
            yield name


def valid_methods() -> Calls:
    """Return class and method, the callable, and valid keywords."""
    found: dict[str, tuple[Callable[..., Any], dict[str, Any]]] = {}
    for name, one in objects().items():
        for method in methods_of(type(one)):
            called = f"{name}.{method}"
            if method in SKIPPED_METHODS:
                continue
            if method == "from_dict":
                given = {"content": one.to_dict()}
            elif called == "NoiseDesign.with_noise":
                given = {"shapes": one.shapes, "scales": one.shapes}
            else:
                given = OF_CLASS.get(called) or KEYWORDS[method]
            found[called] = getattr(one, method), dict(given)
    return found

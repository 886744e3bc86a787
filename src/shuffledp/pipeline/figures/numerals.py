"""Numbers as text, the same in axes, titles and names of curves."""

from __future__ import annotations

import math
import re

#: Numbers from the first to below the second are written without a power of ten.
PLAIN = 1e-3, 1e6
_SUPERSCRIPTS = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")
_EXPONENT = re.compile(r"(?<![\w.])\d+(?:\.\d+)?e[+-]?\d+\b")
_LONG_NUMBER = re.compile(r"(?<![\w.,])\d{4,}(?![\w.,]*\d)(?=$|[^\w])")


def number_text(value: float, digits: int = 6, *, plain: bool = True) -> str:
    """Return a number as text, with a power of ten if it is beyond `PLAIN` or if it is not to be plain."""
    if value == 0 or not math.isfinite(value):
        return f"{value:g}"
    rounded = float(f"{value:.{digits}g}")
    if abs(rounded) in (1, 10) or (plain and PLAIN[0] <= abs(rounded) < PLAIN[1]):
        return f"{rounded:,.10g}".replace("-", "−")
    return power(rounded, digits)


def power(value: float, digits: int = 3) -> str:
    """Return a number with a power of ten in Unicode superscripts."""
    mantissa, exponent = f"{value:.{digits - 1}e}".split("e")
    ten = "10" + str(int(exponent)).translate(_SUPERSCRIPTS)
    factor = f"{float(mantissa):g}".replace("-", "−")
    return ten if factor == "1" else f"{factor}×{ten}"


def ratio_text(ratio: float) -> str:
    """Return a ratio such as "1.24×"."""
    return f"{number_text(ratio, 3)}×"


def typeset(text: str) -> str:
    """Return a text of a picture with powers of ten instead of 1e-06, and commas in whole numbers of four digits."""
    powers = _EXPONENT.sub(lambda m: power(float(m[0]), 6), text)
    return _LONG_NUMBER.sub(lambda m: f"{int(m[0]):,}", powers)

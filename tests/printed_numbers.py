"""Numbers as a text gives them."""


def half_digit(text: str) -> tuple[float, float]:
    """The number that a text stands for, and half a unit of its last digit."""
    mantissa, _, exponent = text.partition("e")
    places = len(mantissa.partition(".")[2])
    return float(text), 0.5 * 10.0 ** (int(exponent or 0) - places) * (1 + 1e-9)

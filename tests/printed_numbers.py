"""Numbers in texts."""


def half_digit(text: str) -> tuple[float, float]:
    """Return the number in a text, and half a unit of its last digit."""
    mantissa, _, exponent = text.partition("e")
    places = len(mantissa.partition(".")[2])
    return float(text), 0.5 * 10.0 ** (int(exponent or 0) - places) * (1 + 1e-9)

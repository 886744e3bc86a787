"""Colors as readers with each kind of color vision see them."""

import numpy as np

# Machado, Oliveira and Fernandes (2009), severity 1; and CIE XYZ of linear sRGB.
PROTANOPIA = [
    [0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216], [-0.003882, -0.048116, 1.051998]
]  # fmt: skip
DEUTERANOPIA = [
    [0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413], [-0.011820, 0.042940, 0.968881]
]  # fmt: skip
TRITANOPIA = [
    [1.255528, -0.076749, -0.178779], [-0.078411, 0.930809, 0.147602], [0.004733, 0.691367, 0.303900]
]  # fmt: skip
XYZ = [
    [0.4124564, 0.3575761, 0.1804375],
    [0.2126729, 0.7151522, 0.0721750],
    [0.0193339, 0.1191920, 0.9503041],
]


def linear(color: str) -> np.ndarray:
    """Linear sRGB of a hexadecimal color."""
    screen = np.array([int(color[i : i + 2], 16) for i in (1, 3, 5)]) / 255
    return np.where(screen <= 0.04045, screen / 12.92, ((screen + 0.055) / 1.055) ** 2.4)


def seen(color: str, eyes: list[list[float]]) -> np.ndarray:
    """CIELAB of a color as these eyes see it."""
    x, y, z = np.cbrt(np.array(XYZ) @ np.clip(np.array(eyes) @ linear(color), 0, 1) / [0.95047, 1, 1.08883])
    return np.array([116 * y - 16, 500 * (x - y), 200 * (y - z)])


def distance(one: str, other: str) -> float:
    """Least CIELAB distance of two colors for usual and for color-blind readers; 2.3 is just noticeable."""
    every = (np.eye(3).tolist(), PROTANOPIA, DEUTERANOPIA)
    return min(float(np.linalg.norm(seen(one, eyes) - seen(other, eyes))) for eyes in every)


def contrast(color: str) -> float:
    """Contrast of a color on white, as in the Web Content Accessibility Guidelines."""
    return 1.05 / (float(linear(color) @ XYZ[1]) + 0.05)

"""Tests of this folder share their calibrations."""

from shared_calibrations import shared_calibrations

__all__ = ["shared_calibrations"]

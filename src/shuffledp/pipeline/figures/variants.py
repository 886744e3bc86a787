"""Files of a figure that has one file per accounting: each file, and the two accountings drawn together."""

from __future__ import annotations

BOTH = "both"
"""The file that shows printed and exact numbers; its caption's questions are about the exact ones by default."""
PAIR = ("printed", "exact")
"""The accountings of that file."""

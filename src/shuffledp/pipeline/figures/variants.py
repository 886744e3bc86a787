"""The files of a figure with a file per accounting: each by itself, and the two that are also drawn together."""

from __future__ import annotations

BOTH = "both"
"""The file that shows printed and exact numbers; its caption's questions are about the exact ones by default."""
PAIR = ("printed", "exact")
"""The accountings of that file."""

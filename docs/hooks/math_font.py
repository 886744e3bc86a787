"""Font for formulas, for readers whose machine has none.

A browser reads the positions of subscripts, superscripts and limits from the font. DejaVu Serif, a part of Matplotlib,
has the large brackets and sums of formulas, but 0 for all these positions. This module sets positions as in fonts for
formulas, and removes letters that no formula needs. The license requires another name for the changed font.
"""

from __future__ import annotations

import io
from pathlib import Path

import matplotlib
from fontTools import subset
from fontTools.ttLib import TTFont

NAME = "Formulas"
SOURCE = Path(matplotlib.get_data_path()) / "fonts/ttf/DejaVuSerif.ttf"
#: Latin and Greek letters, punctuation, arrows, operators, brackets, and letters for formulas.
BLOCKS = [
    (0x20, 0x17F),
    (0x2B0, 0x3FF),
    (0x2000, 0x206F),
    (0x2190, 0x23FF),
    (0x27C0, 0x2AFF),
    (0x1D400, 0x1D7FF),
]

#: Places in parts of the em.
PLACES = {
    "SubscriptShiftDown": 0.22,
    "SubscriptTopMax": 0.40,
    "SubscriptBaselineDropMin": 0.08,
    "SuperscriptShiftUp": 0.36,
    "SuperscriptShiftUpCramped": 0.29,
    "SuperscriptBottomMin": 0.12,
    "SuperscriptBaselineDropMax": 0.25,
    "SuperscriptBottomMaxWithSubscript": 0.40,
    "UpperLimitGapMin": 0.11,
    "UpperLimitBaselineRiseMin": 0.20,
    "LowerLimitGapMin": 0.17,
    "LowerLimitBaselineDropMin": 0.60,
    "FractionNumeratorShiftUp": 0.39,
    "FractionNumeratorDisplayStyleShiftUp": 0.68,
    "FractionDenominatorShiftDown": 0.35,
    "FractionDenominatorDisplayStyleShiftDown": 0.69,
    "StackTopShiftUp": 0.44,
    "StackTopDisplayStyleShiftUp": 0.68,
    "StackBottomShiftDown": 0.35,
    "StackBottomDisplayStyleShiftDown": 0.69,
}


def math_font() -> bytes:
    """Return the font, as a TrueType file."""
    font = TTFont(SOURCE, recalcTimestamp=False)
    constants = font["MATH"].table.MathConstants
    for place, value in PLACES.items():
        getattr(constants, place).Value = round(value * font["head"].unitsPerEm)
    # FFTM holds the times at which the font was edited.
    options = subset.Options(
        drop_tables=["FFTM"], layout_features=[], hinting=False, name_IDs=[0, 1, 2, 4, 6, 13, 14]
    )
    subsetter = subset.Subsetter(options)
    subsetter.populate(
        unicodes=[code for first, last in BLOCKS for code in range(first, last + 1)]
    )
    subsetter.subset(font)
    for record in font["name"].names:
        if record.nameID in (1, 4, 6):
            record.string = NAME
    sink = io.BytesIO()
    font.save(sink)
    return sink.getvalue()

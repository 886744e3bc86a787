"""Claims in doubt that several modules state: each with its open statement or its witness."""

from collections.abc import Mapping
from types import MappingProxyType

from shuffledp.guarantees import UPPER, Standing

#: What stands behind the simplified form.
SIMPLIFIED = Standing(
    "unproven",
    "the simplified form is used from 3 log(4/delta) expected clones on, and follows from its theorem from 14 on "
    "(RP-E4)",
)

#: What stands behind random check-in where the coin of user 1 counts as protection.
OWN_COIN = Standing(
    "unproven",
    "user 1's own coin counts as protection, though the number of filled slots may show who takes part",
)

#: What stands behind the pair of counts with binomial blanket messages where not all items are sent.
NUMBER_OF_MESSAGES = Standing(
    "violated",
    "the number of messages shows whether the victim reported (SEG-6.1): for 5 users, 3 items, 1 per user, m 2, eps "
    "0.45 and delta 0.001 the true delta is 24 times as large, and 9.8 times where the others' reports are not known",
)

#: What stands behind the theorem as stated where the victim has a residual component.
FORGOTTEN_RESIDUAL = Standing(
    "violated",
    "the others' residuals may look different from the victim's (SEG-6.2): for 4 users who report one of 5 items, eps "
    "3 and delta 0.001 the true delta is 58 times as large",
)

#: What each calibration guarantees.
RAPPOR_STANDINGS: Mapping[str, Standing] = MappingProxyType(
    {
        "sound": UPPER,
        "proven": UPPER,
        "worst_case": Standing(
            "violated",
            "the other users are assumed to hold one of the two values, and other data sets are worse (OQ-5, OQ-6): "
            "for 5 users, eps 1 and delta 0.01 the true delta is 1.24 times as large if 3 of the others hold one of "
            "the two and 1 a third value; for 3,000 users, eps 8 and delta 0.3 it is 1.32 times as large if all hold "
            "a third",
        ),
        "optimistic": Standing(
            "violated",
            "the other users are assumed to hold a third value (SUM-N4): with one of the two delta is larger",
        ),
    }
)

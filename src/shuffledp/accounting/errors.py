"""Errors of the accounting."""


class Infeasible(ValueError):  # noqa: N818  # a public name
    """Error for arguments for which no parameters exist or no bound is known.

    Parameters
    ----------
    reason : str
        One sentence for the results table.
    """

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason

"""Commands compare in the process of the tests, which has the numbers of the tests before."""

from one_process import here, in_a_worker

__all__ = ["here", "in_a_worker"]

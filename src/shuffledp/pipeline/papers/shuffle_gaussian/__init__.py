"""Liew and Takahashi 2022 (arXiv 2206.09569): the shuffle Gaussian mechanism."""

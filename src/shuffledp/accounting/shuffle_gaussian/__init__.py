"""Liew and Takahashi 2022: Renyi accounting of shuffled Gaussian reports."""

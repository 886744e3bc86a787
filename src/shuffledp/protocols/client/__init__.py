"""Clients, shufflers and analyzers of deployments, as files of Python that need the standard library alone.

`files`, `randomizers`, `shuffling` and `analyzing` are the source of these files: `export` copies what a protocol needs
of them, and of `shuffledp.sampling`. They import nothing else.
"""

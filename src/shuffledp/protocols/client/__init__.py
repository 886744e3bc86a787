"""Clients, shufflers and analyzers of deployments, as Python files that need only the standard library.

`files`, `randomizers`, `shuffling` and `analyzing` are the source of these files. `export` copies the definitions that
a protocol needs from them and from `shuffledp.sampling`, and they import nothing else.
"""

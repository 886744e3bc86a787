"""The statements of the papers, and functions that test them.

A claim is declared at the function that decides it, in a module of its paper. One YAML file per paper has the errata.
Each erratum quotes the paper and names a function that computes two numbers, by the printed form and the correct one. A
machine-checked condition on the two numbers demonstrates the erratum.

Inferences, reconstructions and values read off a figure are reading notes, in a separate list. Tables of formulas in a
paper are checked as a whole (``TABLES`` in `computed_tables.py` of its folder).
"""

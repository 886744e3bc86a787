"""The statements of the papers, and functions that test them.

A claim is declared at the function that decides it, in a module of its paper. Errata are kept in one YAML file per
paper. Each quotes the paper and names a function that computes, from the accounting functions, the number of the
printed form and the correct number. The condition under which the two demonstrate the erratum is evaluated by machine.
Inferences, reconstructions and values read off a figure are reading notes, kept in a list of their own. Tables of a
paper that hold formulas are checked as a whole (:data:`shuffledp.pipeline.claims.claim_tables.TABLES`).
"""

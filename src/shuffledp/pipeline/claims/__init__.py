"""What the papers state, and functions that test it.

A claim is declared at the function that decides it, in a module of its paper. Errata are kept in one YAML file per
paper, each with the words of the paper that it is about and the name of a function that computes, from the accounting
functions, the number that the printed form gives and the number that is right; the condition under which the two
demonstrate the erratum is evaluated by machine. What was inferred, reconstructed or read off a figure is a reading
note, kept in a list of its own. Tables of a paper that hold formulas are checked as a whole
(:data:`shuffledp.pipeline.claims.claim_tables.TABLES`).
"""

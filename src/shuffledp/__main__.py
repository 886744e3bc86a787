"""Run the ``shuffledp`` command as ``python -m shuffledp``."""

from shuffledp.cli import main

main(prog_name="shuffledp")

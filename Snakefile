"""shuffledp: `snakemake --cores all` regenerates every figure and table in results/."""

from importlib.util import find_spec

# Catalogs read the workflow with Snakemake alone.
if all(map(find_spec, ("shuffledp", "filelock"))):

    include: "workflow/Snakefile"

else:

    include: "workflow/rules/library_missing.smk"


# Snakemake takes no default target from an included file.
workflow.default_target = "all"

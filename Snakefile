"""shuffledp: `snakemake --cores all` regenerates every figure and table in results/."""


include: "workflow/Snakefile"


# Snakemake takes no default target from an included file.
workflow.default_target = "all"
